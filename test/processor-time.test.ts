import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertGrowsInProportion } from './processor-time.ts';

function pairsAlike(numbers: readonly number[], compared: (at: number) => number): number {
  let alike = 0;
  for (let at = 0; at < numbers.length; at++) {
    for (let other = at + 1; other < compared(at); other++) if (numbers[at] === numbers[other]) alike++;
  }
  return alike;
}

const size = 16_000;
const numbersOf = (count: number) => Array.from({ length: count }, (_, no) => no);

test('what goes by the square of its input is told from what goes by its length', () => {
  assertGrowsInProportion(size, numbersOf, (numbers) =>
    pairsAlike(numbers, (at) => Math.min(at + 500, numbers.length)),
  );
  assert.throws(
    () =>
      assertGrowsInProportion(size, numbersOf, (numbers) => pairsAlike(numbers, () => numbers.length), 'all pairs', 2),
    /for 8 times what takes .* ms: all pairs$/,
  );
});
