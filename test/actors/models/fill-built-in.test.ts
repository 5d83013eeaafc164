import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backfillHandler } from '../../../src/actors/models/backfill-model.ts';
import { encoderTurns, nextBatch } from '../../../src/actors/models/fill-built-in.ts';
import { startBackfill } from '../../../src/commands/backfill-model.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { failJob } from '../../../src/commands/move-job.ts';
import { builtInModel } from '../../../src/domain/model.ts';
import { newModel } from '../../../src/machines/model.ts';
import type { StoreReader } from '../../../src/store/store.ts';
import { Semaphore } from '../../../src/threads/semaphore.ts';
import { submission } from '../../commands/submissions.ts';
import { chunkRow } from '../../machines/rows.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { contextOf } from '../attempt-context.ts';

const attempt = { signal: new AbortController().signal, extendTime: async () => {} };

/** Each library has work for some turns of 100 ms: who had a turn when, by a clock that only work and the pace turn. */
async function seen(pace: number, wanted: Record<string, number>): Promise<string> {
  const place = new Semaphore(1, Number.POSITIVE_INFINITY);
  const had: string[] = [];
  let now = 0;
  const after = (ms: number, run: () => void) => {
    now += ms;
    run();
  };
  await Promise.all(
    Object.entries(wanted).map(async ([library, count]) => {
      const take = encoderTurns({ place, library, pace, monotonic: () => now, after });
      for (let turn = 0; turn < count; turn++) {
        await take(async () => {
          had.push(`${library} ${now}`);
          await new Promise(setImmediate); // others ask meanwhile
          now += 100;
        }, attempt);
      }
    }),
  );
  return had.join(', ');
}

test('libraries take turns, and all of them together take the share of a core that the pace allows', async () => {
  const inTurns = 'large 0, small 100, large 200, small 300, large 400, large 500';
  assert.equal(await seen(1, { large: 4, small: 2 }), inTurns);
  assert.equal(await seen(0.25, { one: 2, other: 1 }), 'one 0, other 400, one 800');
});

test('a turn whose work failed is given back', async () => {
  const place = new Semaphore(1, Number.POSITIVE_INFINITY);
  const take = encoderTurns({ place, library: 'one', pace: 1, monotonic: () => 0, after: (_, run) => run() });
  await assert.rejects(
    take(() => Promise.reject(new Error('broken')), attempt),
    /broken/,
  );
  assert.equal(await take(async () => 'served', attempt), 'served');
});

test('the time limit of an attempt begins again each minute while it waits for its turn, and not while it works', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const place = new Semaphore(1, Number.POSITIVE_INFINITY);
  const take = encoderTurns({ place, library: 'one', pace: 1, monotonic: () => 0, after: (_, run) => run() });
  await place.acquire(attempt.signal, 'other');
  let begun = 0;
  const extendTime = async () => {
    begun++;
    throw new Error('asked to stop');
  };
  const taken = take(async () => t.mock.timers.tick(600_000), { ...attempt, extendTime });
  t.mock.timers.tick(180_000);
  assert.equal(begun, 3);
  place.release();
  await taken;
  assert.equal(begun, 3);
});

test('of the pages whose first chunks are done, no more are read than a batch takes', () => {
  const chunk = chunkRow(0, 4);
  /** Pages by number: how many chunks they have, and how many lack vectors. */
  const taken = (stored: Record<number, [count: number, lacking: number]>, chunks: number) => {
    const bodies: number[] = [];
    const reader = {
      models: { isFillPaused: () => false },
      backfills: {
        newestGaps: (_: number, limit: number) => Object.keys(stored).map(Number).slice(0, limit),
        lacking: (_: number, no: number) => stored[no][1],
      },
      pages: {
        head: (no: number) => ({ title: null, first_label: 1, chunk_count: stored[no][0] }),
        chunks: (no: number) => Array(stored[no][0]).fill(chunk),
        body: (no: number) => {
          bodies.push(no);
          return 'text';
        },
      },
    } as unknown as StoreReader;
    const model = newModel({ id: 'm', ...builtInModel, max_input_tokens: 512 }, 7);
    const { pages } = nextBatch(reader, model, chunks) ?? assert.fail('no batch');
    return { bodies, sizes: pages.map(({ ordinals }) => ordinals.length) };
  };
  const stored: Record<number, [number, number]> = { 1: [9, 3], 2: [40, 39], 3: [900, 400], 4: [50, 49] };
  assert.deepEqual(taken(stored, 16), { bodies: [1, 2], sizes: [3, 13] });
  assert.deepEqual(taken(stored, 1), { bodies: [1], sizes: [1] });
  assert.deepEqual(taken({ 1: [900, 400], 2: [50, 49] }, 16), { bodies: [1], sizes: [62] });
});

test('a fill whose every attempt fails is dead after as many as a job may have', async () => {
  await using temporary = await TemporaryStore.open();
  const { reader } = temporary.store;
  const claimed = async () => (await temporary.claim(9, { leaseMs: 1000 }))[0];
  await temporary.commit(ingestPage(submission({ at: 0 })));
  await temporary.index({ page_no: 1, chunks: [chunkRow(0, 9, { token_count: 2 })], vectors: new Map() });
  await temporary.commit((transaction) => {
    transaction.models.put(newModel({ id: 'm', ...builtInModel, max_input_tokens: 512 }, 7));
    startBackfill('m', { at: 0, max_attempts: 3 })(transaction);
  });
  const work = backfillHandler({
    ...{ reader, width: 1, readNames: false, now: () => 9, monotonic: () => 9, takeTurn: (run) => run() },
    ask: async () => undefined as never,
    embedders: { passages: async () => assert.fail('a broken text') } as never,
    calibrate: async () => {},
  });
  const statuses: string[] = [];
  while (statuses.at(-1) !== 'dead' && statuses.length < 9) {
    const { job, attempt } = await claimed();
    await assert.rejects(work(job, contextOf(temporary, attempt, 9)), /a broken text/);
    const failed = await temporary.commit(failJob(attempt, 9, { message: 'x', permanent: false, delayMs: 0 }));
    statuses.push(failed?.status ?? 'none');
  }
  assert.deepEqual(statuses, ['failed', 'failed', 'dead']);
});
