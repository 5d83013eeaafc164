import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { LabelRange } from '../../src/domain/page.ts';
import type { Catalog } from '../../src/index/catalog.ts';
import { PageSpace } from '../../src/index/page-space.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { DIM, openShardPools, range, spaceFixture, vectorsOf } from '../engine/vectors/space-harness.ts';

const shards = openShardPools();
after(() => Promise.all(shards.map((pool) => pool.close())));

/** A page space beside pages of so many chunks each, numbered from 1; `read` has the pages whose rows were read. */
async function pageSpace(dir: string, counts: readonly number[]) {
  const ranges: LabelRange[] = [];
  for (const count of counts) {
    const last = ranges.at(-1);
    ranges.push({ first: last === undefined ? 0 : last.first + last.count, count });
  }
  const rowsOf = ({ first, count }: LabelRange) => vectorsOf(range(first, first + count));
  const read: number[] = [];
  const gone = new Set<number>();
  const get = (_space: number, no: number) => {
    read.push(no);
    return gone.has(no) ? undefined : rowsOf(ranges[no - 1]);
  };
  const catalog: Pick<Catalog, 'labelEnd' | 'labelsOf' | 'pageOf' | 'isFlushed'> = {
    labelEnd: 0,
    labelsOf: (no) => ranges[no - 1],
    pageOf: (label) => ranges.findIndex(({ first, count }) => label >= first && label < first + count) + 1,
    isFlushed: () => true,
  };
  const space = await PageSpace.open({
    reader: { vectors: { get, pageNumbers: () => [] } } as unknown as StoreReader,
    catalog: catalog as Catalog,
    vectors: 1,
    modelId: 'pages',
    dim: DIM,
    dir,
    storeId: 'store-1',
    shards,
    namespace: 'one',
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  for (const each of ranges) await space.add([each], rowsOf(each));
  return { space, ranges, read, gone };
}

test('the vector of a long page is made once, and is gone with the page', async () => {
  await using fixture = await spaceFixture(shards);
  const long = 1 + Math.floor((128 * 1024) / DIM);
  const { space, ranges, read, gone } = await pageSpace(fixture.options.dir, [3, long, 5]);
  const near = (no: number) => space.near({ page_nos: [no], k: 5 });
  const first = await near(2);
  assert.deepEqual(first.map(({ page_no }) => page_no).sort(), [1, 3]);
  for (let time = 0; time < 3; time++) assert.deepEqual(await near(2), first);
  assert.deepEqual(read, [2]);
  await near(1);
  await near(1);
  assert.deepEqual(read, [2, 1, 1], 'short ones are read again');
  gone.add(2);
  await space.remove([ranges[1].first]);
  assert.deepEqual(await near(2), []);
  assert.deepEqual(read, [2, 1, 1, 2]);
  await space.close();
});

test('what is nearest to a page is looked for once, until a page comes or goes', async () => {
  await using fixture = await spaceFixture(shards);
  const { space, ranges, read } = await pageSpace(fixture.options.dir, [1, 2, 3, 1]);
  const near = async (...page_nos: number[]) =>
    (await space.nearEach({ page_nos, k: 9 })).map((pages) => pages.map(({ page_no }) => page_no).sort());
  assert.deepEqual(await near(1, 2), [
    [2, 3, 4],
    [1, 3, 4],
  ]);
  assert.deepEqual(await near(2, 3), [
    [1, 3, 4],
    [1, 2, 4],
  ]);
  assert.deepEqual(read, [1, 2, 3]);
  await space.remove([ranges[3].first]);
  assert.deepEqual(await near(2), [[1, 3]]);
  await space.add([ranges[3]], vectorsOf(range(ranges[3].first, ranges[3].first + 1)));
  assert.deepEqual(await near(2), [[1, 3, 4]]);
  assert.deepEqual(read, [1, 2, 3, 2, 2]);
  const [narrow] = await space.nearEach({ page_nos: [2], k: 1 });
  assert.equal(narrow.length, 1);
  await space.close();
});
