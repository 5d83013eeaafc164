import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterPagesHandler } from '../../src/actors/clusters/cluster-pages.ts';
import {
  finishRun,
  labelCluster,
  renameCluster,
  startRun,
  storeDraft,
  storePoints,
  takeClusterNumbers,
} from '../../src/commands/cluster-runs.ts';
import { endForget, erasePages } from '../../src/commands/forget.ts';
import { completeJob, failJob } from '../../src/commands/move-job.ts';
import type { ClusterPoint } from '../../src/domain/cluster.ts';
import { pluck } from '../rows.ts';
import { TemporaryStore } from '../store/temporary-store.ts';

/** A store with four pages. */
async function library(): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  await temporary.ingest('abcd');
  return temporary;
}

async function begin(temporary: TemporaryStore) {
  const run = await temporary.commit(startRun({ trigger: 'manual', params: {}, at: 1, max_attempts: 3 }));
  assert.ok(run !== null);
  const claimed = (await temporary.claim(2)).find(({ job }) => job.no === run.job_no);
  return { run, ...(claimed ?? assert.fail()) };
}

const point = (page_no: number, cluster_no: number): ClusterPoint => {
  return { page_no, cluster_no, probability: 1, x: 1, y: 2, since: false };
};

async function finish(temporary: TemporaryStore, pages: readonly number[]): Promise<void> {
  const { run, attempt } = await begin(temporary);
  const no = await temporary.commit(takeClusterNumbers(attempt, run.no, 1));
  assert.ok(no !== null);
  const points = pages.map((page) => point(page, no));
  assert.ok(await temporary.commit(storePoints(attempt, run.no, points)));
  assert.ok(await temporary.commit(storeDraft(attempt, run.no, [{ no, size: points.length, x: 1, y: 2 }], {})));
  const keywords = new Map([[no, ['word', 'other']]]);
  await temporary.commit(
    completeJob(attempt, 3, (transaction) => finishRun(transaction, run.no, { keywords, at: 3, keepFrom: 0 })),
  );
}

const handlerOf = ({ reader, store }: TemporaryStore, run: () => unknown) =>
  clusterPagesHandler({
    ...{ reader, commit: (command) => store.commit(command), pool: { run } as never, oldBefore: async () => null },
    ...{ resolution: 1, labels: false, maxAttempts: 3, now: () => 4 },
  });

test('an attempt begins without the points of the one before it, whose pages it may not know', async () => {
  await using temporary = await library();
  const { run, attempt } = await begin(temporary);
  assert.equal(await temporary.commit(takeClusterNumbers(attempt, run.no, 2)), 1);
  assert.ok(await temporary.commit(storePoints(attempt, run.no, [point(1, 1), point(2, 2)])));
  assert.equal(await temporary.commit(takeClusterNumbers({ ...attempt, claim: attempt.claim + 1 }, run.no, 1)), null);
  assert.equal([...temporary.reader.clusters.points(run.no)].flat().length, 2, 'not by who does not own the job');
  assert.equal(await temporary.commit(takeClusterNumbers(attempt, run.no, 1)), 3);
  assert.deepEqual([...temporary.reader.clusters.points(run.no)].flat(), []);
});

test('the end of a forget queues one job that names clusters which lost pages, and none where none did', async () => {
  await using temporary = await library();
  await finish(temporary, [1, 2, 3]);
  const namings = async () => {
    await temporary.commit(endForget(1, { at: 6, max_attempts: 3 }));
    return temporary.reader.jobs.list({ kind: 'label_clusters', limit: 9 }).map(({ status }) => status);
  };
  assert.deepEqual(await namings(), []);
  await temporary.commit(erasePages([1], 5));
  assert.deepEqual(await namings(), ['pending']);
  assert.deepEqual(await namings(), ['pending']);
});

test('pages of a cluster without a word that tells it from the others are in no topic', async () => {
  await using temporary = await library();
  await finish(temporary, [1, 2, 3, 4]);
  const { run, attempt } = await begin(temporary);
  const stored = [point(1, 1), point(2, 1), point(3, 2), point(4, 2)];
  assert.ok(await temporary.commit(storePoints(attempt, run.no, stored)));
  const drafts = [1, 2].map((no) => ({ no, size: 2, x: 1, y: 2 }));
  assert.ok(await temporary.commit(storeDraft(attempt, run.no, drafts, {})));
  const finished = { keywords: new Map([[2, ['word']]]), at: 3, keepFrom: 0 };
  await temporary.commit(completeJob(attempt, 3, (transaction) => finishRun(transaction, run.no, finished)));
  const { clusters } = temporary.reader;
  assert.deepEqual(pluck([...clusters.points(run.no)].flat(), 'cluster_no'), [0, 0, 2, 2]);
  assert.deepEqual([clusters.get(1)?.tombstoned, clusters.get(2)?.label], [true, 'Word']);
  const { n_clusters, n_noise, n_pages } = clusters.run(run.no) ?? {};
  assert.deepEqual([n_clusters, n_noise, n_pages], [1, 2, 4]);
});

