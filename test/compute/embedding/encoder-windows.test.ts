import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanOfWindows, windowsOf, withoutShouting } from '../../../src/compute/embedding/encoder-windows.ts';
import { pluck } from '../../rows.ts';

const idsOf = (count: number) => Array.from({ length: count }, (_, at) => 10 + at);

for (const [count, most, lengths] of [
  [0, 4, [4]],
  [1, 4, [5]],
  [124, 4, [128]],
  [125, 4, [67, 66]],
  [300, 64, [104, 104, 104]],
  [10_000, 4, [128, 128, 128, 128]],
] as const) {
  test(`${count} ids are read in ${lengths.length} windows of nearly the same length`, () => {
    const windows = windowsOf(idsOf(count), [7, 8], most);
    assert.deepEqual(pluck(windows, 'length'), lengths);
    for (const window of windows) {
      assert.deepEqual([...window.slice(0, 3), window.at(-1)], [0, 7, 8, 2]);
    }
    const read = windows.flatMap((window) => window.slice(3, -1));
    assert.deepEqual(read, idsOf(Math.min(count, 124 * most)));
  });
}

test('a text mostly in capitals is read in lower case', () => {
  for (const [text, read] of [
    ['THE BANK RAISED RATES', 'the bank raised rates'],
    ['NATO and the EU met', 'NATO and the EU met'],
    ['ÄRGER IN KÖLN', 'ärger in köln'],
    ['İZMİR VE İSTANBUL', 'izmir ve istanbul'],
    ['123 !?', '123 !?'],
  ])
    assert.equal(withoutShouting(text), read);
});

test('the mean of windows has length one, and numbers that are none are an error', () => {
  const mean = meanOfWindows([Float32Array.of(1, 0), Float32Array.of(0, 1)]);
  assert.ok(Math.abs(mean[0] - Math.SQRT1_2) < 1e-6 && Math.abs(mean[1] - Math.SQRT1_2) < 1e-6);
  for (const bad of [
    [Float32Array.of(Number.NaN, 1)],
    [Float32Array.of(Number.POSITIVE_INFINITY, 1)],
    [Float32Array.of(1, 0), Float32Array.of(-1, 0)],
  ])
    assert.throws(() => meanOfWindows(bad), RangeError);
});
