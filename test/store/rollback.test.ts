/** Reliability check C4: whatever write of a command fails, nothing of the command is visible, and only this command fails. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from 'lmdb';
import { expireLeases, recoverOrphans } from '../../src/commands/claim-jobs.ts';
import { commitContent } from '../../src/commands/commit-content.ts';
import { beginForget, erasePages, queuePurge } from '../../src/commands/forget.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { appendRuns, giveFeedback, purgeRunsBefore, startReplay } from '../../src/commands/log-queries.ts';
import { installModel } from '../../src/commands/manage-models.ts';
import { noteNewEntities } from '../../src/commands/match-entities.ts';
import { mergeEntities, splitMerge } from '../../src/commands/merge-entities.ts';
import { completeJob, createJob, failJob, heartbeatJob, releaseJob } from '../../src/commands/move-job.ts';
import { sweepPages } from '../../src/commands/page-entities.ts';
import { retryJobs } from '../../src/commands/retry-jobs.ts';
import { idOf } from '../../src/domain/values.ts';
import type { Command } from '../../src/store/store.ts';
import { mentioning } from '../commands/mentioning.ts';
import { submission } from '../commands/submissions.ts';
import { chunkRow } from '../machines/rows.ts';
import { queryRun } from './query-runs.ts';
import { claimDue, TemporaryStore } from './temporary-store.ts';

const claim = claimDue;
const page = (path: string) => ingestPage(submission({ canonical_url: `https://example.com/${path}`, at: 100 }));

/** Jobs 1 and 2 run (claims 1, 2) with pages, 3 has failed, 4 is dead. */
async function furnished(): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  await temporary.ingest('abcd', { at: 100 });
  await temporary.commit(claim(200));
  for (const [no, permanent] of [
    [3, false],
    [4, true],
  ] as const) {
    await temporary.commit(failJob({ job_no: no, claim: no }, 300, { message: 'x', permanent, delayMs: 10 }));
  }
  await temporary.commit(appendRuns([queryRun()]));
  await temporary.commit(mentioning(1, 'place: Oslo', 'place: Bergen'));
  await temporary.commit(mentioning(2, 'place: Oslo', 'place: Oslo fjord', 'place: Osslo'));
  await temporary.commit(mergeEntities(1, 3, 400));
  return temporary;
}

const replay = { model_a: 'm1', model_b: 'm2', rerank_a: true, rerank_b: true, k: 10, candidates: 100, limit: null };
const model = { id: 'local-x-4', provider: 'local', model_name: 'x', dim: 4, max_input_tokens: 10, floor: null };
const rule = { pattern: 'x.example', kind: 'domain', reason: null, created_at: 1, purging: false } as const;
const vectors = new Map([8, 4].map((length, at) => [at + 1, new Float32Array(length)]));
const first = { job_no: 1, claim: 1 };
const commands: Record<string, Command<unknown>> = {
  'ingest of a new page': page('new'),
  'ingest of a known page': page('a'),
  'creation of a job': (transaction) =>
    createJob(transaction, { kind: 'cluster', page_no: null, max_attempts: 1, at: 1 }),
  'claim of a failed job': claim(500),
  'completion, with what its handler adds': completeJob(first, 500, (transaction) => {
    createJob(transaction, { kind: 'extract_entities', page_no: 1, max_attempts: 1, at: 500 });
  }),
  failure: failJob(first, 500, { message: 'x', permanent: false, delayMs: 10 }),
  release: releaseJob(first, 500, 500),
  'renewal of a lease': heartbeatJob(first, 500, 600),
  'recovery of orphans': recoverOrphans('life 2', 500),
  'expiry of leases': expireLeases(5000),
  'bulk retry': retryJobs([idOf('job', 4)], 500),
  'commit of content': commitContent(first, { page_no: 1, chunks: [chunkRow(0, 4), chunkRow(0, 4)], vectors }),
  'installation of a model': installModel(model, { at: 500, max_attempts: 3 }),
  'logging of runs': appendRuns([queryRun({ query_id: 'qr_2' }), queryRun({ query_id: 'qr_3', compare_id: 'cp_1' })]),
  feedback: giveFeedback({ query_id: 'qr_1', page_id: idOf('page', 1), relevant: true }),
  'deletion of old runs': purgeRunsBefore(2000),
  'removal of a page from the log': ({ queryLog }) => queryLog.removePages(new Set([1]), 0, 10, () => undefined),
  'start of a replay': startReplay(replay, { at: 500, max_attempts: 3 }),
  'erasure of forgotten pages': erasePages([1, 2, 3, 4], 500),
  'queueing of their purge': (transaction) => {
    erasePages([1], 500)(transaction);
    return queuePurge(500, 3)(transaction);
  },
  'what a page mentions': mentioning(2, 'place: Bergen', 'person: Ada', 'place: Oslo'),
  'a merge': mergeEntities(1, 4, 500),
  'the undo of a merge': splitMerge(1, 500, { latestOnly: true }),
  'a step of the sweep': (transaction) => {
    completeJob(first, 450)(transaction);
    return sweepPages(10, { at: 500, max_attempts: 3 })(transaction);
  },
  'queueing of a comparison of names': (transaction) => noteNewEntities(transaction, 50, { at: 500, max_attempts: 3 }),
  'begin of a forget': beginForget({ kind: 'domain', pattern: 'x.example', reason: null, at: 1 }),
  'a new rule': ({ blacklist, counters }) => blacklist.put({ ...rule, no: counters.take('blacklist') }),
};

