import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldAccents, ideographTerm, isIdeograph, wordBorders } from '../../../src/compute/text/scripts.ts';

test('an ideograph by itself is a term of its own, as a query of it has it', () => {
  const terms: Record<string, string> = { 猫: '猫', 本: '本', 麺: '麺', 々: '々', 𠮷: '𠮷', '\u2f4a': '木' };
  for (const [word, term] of Object.entries(terms))
    assert.deepEqual([isIdeograph(word), ideographTerm(word)], [true, term]);
  const variant = '葛\u{e0100}';
  assert.deepEqual([isIdeograph(variant), ideographTerm(variant)], [true, variant]);
});

test('nothing else is: letters, kana, Hangul, Thai, digits, pairs, nothing at all', () => {
  for (const word of ['a', 'é', 'の', 'ネ', 'ー', '물', 'ก', '2', '猫が', '東京', '。', '']) {
    assert.deepEqual([isIdeograph(word), ideographTerm(word)], [false, ''], word);
  }
});

test('a dictionary tells where words begin in a run of characters', () => {
  assert.deepEqual([...wordBorders([...'東京の人口'])], [2, 3]);
  assert.deepEqual([...wordBorders([...'서울의'])], []);
  assert.deepEqual([...wordBorders(['猫'])], []);
});

test('letters are folded to the spelling used without them', () => {
  const folded = {
    crème: 'creme',
    größe: 'grosse',
    œuvre: 'oeuvre',
    þing: 'thing',
    ﬁn: 'fin',
    '①': '1',
    ﾃｽﾄ: 'テスト',
  };
  for (const [word, expected] of Object.entries(folded)) assert.equal(foldAccents(word), expected);
});

test('vowel signs of Indic scripts stay', () => {
  assert.equal(foldAccents('हिन्दी'), 'हिन्दी');
});

test('folding twice changes nothing more', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const once = foldAccents(text.toLowerCase());
      assert.equal(foldAccents(once), once);
    }),
  );
});
