import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Catalog } from '../../../src/actors/indexes/catalog.ts';
import { openPageSpace, type PageSpace } from '../../../src/actors/indexes/page-space.ts';
import { meanPageVector } from '../../../src/compute/embedding/pool-vectors.ts';
import type { LabelRange } from '../../../src/domain/page.ts';
import type { VectorSpaceOptions } from '../../../src/engine/vectors/vector-space.ts';
import type { StoreReader } from '../../../src/store/store.ts';
import {
  cosine,
  DIM,
  nearest,
  openSpaceThreads,
  range,
  spaceFixture,
  vectorOf,
  vectorsOf,
} from '../../engine/vectors/space-harness.ts';

const threads = openSpaceThreads();
after(() => threads.close());

const labelsIn = ({ first, count }: LabelRange) => range(first, first + count);

interface StoredPages {
  /** Chunks of each page, numbered from 1. */
  counts: readonly number[];
  /** Pages that the store has vectors of when the space is opened; pages that are added afterwards: the others unless given. */
  stored?: readonly number[];
  added?: readonly number[];
  /** How many chunks pages lack, their last ones. */
  begun?: Map<number, number>;
}

async function pageSpace(options: VectorSpaceOptions, { counts, stored = [], added, begun = new Map() }: StoredPages) {
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
  const get = (_space: number, no: number) => rowsOf(no);
  const catalog: Pick<Catalog, 'labelEnd' | 'labelsOf' | 'pageOf' | 'isFlushed'> = {
    labelEnd: counts.reduce((sum, count) => sum + count, 0),
    labelsOf: (no) => ranges[no - 1],
    pageOf: (label) => ranges.findIndex(({ first, count }) => label >= first && label < first + count) + 1,
    isFlushed: () => true,
  };
  const space = await openPageSpace({
    reader: {
      vectors: { get, pageNumbers: () => stored },
      backfills: { begunIn: () => begun },
    } as unknown as StoreReader,
    catalog: catalog as Catalog,
    vectors: 1,
    ...options,
  });
  await space.settled();
  const others = ranges.flatMap((_, at) => (stored.includes(at + 1) ? [] : [at + 1]));
  for (const no of added ?? others) await space.add([ranges[no - 1].first]);
  return { space, ranges };
}

const numbersOf = (pages: readonly { page_no: number }[]) => pages.map(({ page_no }) => page_no);

test('the pages nearest to some are found by the mean of their vectors, without these and others, until they are removed', async () => {
  await using fixture = await spaceFixture(threads);
  const { space, ranges } = await pageSpace(fixture.options, { counts: [3, 2, 5, 1] });
  const near = async (page_nos: number[], except: number[] = [], k = 9) =>
    numbersOf(await space.near({ page_nos, except, k }));
  assert.deepEqual((await near([2])).sort(), [1, 3, 4]);
  assert.deepEqual((await near([2, 4])).sort(), [1, 3]);
  assert.deepEqual(await near([2, 4], [1]), [3]);
  assert.deepEqual(await near([2], [], 1), (await near([2])).slice(0, 1));
  const means = [2, 4].map((no) => meanPageVector(vectorsOf(labelsIn(ranges[no - 1])), DIM) ?? new Float32Array(DIM));
  const mean = means[0].map((value, i) => value / Math.hypot(...means[0]) + means[1][i] / Math.hypot(...means[1]));
  for (const { page_no, score } of await space.near({ page_nos: [2, 4], k: 9 })) {
    const other = meanPageVector(vectorsOf(labelsIn(ranges[page_no - 1])), DIM) ?? new Float32Array(DIM);
    assert.ok(Math.abs(score - cosine(mean, other)) < 0.02);
  }
  space.remove([ranges[1].first]);
  assert.deepEqual(await near([2]), [], 'a page without a vector');
  assert.deepEqual((await near([2, 4])).sort(), [1, 3]);
  assert.deepEqual((await near([1])).sort(), [3, 4]);
  await space.close();
});

test('related pages are nearest to each other, and name the page that they are related to', async () => {
  await using fixture = await spaceFixture(threads);
  const count = 20;
  const { space, ranges } = await pageSpace(fixture.options, { counts: new Array(count).fill(1) }); // page n has label n - 1
  const nearestTo = (no: number) => nearest(vectorOf(no - 1), range(0, count), 2)[1].label + 1;
  const pages = [...range(1, count + 1)];
  const mutual = pages.filter((no) => nearestTo(nearestTo(no)) === no);
  assert.ok(mutual.length > 2 && mutual.length < count);
  const related = async (page_nos: number[], except: number[] = []) =>
    (await space.related({ page_nos, except, k: count, few: 1 })).map(({ page_no, to }) => [page_no, to]);
  for (const no of pages) assert.deepEqual(await related([no]), mutual.includes(no) ? [[nearestTo(no), no]] : []);
  const [one] = mutual;
  const other = mutual.find((no) => no !== one && no !== nearestTo(one)) ?? 0;
  assert.equal((await related([one, other])).length, 2);
  assert.deepEqual(await related([one, other], [nearestTo(one)]), [[nearestTo(other), other]]);
  assert.equal((await space.related({ page_nos: [one, other], k: 1, few: 1 })).length, 1);
  space.remove([ranges[nearestTo(one) - 1].first]);
  assert.ok((await related([one])).every(([page_no]) => page_no !== nearestTo(one)));
  await space.close();
});

test('the vector of a page changes where its chunks have vectors only now', async () => {
  await using fixture = await spaceFixture(threads);
  const begun = new Map([[1, 2]]);
  const { space, ranges } = await pageSpace(fixture.options, { counts: [3, 3], begun });
  const [before] = await space.near({ page_nos: [2], k: 1 });
  begun.clear();
  await space.add([ranges[0].first]);
  const [after] = await space.near({ page_nos: [2], k: 1 });
  assert.deepEqual([before.page_no, after.page_no], [1, 1]);
  assert.notEqual(before.score, after.score);
  await space.close();
});

test('a page is in the space when all its chunks have vectors, whatever files a crash left', async () => {
  await using fixture = await spaceFixture(threads);
  const at = (name: string) => ({ ...fixture.options, dir: join(fixture.options.dir, name) });
  const counts = [2, 3, 2];
  const nearest = async (space: PageSpace) =>
    (await space.near({ page_nos: [1], k: 9 })).sort((a, b) => a.page_no - b.page_no);
  const whole = await pageSpace(at('whole'), { counts });
  const stored = [1, 2, 3];
  const begun = await pageSpace(at('killed'), { counts, stored, begun: new Map([[2, 2]]), added: [] });
  assert.deepEqual(numbersOf(await nearest(begun.space)), [3]);
  await begun.space.save();
  // Its other chunks came, and the process was killed before it wrote that to the files.
  const again = await pageSpace(at('killed'), { counts, stored, added: [] });
  assert.deepEqual(await nearest(again.space), await nearest(whole.space));
  for (const { space } of [whole, begun, again]) await space.close();
});
