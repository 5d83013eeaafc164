import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fitDiscriminant } from '../../../src/compute/entities/linear-discriminant.ts';

it('tells classes apart by their means, with shares that sum to 1', () => {
  const around = (x: number, y: number) =>
    [-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => Float64Array.of(x + dx / 4, y + dy / 4)));
  const classify = fitDiscriminant([around(0, 0), around(4, 0), around(0, 4)], 2);
  for (const [vector, expected] of [
    [[0.3, 0.2], 0],
    [[3.5, 0.4], 1],
    [[0.2, 5], 2],
  ] as const) {
    const shares = classify(Float64Array.from(vector));
    assert.equal(shares.indexOf(Math.max(...shares)), expected);
    assert.ok(Math.abs(shares.reduce((a, b) => a + b, 0) - 1) < 1e-9);
  }
  const [first, second, third] = classify(Float64Array.of(2, 2));
  assert.ok(Math.abs(second - third) < 1e-9 && first < 0.6);
});
