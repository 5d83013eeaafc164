import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EmbeddingModel, type ModelStatus, modelStatuses } from '../../src/domain/model.ts';
import { type BackfillEvent, firstBackfill, nextBackfill } from '../../src/machines/backfill.ts';
import { type ModelEvent, nextModel } from '../../src/machines/model.ts';

const identity = { id: 'm', space: 1, provider: 'local', model_name: 'wink', dim: 100 };
const model: EmbeddingModel = { ...identity, max_input_tokens: 512, floor: null, status: 'registered' };

test('a model moves as its backfill does, and only a ready one can be activated', () => {
  const table: Record<ModelStatus, Record<ModelEvent['type'], ModelStatus | null>> = {
    registered: {
      'backfill.running': 'backfilling',
      'backfill.complete': null,
      'backfill.failed': null,
      activate: null,
    },
    backfilling: {
      'backfill.running': null,
      'backfill.complete': 'ready',
      'backfill.failed': 'failed',
      activate: null,
    },
    ready: { 'backfill.running': null, 'backfill.complete': null, 'backfill.failed': null, activate: 'ready' },
    failed: { 'backfill.running': 'backfilling', 'backfill.complete': null, 'backfill.failed': null, activate: null },
  };
  for (const status of modelStatuses) {
    for (const [type, next] of Object.entries(table[status])) {
      const moved = nextModel({ ...model, status }, { type } as ModelEvent);
      assert.deepEqual(moved, next === null ? null : { ...model, status: next }, `${type} of ${status}`);
    }
  }
});

const begun = firstBackfill(model, { at: 10, job_no: 4, lastPage: 9 });
const events: { [Type in BackfillEvent['type']]: Extract<BackfillEvent, { type: Type }> } = {
  start: { type: 'start', at: 20, job_no: 5, afresh: false, lastPage: 30 },
  plan: { type: 'plan', at: 20, chunks: 7, tokens: 70 },
  advance: { type: 'advance', at: 20, cursor: 9, embedded: 5, made: 3, busyMs: 2 },
  stumble: { type: 'stumble', at: 20, message: 'late' },
  finish: { type: 'finish', at: 20, gaps: false, chunks: 4, tokens: 40 },
  fail: { type: 'fail', at: 20, message: 'no key' },
};

test('a running backfill counts what is done, and is complete at its end without gaps only', () => {
  assert.equal(nextBackfill(begun, events.start), null, 'it runs already');
  assert.deepEqual(nextBackfill(begun, events.plan), { ...begun, total_chunks: 7, total_tokens: 70, updated_at: 20 });
  const counts = { cursor: 9, embedded_chunks: 5, made_chunks: 3, busy_ms: 2, updated_at: 20 };
  const swept = nextBackfill(begun, events.advance);
  assert.deepEqual(swept, { ...begun, ...counts });
  assert.ok(swept !== null);
  assert.equal(nextBackfill(swept, { ...events.advance, cursor: 8 }), null, 'a cursor never goes back');
  assert.equal(nextBackfill(begun, events.finish), null, 'the cursor is not at the end');
  assert.equal(nextBackfill(swept, { ...events.finish, gaps: true }), null);
  const complete = nextBackfill(swept, events.finish);
  const now = { total_chunks: 4, embedded_chunks: 4, total_tokens: 40 };
  assert.deepEqual(
    complete,
    { ...swept, ...now, status: 'complete', finished_at: 20 },
    'a page was forgotten behind the cursor',
  );
  assert.deepEqual(nextBackfill(begun, events.stumble), { ...begun, last_error: 'late', updated_at: 20 });
});

test('one that ended is started again: for gaps from where it is, afresh from the first page', () => {
  const failed = nextBackfill({ ...begun, cursor: 3, embedded_chunks: 2 }, events.fail);
  assert.ok(failed !== null);
  assert.deepEqual([failed.status, failed.last_error], ['failed', 'no key']);
  for (const type of ['plan', 'advance', 'stumble', 'finish', 'fail'] as const) {
    assert.equal(nextBackfill(failed, events[type]), null, type);
  }
  const resumed = { ...failed, status: 'running', job_no: 5, last_error: null };
  assert.deepEqual(nextBackfill(failed, events.start), resumed);
  const afresh = nextBackfill(failed, { ...events.start, afresh: true });
  const zero = { cursor: 0, embedded_chunks: 0, last_page: 30, started_at: 20 };
  assert.deepEqual(afresh, { ...resumed, ...zero });
});
