import assert from 'node:assert/strict';
import { test } from 'node:test';
import { erasePages, orphanPurges, queuePurge } from '../../src/commands/forget.ts';
import { TemporaryStore } from '../store/temporary-store.ts';

test('a slice ends when it is enough, after one page at least, and passes over pages that are gone', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.ingest([1, 2, 3, 4, 5]);
  const numbers = async (pageNos: number[], enough?: () => boolean) => {
    const { erased, looked } = await temporary.commit(erasePages(pageNos, 5, enough));
    return [erased.map(({ page_no }) => page_no), looked];
  };
  assert.deepEqual(await numbers([1, 2, 3], () => true), [[1], 1]);
  assert.deepEqual(await numbers([1, 2, 3, 4], () => true), [[2], 2]);
  let asked = 0;
  assert.deepEqual(await numbers([1, 2, 3, 4, 5], () => ++asked === 2), [[3, 4], 4]);
  assert.deepEqual(await numbers([1, 2, 3, 4, 5]), [[5], 5]);
  assert.deepEqual(await numbers([1, 2, 3, 4, 5]), [[], 5]);
});

test('pages whose purge job is dead or gone get a new one, a job at a time; those of a job that is open keep it', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit((transaction) => {
    const row = { state: 'pending', job_no: 0, first_label: 0, chunk_count: 0, forgotten_at: 5 } as const;
    for (let page_no = 1; page_no <= 1200; page_no++) transaction.tombstones.put({ page_no, ...row });
  });
  const jobs = [];
  for (let job = await temporary.commit(queuePurge(5, 3)); job !== null; job = await temporary.commit(queuePurge(5, 3)))
    jobs.push(job);
  assert.deepEqual([jobs.length, await temporary.commit(orphanPurges())], [3, 0], 'all of them are open');
  const [dead, gone, open] = jobs;
  await temporary.commit((transaction) => {
    transaction.jobs.put({ ...dead, status: 'dead' }, dead);
    transaction.tombstones.put({ ...(transaction.tombstones.get(1200) ?? assert.fail()), job_no: 999 });
    transaction.jobs.put({ ...gone, status: 'done' }, gone);
  });
  const freed = [];
  for (let count = 1; count > 0; freed.push(count)) count = await temporary.commit(orphanPurges());
  assert.deepEqual(freed, [500, 500, 1, 0]);
  const { tombstones } = temporary.reader;
  assert.equal(tombstones.pageNumbers('pending', { job_no: 0 }).length, 1001);
  assert.equal(tombstones.pageNumbers('pending', { job_no: open.no }).length, 199);
});