test('labels of topics differ in more than the case of their letters, whatever gives them', async () => {
  await using temporary = await library();
  const { run, attempt } = await begin(temporary);
  assert.ok(await temporary.commit(storePoints(attempt, run.no, [point(1, 1), point(2, 1), point(3, 2)])));
  const drafts = [1, 2].map((no) => ({ no, size: 3 - no, x: 1, y: 2 }));
  assert.ok(await temporary.commit(storeDraft(attempt, run.no, drafts, {})));
  const words = [['steam'], ['STEAM']].map((word, at): [number, string[]] => [at + 1, word]);
  const finished = { keywords: new Map(words), at: 3, keepFrom: 0 };
  await temporary.commit(completeJob(attempt, 3, (transaction) => finishRun(transaction, run.no, finished)));
  const labels = () => temporary.reader.clusters.all().map(({ label }) => label);
  assert.deepEqual(labels(), ['Steam', 'STEAM 2']);
  await temporary.commit(labelCluster(2, 'sTeam', ['STEAM']));
  await temporary.commit(renameCluster(1, ['steam 2'], [1, 2]));
  assert.deepEqual(labels(), ['Steam 2 2', 'STEAM 2']);
});

test('a cluster keeps being stale where a page is forgotten while its words are counted, whatever else comes to it', async () => {
  await using temporary = await library();
  await finish(temporary, [1, 2, 3]);
  const { clusters } = temporary.reader;
  await temporary.commit(erasePages([1], 500));
  assert.equal(clusters.get(1)?.stale, true);
  const counted = [2, 3];
  await temporary.commit(erasePages([2], 500));
  await temporary.commit((transaction) => {
    const cluster = transaction.clusters.get(1);
    assert.ok(cluster !== undefined);
    transaction.clusters.putPoints(1, [{ ...point(4, 1), since: true }]);
    transaction.clusters.put({ ...cluster, size: cluster.size + 1 });
  });
  await temporary.commit(renameCluster(1, ['forgotten'], counted));
  assert.deepEqual([clusters.get(1)?.stale, clusters.get(1)?.keywords], [true, ['word', 'other']]);
  await temporary.commit(renameCluster(1, ['kept'], [3, 4]));
  assert.deepEqual([clusters.get(1)?.stale, clusters.get(1)?.keywords], [false, ['kept']]);
});

test('naming goes on for as long as it takes, but a suspect is not cleared before its end', async () => {
  await using temporary = await library();
  const { run, job, attempt } = await begin(temporary);
  assert.ok(await temporary.commit(storePoints(attempt, run.no, [point(1, 1), point(2, 1)])));
  assert.ok(await temporary.commit(storeDraft(attempt, run.no, [{ no: 1, size: 2, x: 1, y: 2 }], {})));
  const handler = handlerOf(temporary, async () => new Map([[1, ['word']]]));
  let steps = 0;
  const extendTime = async () => void steps++;
  const context = {
    attempt,
    signal: new AbortController().signal,
    extendTime,
    checkpoint: () => assert.fail('unused'),
  };
  assert.equal(typeof (await handler({ ...job, suspect: true }, context)), 'function');
  assert.equal(steps, 0);
  assert.equal(typeof (await handler(job, context)), 'function');
  assert.equal(steps, 1);
});

test('a run that was given up does not come back over a later one', async () => {
  await using temporary = await library();
  const first = await begin(temporary);
  assert.ok(await temporary.commit(storeDraft(first.attempt, first.run.no, [], {})));
  await temporary.commit(failJob(first.attempt, 2, { message: 'broken', permanent: true, delayMs: 0 }));
  await finish(temporary, [1, 2, 3]);
  const handler = handlerOf(temporary, () => assert.fail('nothing is clustered'));
  const context = { attempt: first.attempt, signal: new AbortController().signal } as never;
  const message = /a newer run has started/;
  await assert.rejects(async () => handler(first.job, context), { name: 'JobError', message });
  assert.equal(temporary.reader.clusters.currentRun(), 2);
});
