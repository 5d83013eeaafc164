/** Snapshots of the metrics over days, under a clock that the test moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepAllMs, keepSnapshot, thinSnapshots } from '../../src/actors/system/metrics.ts';
import { TemporaryStore } from '../store/temporary-store.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** An hour's beginning. */
const start = Date.UTC(2026, 0, 1);

/** A store with a snapshot every `everyMs` for so long, thinned out at its end, slice by slice. */
async function kept(options: { forMs: number; everyMs: number; keepMs: number }): Promise<number[]> {
  await using temporary = await TemporaryStore.open();
  const now = start + options.forMs;
  await temporary.commit((transaction) => {
    for (let ts = start; ts < now; ts += options.everyMs) {
      keepSnapshot({ ts, pairs: new Float64Array([1, ts]) }, [])(transaction);
    }
  });
  let from: number | null = 0;
  for (let slices = 0; from !== null; slices++) {
    assert.ok(slices < 100, 'the slices come to an end');
    from = await temporary.commit(thinSnapshots(from, now, options.keepMs));
  }
  return temporary.commit(({ metrics }) => metrics.times(0, now, 1e6));
}

test('a day is kept whole, before it the first snapshot of each hour, and nothing beyond the limit', async () => {
  const times = await kept({ forMs: 5 * day, everyMs: 10 * minute, keepMs: 3 * day });
  const end = start + 5 * day;
  const expected: number[] = [];
  for (let ts = end - 3 * day; ts < end - keepAllMs; ts += hour) expected.push(ts);
  for (let ts = end - keepAllMs; ts < end; ts += 10 * minute) expected.push(ts);
  assert.deepEqual(times, expected);
});

test('hours of more snapshots than one transaction looks at are thinned out just so', async () => {
  const times = await kept({ forMs: day + 2 * hour, everyMs: 5000, keepMs: 30 * day });
  const early = times.filter((ts) => ts < start + 2 * hour);
  assert.deepEqual(early, [start, start + hour]);
  assert.equal(times.filter((ts) => ts >= start + 2 * hour).length, day / 5000);
});

test('a limit of less than a day is kept to', async () => {
  const times = await kept({ forMs: day, everyMs: 10 * minute, keepMs: 6 * hour });
  assert.equal(times[0], start + 18 * hour);
  assert.equal(times.length, 36);
});
