import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foundClusters } from '../../../src/actors/clusters/cluster-pages.ts';
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
  assert.deepEqual(await foundClusters(temporary.store.reader, [4, 1, 2, 3, 9], 1), Uint32Array.of(8, 7, 0, 0, 0));
});
