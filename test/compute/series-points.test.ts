import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SeriesPoints } from '../../src/compute/series-points.ts';

function pointsOf(stepMs: number, isGauge: boolean, values: readonly [ts: number, value: number][]) {
  const series = new SeriesPoints(stepMs, isGauge);
  for (const [ts, value] of values) series.add(ts, value);
  return series.points;
}

test('a step has the mean of a gauge and the last value of a counter, at its beginning', () => {
  const values: [number, number][] = [
    [1000, 1],
    [1400, 3],
    [1999, Number.NaN],
    [2000, 8],
  ];
  assert.deepEqual(pointsOf(1000, true, values), [
    { ts: 1000, value: 2 },
    { ts: 2000, value: 8 },
  ]);
  assert.deepEqual(pointsOf(1000, false, values)[0], { ts: 1000, value: 3 });
});

test('points of any step above 0 are at instants', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  fc.assert(
    fc.property(fc.double({ min: 0, minExcluded: true, noNaN: true }), (stepMs) => {
      const [point, ...others] = pointsOf(stepMs, true, [[now, 1]]);
      assert.deepEqual(others, []);
      assert.ok(point.ts >= 0 && point.ts <= now, `${point.ts}`);
    }),
  );
  assert.deepEqual(pointsOf(Number.POSITIVE_INFINITY, true, [[now, 1]]), [{ ts: 0, value: 1 }]);
});