/** Every database's entries as LMDB holds them. */
async function dump({ path }: TemporaryStore): Promise<Record<string, string[]>> {
  const root = open({ path: join(path, 'store'), maxDbs: 64 });
  const entries = [...root.getKeys()].map((name): [string, string[]] => {
    const database = root.openDB<Buffer, Buffer>({ name: String(name), keyEncoding: 'binary', encoding: 'binary' });
    const lines = [...database.getRange()].map(
      ({ key, value }) => `${key.toString('latin1')} = ${value.toString('latin1')}`,
    );
    return [String(name), lines];
  });
  await root.close();
  return Object.fromEntries(entries);
}

class Injected extends Error {}

type Write = (...args: unknown[]) => unknown;

/** Make the `n`th write to LMDB throw while `work` runs; tells how many writes there were. */
async function failingAt(n: number, { store }: TemporaryStore, work: () => Promise<void>): Promise<number> {
  const database = Reflect.get(store.reader.jobs, 'rows');
  const prototype: Record<'put' | 'remove', Write> = Object.getPrototypeOf(database);
  const { put, remove } = prototype;
  let writes = 0;
  const counted = (write: Write): Write =>
    function (this: unknown, ...args) {
      if (++writes === n) throw new Injected(`write ${n}`);
      return write.apply(this, args);
    };
  prototype.put = counted(put);
  prototype.remove = counted(remove);
  try {
    await work();
  } finally {
    Object.assign(prototype, { put, remove });
  }
  return writes;
}

for (const [name, command] of Object.entries(commands)) {
  test(`${name}: an error between any two writes leaves nothing behind`, async () => {
    await using temporary = await furnished();
    const before = await dump(temporary);
    for (let n = 2, done = false; !done; n++) {
      const writes = await failingAt(n, temporary, async () => {
        const { results, steps } = await temporary.store.transact([command]);
        const [result] = results;
        done = result.ok;
        if (result.ok) return;
        assert.ok(result.error instanceof Injected, String(result.error));
        assert.deepEqual(steps, []);
      });
      if (done) assert.ok(writes > 1, 'the command writes something');
      else assert.deepEqual(await dump(temporary), before, `after write ${n}`);
    }
    assert.notDeepEqual(await dump(temporary), before);
  });
}

test('a command that throws fails alone: the others of its batch are committed, in order', async () => {
  await using temporary = await TemporaryStore.open();
  const bad: Command<unknown> = (transaction) => {
    page('bad')(transaction);
    throw new Injected('no');
  };
  const { results, steps } = await temporary.store.transact([page('a'), bad, page('b'), bad, page('a')]);
  const pages = steps.flatMap(({ changes }) => changes.pages);
  const outcomes = results.map((result) => (result.ok ? Object.values(result.reply as object).join() : result.error));
  const [no, accepted] = [new Injected('no'), ['accepted,1', 'accepted,2']];
  assert.deepEqual(outcomes, [accepted[0], no, accepted[1], no, 'revisit,1,queued,false']);
  const visits = pages.map(({ canonical_url, visit_count }) => `${canonical_url} ${visit_count}`);
  assert.deepEqual(visits, ['https://example.com/a 1', 'https://example.com/b 1', 'https://example.com/a 2']);
  assert.equal(steps.flatMap(({ changes }) => changes.jobs).length, 2);
  assert.equal(temporary.reader.pages.count(), 2);
  assert.equal(temporary.reader.counters.peek('opstamp'), (steps.at(-1)?.opstamp ?? 0) + 1);
});

test('a disk that fails while a batch is taken apart fails the rest alone; what was committed is told', async () => {
  await using temporary = await TemporaryStore.open();
  const root = Reflect.get(temporary.reader.jobs, 'rows');
  const prototype: Record<'childTransaction', Write> = Object.getPrototypeOf(root);
  const { childTransaction } = prototype;
  let transactions = 0;
  prototype.childTransaction = function (this: unknown, ...args) {
    return ++transactions === 3 ? Promise.reject(new Error('no space')) : childTransaction.apply(this, args);
  };
  const bad: Command<unknown> = () => {
    throw new Injected('no');
  };
  const { results, steps } = await temporary.store
    .transact([page('a'), page('b'), bad, page('c')])
    .finally(() => Object.assign(prototype, { childTransaction }));
  const outcomes = results.map((result) =>
    result.ok ? Object.values(result.reply as object).join() : `${result.error}`,
  );
  const broken = ['DomainError: the store cannot be written', 'Error: no'];
  assert.deepEqual(outcomes, ['accepted,1', ...broken, 'accepted,2']);
  const numbers = steps.flatMap(({ changes }) => changes.pages.map(({ no }) => no));
  assert.deepEqual(numbers, [1, 2]);
});

test('no source calls the plain transaction of LMDB, which keeps what was written before an error', () => {
  const src = fileURLToPath(new URL('../../src/', import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const calls = files.filter((name) => /\.transaction\(/.test(readFileSync(join(src, name), 'utf8')));
  assert.ok(files.length > 50);
  assert.deepEqual(calls, []);
});
