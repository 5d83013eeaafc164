import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldAccents } from '../../../src/compute/text/fold-accents.ts';

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
