import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../../src/compute/text/rule-tokenizer.ts';
import { createQueryAnalyzer } from '../../src/engine/analyze-query.ts';
import { noWords } from '../../src/engine/words/spelling.ts';
import { fixtureVectors } from '../compute/embedding/word-vectors-fixture.ts';

const analyze = createQueryAnalyzer(createTextAnalyzer(createRuleTokenizer), fixtureVectors());
const dim = 64;

test('a query of single ideographs has no vector of hashed stems; one of pairs, or with other words, has', () => {
  for (const query of ['猫', '猫 犬', '麺。']) {
    const { forms, vector, wordPart, knownWords } = analyze({ query, dim, prefix: false }, noWords);
    assert.ok(forms.length > 0, query);
    assert.deepEqual([vector, wordPart, knownWords], [null, null, 0], query);
  }
  for (const query of ['猫が', '東京', '猫 qwxz', 'の', '물'])
    assert.ok(analyze({ query, dim, prefix: false }, noWords).vector !== null, query);
});

test('stop words of other languages weigh little, are no words of the query, and are not searched for alone', () => {
  const library = { ...noWords, languages: ['pt'], spoken: ['pt'] };
  const sharesOf = (isKnown: (stem: string) => boolean) =>
    analyze({ query: 'a sinfonia', dim, prefix: false }, { ...library, isKnown }).forms.map(
      ({ stem, of, share = 1 }) => [stem, of, share],
    );
  const word = [
    ['sinfon', 0, 1],
    ['sinfonia', 0, 1],
  ];
  assert.deepEqual(
    sharesOf(() => true),
    [...word, ['a', -1, 0.2]],
  );
  assert.deepEqual(
    sharesOf((stem) => stem === 'a'),
    word,
  );
});

test('a pair of characters of two words weighs half', () => {
  const { forms } = analyze(
    { query: '東京の人口', dim, prefix: false },
    { ...noWords, languages: ['ja'], spoken: ['ja'] },
  );
  assert.deepEqual(
    forms.map(({ stem, share = 1 }) => [stem, share]),
    [
      ['東京', 1],
      ['京の', 0.5],
      ['の人', 0.5],
      ['人口', 1],
    ],
  );
});

test('an unknown word that is repeated is looked for once', () => {
  const asked: string[] = [];
  const nearest = ([word]: readonly string[]) => {
    asked.push(word);
    return [];
  };
  analyze({ query: 'zzqx '.repeat(50), dim, prefix: false }, { ...noWords, isKnown: () => false, nearest });
  assert.deepEqual(asked, ['zzqx']);
});
