import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draftOf, foundClusters } from '../../../src/actors/clusters/cluster-pages.ts';
import { clusterInThread } from '../../../src/actors/clusters/thread-work.ts';
import { addPages, begin, comparePages, forget } from '../../../src/threads/cluster-thread.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';

test('a page that was put with a topic since the run is none that the run found there', async () => {
  await using temporary = await TemporaryStore.open();
  const point = { probability: 1, x: 0, y: 0 };
  await temporary.commit(({ clusters }) =>
    clusters.putPoints(1, [
      { ...point, page_no: 1, cluster_no: 7, since: false },
      { ...point, page_no: 2, cluster_no: 7, since: true },
      { ...point, page_no: 3, cluster_no: 0, since: false },
      { ...point, page_no: 4, cluster_no: 8, since: false },
    ]),
  );
  assert.deepEqual(await foundClusters(temporary.reader, [4, 1, 2, 3, 9], 1), Uint32Array.of(8, 7, 0, 0, 0));
});

test('a topic is at the point of one of its pages, also where the middle of all lies between them', () => {
  const at = (page_no: number, x: number, y: number) => ({
    page_no,
    cluster_no: 3,
    probability: 1,
    x,
    y,
    since: false,
  });
  const points = [at(1, 0, 0), at(2, 0, 1), at(3, 10, 0), at(4, 1, 1), { ...at(5, 9, 9), cluster_no: 0 }];
  assert.deepEqual(draftOf(points), [{ no: 3, size: 4, x: 1, y: 1 }]);
});

test('pages are compared a block a task, and the time limit begins again after each', async () => {
  const count = 2500;
  const dim = 8;
  const steps: string[] = [];
  // What comes after the comparison takes long.
  const tasks = { begin, addPages, comparePages, cluster: forget };
  const { pageNos } = await clusterInThread(
    {
      reader: {
        vectors: {
          pageNumbersAfter: (_space: number, after: number, limit: number) =>
            Array.from({ length: Math.min(limit, count - after) }, (_, i) => after + 1 + i),
          get: (_space: number, no: number) => Float32Array.from({ length: dim }, (_, i) => Number(i === no % dim)),
        },
        pages: { head: () => ({ status: 'indexed', language: 'en' }), bodySlice: () => 'a' },
      } as never,
      pool: {
        run: async (task: keyof typeof tasks, request: never) => {
          steps.push(task);
          return tasks[task](request);
        },
      } as never,
      signal: new AbortController().signal,
      extendTime: async () => {
        steps.push('extendTime');
      },
    },
    { space: 1, dim } as never,
    { resolution: 1, earlierOf: async () => new Uint32Array(count) },
  );
  const block = ['comparePages', 'extendTime'];
  assert.deepEqual(steps.slice(steps.indexOf('comparePages')), [...block, ...block, ...block, 'cluster']);
  assert.equal(pageNos.length, count);
});
