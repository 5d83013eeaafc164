import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createTextReader, type TextReader } from '../../../src/compute/entities/read-tokens.ts';

describe('the reader of tokens', () => {
  let read: TextReader;
  before(() => {
    read = createTextReader();
  });
  const wordsOf = (text: string) => read(text).tokens.flatMap((token) => (token.isWord ? [token.text] : []));

  it('joins nothing across the end of a line where one piece ends and the next begins', () => {
    const filler = 'so '.repeat(6_660);
    const tail = ` became${' more'.repeat(20)}.`;
    for (const [line, next, joined] of [
      ['Since 1984', 'London', '1984\nLondon'],
      ['Since London', '-based', 'London\n-based'],
      ['Since pre-', 'London', 'pre-\nLondon'],
    ]) {
      const text = `${filler}\n${line}\n${next}${tail}`;
      const { tokens } = read(text);
      const word = next.replace('-', '');
      const found = tokens.find(({ start }) => start === text.indexOf(word, filler.length + line.length));
      assert.ok(!tokens.some((token) => token.text === joined), joined);
      assert.deepEqual(
        [found?.text, found?.isCapitalized, found?.isFirst],
        [word, word === 'London', true],
        JSON.stringify(joined),
      );
    }
  });

  it('joins what hangs together in a line by a number or a hyphen', () => {
    assert.deepEqual(wordsOf('A 72W lamp, a London-based firm.'), ['A', '72W', 'lamp', 'a', 'London-based', 'firm']);
  });

  it('takes names with a slash between them for words, unless a suffix of domains is before it', () => {
    assert.deepEqual(wordsOf('It runs on Node.js/Deno there.'), ['It', 'runs', 'on', 'Node', 'js', 'Deno', 'there']);
    assert.deepEqual(wordsOf('Over TCP.ip/UDP now.'), ['Over', 'TCP', 'ip', 'UDP', 'now']);
    for (const address of [
      'pic.example.com/QxLvmoKs',
      '(Www.Example.co.uk/Paris)',
      'EXAMPLE.ORG/Paris',
      'пример.рф/Paris',
      'docs/example.com/Node.js/Deno',
      'https://localhost/Node.js/Deno',
      'Paris.Hilton@Example.org',
    ]) {
      assert.deepEqual(wordsOf(`See ${address} now`), ['See', 'now'], address);
    }
  });
});
