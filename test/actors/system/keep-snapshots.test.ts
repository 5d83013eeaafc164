/** Snapshots of metrics are written when something has changed: an idle library of a cluster writes none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { snapshotKeeper } from '../../../src/actors/system/metrics.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { Shelf } from '../shelf.ts';

test('what has not changed is not written again, and a commit that failed counts as none', async () => {
  await using shelf = await Shelf.open();
  const metrics = createMetrics().ofLibrary();
  let commits = 0;
  let failure: Error | null = null;
  const commit = async () => {
    if (failure !== null) throw failure;
    commits++;
  };
  const keep = snapshotKeeper({
    ...{ reader: shelf.reader, metrics, ownOnly: true, now: () => commits },
    commit: commit as never,
  });
  for (let at = 0; at < 3; at++) await keep();
  assert.equal(commits, 1);
  metrics.ingestPages.inc({ outcome: 'queued' });
  failure = new Error('no room');
  await assert.rejects(keep(), failure);
  failure = null;
  for (let at = 0; at < 3; at++) await keep();
  assert.equal(commits, 2);
});
