import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { LabelRange } from '../../src/domain/page.ts';
import type { Catalog } from '../../src/index/catalog.ts';
import { PageSpace } from '../../src/index/page-space.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { DIM, openShardPools, range, spaceFixture, vectorsOf } from '../engine/vectors/space-harness.ts';

const shards = openShardPools();
after(() => Promise.all(shards.map((pool) => pool.close())));

interface StoredPages {
  /** Chunks of each page, numbered from 1. */
  counts: readonly number[];
  /** Pages that the store has vectors of when the space is opened; pages that are added afterwards: the others unless given. */
  stored?: readonly number[];
  added?: readonly number[];
  /** How many chunks pages lack, their last ones. */
  begun?: Map<number, number>;
}

/** `read` has the pages whose rows were read. */
async function pageSpace(dir: string, { counts, stored = [], added, begun = new Map() }: StoredPages) {
  const ranges: LabelRange[] = [];
  for (const count of counts) {
    const last = ranges.at(-1);
    ranges.push({ first: last === undefined ? 0 : last.first + last.count, count });
  }
  const rowsOf = (no: number) => {
    const { first, count } = ranges[no - 1];
    const rows = vectorsOf(range(first, first + count));
    rows.fill(0, (count - (begun.get(no) ?? 0)) * DIM);
    return rows;
  };
  const read: number[] = [];
  const gone = new Set<number>();
  const get = (_space: number, no: number) => {
    read.push(no);
    return gone.has(no) ? undefined : rowsOf(no);
  };
  const catalog: Pick<Catalog, 'labelEnd' | 'labelsOf' | 'pageOf' | 'isFlushed'> = {
    labelEnd: counts.reduce((sum, count) => sum + count, 0),
    labelsOf: (no) => ranges[no - 1],
    pageOf: (label) => ranges.findIndex(({ first, count }) => label >= first && label < first + count) + 1,
    isFlushed: () => true,
  };
  const space = await PageSpace.open({
    reader: {
      vectors: { get, pageNumbers: () => stored },
      backfills: { begunIn: () => begun },
    } as unknown as StoreReader,
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
  await space.settled();
  const others = ranges.flatMap((_, at) => (stored.includes(at + 1) ? [] : [at + 1]));
  for (const no of added ?? others) await space.add([ranges[no - 1].first]);
  read.length = 0;
  return { space, ranges, read, gone };
}

test('the vector of a long page is made once, and is gone with the page', async () => {
  await using fixture = await spaceFixture(shards);
  const long = 1 + Math.floor((128 * 1024) / DIM);
  const { space, ranges, read, gone } = await pageSpace(fixture.options.dir, { counts: [3, long, 5] });
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
  const { space, ranges, read } = await pageSpace(fixture.options.dir, { counts: [1, 2, 3, 1] });
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
  await space.add([ranges[3].first]);
  assert.deepEqual(await near(2), [[1, 3, 4]]);
  assert.deepEqual(read, [1, 2, 3, 2, 4, 2]);
  const [narrow] = await space.nearEach({ page_nos: [2], k: 1 });
  assert.equal(narrow.length, 1);
  await space.close();
});

test('a page is in the space when all its chunks have vectors, whatever files a crash left', async () => {
  await using fixture = await spaceFixture(shards);
  const { dir } = fixture.options;
  const counts = [2, 3, 2];
  const nearest = async (space: PageSpace) =>
    (await space.near({ page_nos: [1], k: 9 })).sort((a, b) => a.page_no - b.page_no);
  const whole = await pageSpace(join(dir, 'whole'), { counts });
  const begun = await pageSpace(join(dir, 'killed'), {
    counts,
    stored: [1, 2, 3],
    begun: new Map([[2, 2]]),
    added: [],
  });
  assert.deepEqual(
    (await nearest(begun.space)).map(({ page_no }) => page_no),
    [3],
  );
  await begun.space.save();
  // Its other chunks came, and the process was killed before it wrote that to the files.
  const again = await pageSpace(join(dir, 'killed'), { counts, stored: [1, 2, 3], added: [] });
  assert.deepEqual(await nearest(again.space), await nearest(whole.space));
  for (const { space } of [whole, begun, again]) await space.close();
});
