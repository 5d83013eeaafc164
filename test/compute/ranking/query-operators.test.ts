import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readOperators } from '../../../src/compute/ranking/query-operators.ts';

const plain = { phrases: [], must: [], mustNot: [], after: null, before: null, written: [] };
const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

test('each operator says what pages must hold, with and without a space, in any order', () => {
  assert.deepEqual(readOperators('grey heron'), { ...plain, text: 'grey heron' });
  assert.deepEqual(readOperators('site:example.com heron "stands still" -boat -"by the river" lang:de'), {
    ...plain,
    text: 'heron stands still',
    phrases: ['stands still'],
    must: [
      { in: 'site', text: 'example.com' },
      { in: 'phrase', text: 'stands still' },
      { in: 'language', text: 'de' },
    ],
    mustNot: [
      { in: 'word', text: 'boat' },
      { in: 'phrase', text: 'by the river' },
    ],
    written: ['site:example.com', '"stands still"', '-boat', '-"by the river"', 'lang:de'],
  });
  assert.deepEqual(
    readOperators('heron title: "wading birds" AUTHOR:Lima -site: www.a.example -title:boat -lang:fr-CA'),
    {
      ...plain,
      text: 'heron wading birds Lima',
      must: [
        { in: 'title', text: 'wading birds' },
        { in: 'author', text: 'Lima' },
      ],
      mustNot: [
        { in: 'site', text: 'a.example' },
        { in: 'title', text: 'boat' },
        { in: 'language', text: 'fr' },
      ],
      written: ['title: "wading birds"', 'AUTHOR:Lima', '-site: www.a.example', '-title:boat', '-lang:fr-CA'],
    },
  );
  assert.deepEqual(readOperators('after:2024 before: 2024-06-30 heron'), {
    ...plain,
    text: 'heron',
    after: day('2024-01-01'),
    before: day('2024-06-30'),
    written: ['after:2024', 'before: 2024-06-30'],
  });
  assert.deepEqual(readOperators('after:2024-02 x').after, day('2024-02-01'));
  assert.deepEqual(readOperators('before:2024-02-03T04:05:00Z x').before, Date.parse('2024-02-03T04:05:00Z'));
  assert.deepEqual(readOperators('before:2024-02-03T04:05 x').before, Date.parse('2024-02-03T04:05:00Z'));
  assert.equal(readOperators('before:2024-02-03T04:05+02:00 x').before, Date.parse('2024-02-03T02:05:00Z'));
  const many = readOperators(Array.from({ length: 18 }, (_, no) => `-w${no}`).join(' '));
  assert.deepEqual([many.mustNot.length, many.text], [16, '-w16 -w17']);
});

test('the name of a site is not searched for', () => {
  const site = { in: 'site', text: 'example.com' };
  const written = ['site:https://www.example.com/a?b'];
  assert.deepEqual(readOperators(written[0]), { ...plain, text: '', must: [site], written });
});

test('what is no operator is text', () => {
  for (const text of [
    'well-known',
    'a - b',
    '-',
    '--',
    'site:',
    'site:%%',
    'lang:xx',
    'lang:',
    'before:tomorrow',
    'after:2024-13',
    'after:2023-02-29',
    'after:0099',
    '-before:2024',
    'mysite:example.com',
    'http://example.com/a',
    'C++',
    'note: this',
    '""',
    '"',
    'an "open quote',
    'title:""',
    '-""',
    '12" pipe',
    'mount --all',
    '--all',
    '--"a phrase"',
    '---all',
    'a -.net',
    '-#tag',
    'a –all',
    'x-y -- z',
    'a=-1',
    '--site:example.com',
    '-"open',
  ])
    assert.deepEqual(readOperators(text), { ...plain, text }, text);
});

test('any query is read: nothing of its words is lost, and no time is needed beyond its length', () => {
  const pieces = fc.constantFrom(
    ...[
      '"',
      '-',
      ':',
      'site',
      'title:',
      'lang:',
      'before:',
      ' ',
      '  ',
      'heron',
      '2024',
      'de',
      '“',
      '”',
      'a.example',
      '\n',
      '😀',
    ],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const { text, must, mustNot } = readOperators(parts.join(''));
      const said = [text, ...must.map((each) => each.text), ...mustNot.map((each) => each.text)].join(' ');
      assert.equal(said.includes('heron'), parts.join('').includes('heron'));
    }),
    { numRuns: 2000 },
  );
  for (const piece of ['"a', 'site:', '-', '" ', 'title: ', 'a"', '“'])
    readOperators(piece.repeat(4000 / piece.length));
});
