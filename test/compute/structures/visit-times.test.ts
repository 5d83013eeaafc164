import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  areVisitsSound,
  isKnownVisit,
  isVisitedWithin,
  maxBytes,
  type VisitTimes,
  visitTimes,
  withVisit,
} from '../../../src/compute/structures/visit-times.ts';
import { dayMs, hourMs } from '../../../src/domain/durations.ts';

function visitedAt(times: readonly number[]): VisitTimes {
  const [first] = times;
  return times.reduce<VisitTimes>(withVisit, { first_seen_at: first, last_seen_at: first });
}

const instant = fc.oneof(
  fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }),
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 400 }).map((day) => day * dayMs),
);

test('visits in any order are read back once each, and each interval knows whether it has one', () => {
  fc.assert(
    fc.property(fc.array(instant, { minLength: 1, maxLength: 40 }), fc.array(instant), (times, bounds) => {
      const page = visitedAt(times);
      const expected = [...new Set(times)].sort((a, b) => b - a);
      assert.deepEqual(visitTimes(page), expected);
      assert.deepEqual([page.first_seen_at, page.last_seen_at], [expected.at(-1), expected[0]]);
      assert.equal(page.visits !== undefined, expected.length > 2);
      assert.ok(areVisitsSound(page));
      for (const after of [null, ...bounds, ...times]) {
        for (const before of [null, ...bounds, ...times]) {
          const isWithin = times.some((at) => at >= (after ?? at) && at < (before ?? Number.POSITIVE_INFINITY));
          assert.equal(isVisitedWithin(page, after, before), isWithin);
        }
      }
    }),
  );
});

test('however many visits there are, they take bounded room; hours or days keep one, and the ends stay', () => {
  for (const [count, gap, kept] of [
    [7000, 20 * 60_000, 20 * 60_000],
    [20_000, 7 * 60_000, hourMs],
    [50_000, 20 * 60_000, dayMs],
  ]) {
    for (const isNewestFirst of [false, true]) {
      const times = Array.from({ length: count }, (_, at) => 1_700_000_000_123 + at * gap);
      const page = visitedAt(isNewestFirst ? times.toReversed() : times);
      assert.ok((page.visits?.length ?? 0) <= maxBytes);
      assert.ok(areVisitsSound(page));
      assert.deepEqual([page.first_seen_at, page.last_seen_at], [times[0], times[count - 1]]);
      const some = times.filter((_, at) => at % 97 === 0);
      assert.deepEqual(
        some.filter((at) => !isKnownVisit(page, at)),
        [],
        'a repeated import counts none again',
      );
      assert.ok(!isKnownVisit(page, times[0] - 1) && !isKnownVisit(page, times[count - 1] + 1));
      const periodsOf = (all: readonly number[]) => new Set(all.map((at) => Math.floor(at / kept)));
      assert.deepEqual(periodsOf(visitTimes(page).reverse()), periodsOf(times), `${count} visits`);
    }
  }
});

test('visits that were thinned to days stay known when closer ones follow', () => {
  const sparse = Array.from({ length: 13_000 }, (_, at) => 1_500_000_000_000 + at * 65 * 60_000);
  const dense = Array.from({ length: 40_000 }, (_, at) => 1_700_000_000_000 + at * 5000);
  const page = visitedAt([...sparse, ...dense]);
  assert.ok(sparse.every((at) => isKnownVisit(page, at)));
});

test('bytes that end too early, go on or do not lead to the first visit are unsound', () => {
  const sound = visitedAt([1000, 90_000_000, 5000]);
  const visits = sound.visits ?? assert.fail('three times');
  assert.ok(areVisitsSound(sound));
  const others = [
    visits.subarray(1),
    visits.subarray(0, -1),
    Uint8Array.of(...visits, 0),
    Uint8Array.of(255),
    Uint8Array.of(),
  ];
  for (const other of others) assert.ok(!areVisitsSound({ ...sound, visits: other }), String(other));
});
