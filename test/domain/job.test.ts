import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JobKind, jobKinds, laneOf } from '../../src/domain/job.ts';

test('each kind of job has its lane', () => {
  assert.deepEqual(Object.fromEntries(jobKinds.map((kind) => [kind, laneOf({ kind, suspect: false })])), {
    index_page: 'index',
    fetch_and_index: 'fetch',
    extract_entities: 'entities',
    backfill_model: 'backfill',
    cluster: 'background',
    label_clusters: 'background',
    canonicalize_entities: 'background',
    purge_vectors: 'purge',
    eval_replay: 'background',
    poll_watch: 'poll',
  });
});

test('a suspect has a lane of its own, whatever its kind', () => {
  for (const kind of jobKinds) assert.equal(laneOf({ kind, suspect: true }), 'suspect');
});

test('a job of a kind that another version made waits in the background', () => {
  assert.equal(laneOf({ kind: 'made_later' as JobKind, suspect: false }), 'background');
});
