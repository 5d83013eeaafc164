import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plainTokenEnds } from '../../../src/compute/text/analyze-text.ts';
import { tokenizerView } from '../../../src/compute/text/tokenizer-view.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';

const word = fc.oneof(
  fc.constantFrom(...'word Word WORD cannot dont Ive went therell etc Mr US café Łódź'.split(' ')),
  fc.constantFrom('Привет', 'हिन्दी', 'x', 'A', 'covid', '19', '2024', '5', "don't", 'e-mail', 'XD', 'D', 'kg', '3rd'),
  fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCXYZ'), minLength: 1, maxLength: 9 }),
  fc.nat({ max: 99_999 }).map(String),
);
const marks = [',', ';', ':', ')', ']', '”', '"', '(', '“', '[', '.', '?', '-', '’', "'"];
const mark = fc.oneof({ weight: 2, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constantFrom(...marks) });

test('the tokens of a stretch that is taken for plain are those that wink finds in it', () => {
  const tokenize = createWinkTokenizer();
  let plain = 0;
  fc.assert(
    fc.property(mark, word, mark, (before, middle, after) => {
      const stretch = `${before}${middle}${after}`;
      const ends = plainTokenEnds(stretch);
      if (ends === null) return;
      plain++;
      assert.deepEqual(ends, tokenize([tokenizerView(stretch).view]).ends, stretch);
    }),
    { numRuns: 4000 },
  );
  assert.ok(plain > 1000);
});
