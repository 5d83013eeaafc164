import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { after, type TestContext, test } from 'node:test';
import { createBitmap } from '../../../src/compute/structures/bitmap.ts';
import { IndexClosedError } from '../../../src/engine/index-folder.ts';
import { BadVectorError, VectorSpace, type VectorSpaceOptions } from '../../../src/engine/vectors/vector-space.ts';
import {
  DIM,
  nearest,
  openSpaceThreads,
  range,
  recall,
  setOf,
  spaceFixture,
  vectorOf,
  vectorsOf,
} from './space-harness.ts';

const threads = openSpaceThreads();
after(() => threads.close());

const open = async (options: VectorSpaceOptions, live: Iterable<number> = []): Promise<VectorSpace> =>
  (await VectorSpace.open(options, setOf(live))).space;

const addAll = (space: VectorSpace, labels: Uint32Array, dim = DIM) => space.add(labels, vectorsOf(labels, dim));

/** An open space with these labels, which is closed and deleted behind the test. */
async function spaceOf(t: TestContext, labels: Uint32Array, changes: Partial<VectorSpaceOptions> = {}) {
  const made = await spaceFixture(threads, changes);
  const space = await open(made.options);
  t.after(async () => {
    await space.close();
    await made[Symbol.asyncDispose]();
  });
  if (labels.length > 0) await addAll(space, labels, made.options.dim);
  return space;
}

test('what was added is found by searches that start afterwards, best first, scored by cosine', async (t) => {
  const labels = range(10, 310);
  const space = await spaceOf(t, labels);
  const query = vectorOf(5000);
  const truth = nearest(query, labels, 20);
  const found = await space.search(query, 20);
  assert.ok(recall(found.labels, truth) >= 0.95);
  found.scores.forEach((score, i) => {
    assert.ok(Math.abs(score - truth[i].score) < 0.01);
  });
  assert.deepEqual(found.scores, found.scores.toSorted().toReversed());
});

test('adding a label again changes nothing', async (t) => {
  const space = await spaceOf(t, range(0, 120));
  await addAll(space, range(100, 130));
  await space.add(Uint32Array.of(200, 200), vectorsOf([200, 200]));
  assert.equal(space.stats().live, 131);
  const { labels } = await space.search(vectorOf(110), 200);
  assert.equal(new Set(labels).size, labels.length);
});

test('no search that starts after remove was called finds the labels, and unknown ones do no harm', async (t) => {
  const space = await spaceOf(t, range(0, 300));
  await space.settled();
  space.remove([...range(0, 150), ...range(0, 10), 77_777]);
  const { labels } = await space.search(vectorOf(3), 300);
  assert.deepEqual(labels.toSorted(), range(150, 300));
});

test('a label that was removed before it is added never comes in', async (t) => {
  const space = await spaceOf(t, range(0, 0));
  space.remove([5]);
  await addAll(space, range(0, 10));
  const { labels } = await space.search(vectorOf(5), 10);
  assert.deepEqual([...labels.toSorted()], [0, 1, 2, 3, 4, 6, 7, 8, 9]);
});

test('a filter gives the nearest of what it allows, and nothing where it allows nothing or there is nothing', async (t) => {
  const space = await spaceOf(t, range(0, 0));
  assert.equal((await space.search(vectorOf(1), 10)).labels.length, 0);
  const labels = range(0, 3000);
  await addAll(space, labels);
  const allowed = labels.filter((label) => (label * 7919) % 1000 < 500);
  const query = vectorOf(40_000);
  const found = await space.search(query, 25, { allow: setOf(allowed) });
  assert.ok(found.labels.every((label) => allowed.includes(label)));
  assert.equal(found.labels.length, 25);
  assert.ok(recall(found.labels, nearest(query, allowed, 25)) >= 0.96);
  assert.equal((await space.search(query, 10, { allow: createBitmap(1000) })).labels.length, 0);
  assert.equal((await space.search(query, 0)).labels.length, 0);
});

test('a batch with bad vectors is refused, its rows and their faults are named, and nothing of it is stored', async (t) => {
  const space = await spaceOf(t, range(0, 100));
  const vectors = vectorsOf(range(200, 206));
  vectors[1 * DIM + 3] = Number.NaN;
  vectors[2 * DIM] = Number.POSITIVE_INFINITY;
  vectors[3 * DIM + 23] = Number.NEGATIVE_INFINITY;
  vectors.fill(0, 5 * DIM, 6 * DIM);
  const rows = [
    { row: 1, reason: 'nan' },
    { row: 2, reason: 'infinite' },
    { row: 3, reason: 'infinite' },
    { row: 5, reason: 'zero' },
  ];
  await assert.rejects(space.add(range(200, 206), vectors), { code: 'bad_vector', rows });
  for (const wrong of [vectors.subarray(0, 5 * DIM), new Float32Array(0), new Float32Array(7 * DIM).fill(1)]) {
    await assert.rejects(space.add(range(200, 206), wrong), BadVectorError);
  }
  assert.equal(space.stats().live, 100);
});

test('a query that is no vector of the space is refused', async (t) => {
  const space = await spaceOf(t, range(0, 100));
  const lengths: [length: number, value: number][] = [
    [DIM, 0],
    [DIM - 1, 1],
    [DIM, Number.NaN],
  ];
  for (const [length, value] of lengths) {
    const query = new Float32Array(length).fill(value);
    await assert.rejects(space.search(query, 5), BadVectorError);
    assert.throws(() => space.checkQuery(query), BadVectorError);
  }
});

test('searches between the parts of a large add see no label twice and end with all of them', async (t) => {
  const space = await spaceOf(t, range(0, 0), { dim: 512 });
  const labels = range(0, 4000);
  const added = space.add(labels, vectorsOf(labels, 512));
  let searches = 0;
  let done = false;
  const watching = added.then(() => {
    done = true;
  });
  while (!done) {
    const { labels: found } = await space.search(vectorOf(9, 512), 50);
    assert.equal(new Set(found).size, found.length);
    searches++;
  }
  await watching;
  assert.ok(searches > 1);
  assert.equal(space.stats().live, 4000);
});

test('after most labels were removed and others added three times, recall is that of a new space and no label repeats', async (t) => {
  const dim = 100;
  let live = range(0, 5000);
  const space = await spaceOf(t, live, { dim });
  await space.settled();
  for (let round = 1; round <= 3; round++) {
    space.remove(live.filter((label) => label % 10 !== 0));
    const next = range(round * 100_000, round * 100_000 + 4500);
    live = Uint32Array.from([...live.filter((label) => label % 10 === 0), ...next]);
    await space.add(next, vectorsOf(next, dim));
    await space.settled();
  }
  const fresh = await spaceOf(t, live, { dim });
  await fresh.settled();
  const { live: count, deleted } = space.stats();
  assert.equal(count, live.length);
  assert.ok(deleted < live.length / 2, 'compacted');
  let churned = 0;
  let anew = 0;
  for (const label of range(900_000, 900_030)) {
    const query = vectorOf(label, dim);
    const truth = nearest(query, live, 10);
    const found = (await space.search(query, 10)).labels;
    assert.equal(new Set(found).size, found.length);
    churned += recall(found, truth) / 30;
    anew += recall((await fresh.search(query, 10)).labels, truth) / 30;
  }
  assert.ok(churned >= anew - 0.02, `${churned} after churn, ${anew} anew`);
});

/** A work thread that does something after each of these tasks, before the task's end is known. */
function workerThen(task: 'copyLiveRows' | 'saveRows', work: () => void): VectorSpaceOptions['worker'] {
  const { worker } = threads;
  return {
    async run(name, argument, options) {
      const result = await worker.run(name, argument, options);
      if (name === task) work();
      return result;
    },
    inTurn: worker.inTurn,
    queued: 0,
    load: 0,
  };
}

test('labels that are removed while live rows are copied never come back, and adds that wait for the copy arrive', async () => {
  let rounds = 0;
  const adds: Promise<void>[] = [];
  const worker = workerThen('copyLiveRows', () => {
    rounds++;
    space.remove([...range(600, 650), 77_777]);
    // One of these was removed just now, as a page is whose vector changes.
    adds.push(addAll(space, range(990, 1010)), addAll(space, Uint32Array.of(600)));
  });
  await using made = await spaceFixture(threads, { worker });
  const space = await open(made.options);
  await addAll(space, range(0, 1000));
  await space.settled();
  space.remove(range(0, 500));
  await space.settled();
  await Promise.all(adds);
  await space.settled();
  assert.equal(rounds, 1);
  const live = Uint32Array.from([...range(500, 601), ...range(650, 1010)]);
  assert.deepEqual((await space.search(vectorOf(3), 2000)).labels.toSorted(), live);
  const { live: count, deleted } = space.stats();
  assert.deepEqual([count, deleted], [live.length, 50]);
  await space.close();
  const again = await VectorSpace.open(made.options, setOf(live));
  assert.deepEqual([again.missing.length, again.dropped], [0, 0]);
  assert.deepEqual((await again.space.search(vectorOf(3), 2000)).labels.toSorted(), live);
  await again.space.close();
});

test('labels that are removed while the rows are saved never come back, though the file has them', async () => {
  let isFirst = true;
  const worker = workerThen('saveRows', () => {
    if (isFirst) space.remove(range(100, 200));
    isFirst = false;
  });
  await using made = await spaceFixture(threads, { worker });
  const space = await open(made.options);
  await addAll(space, range(0, 400));
  await space.save();
  assert.equal(space.stats().unsaved, 100);
  const live = [...range(0, 100), ...range(200, 400)];
  // As after a kill: nothing was saved since.
  const again = await VectorSpace.open(made.options, setOf(live));
  assert.deepEqual([again.missing.length, again.dropped], [0, 100]);
  for (const each of [space, again.space]) {
    assert.deepEqual([...(await each.search(vectorOf(150), 400)).labels.toSorted()], live);
  }
  await space.save();
  const last = await VectorSpace.open(made.options, setOf(range(0, 400)));
  assert.deepEqual(last.missing, range(100, 200), 'the next file lacks them');
  for (const each of [space, again.space, last.space]) await each.drop();
});

test('models share the threads and know nothing of each other', async () => {
  await using first = await spaceFixture(threads);
  await using second = await spaceFixture(threads, { dim: 40 });
  const one = await open(first.options);
  const two = await open(second.options);
  await addAll(one, range(0, 100));
  await two.add(range(50, 150), vectorsOf(range(50, 150), 40));
  one.remove(range(0, 100));
  assert.equal((await one.search(vectorOf(60), 5)).labels.length, 0);
  assert.equal((await two.search(vectorOf(60, 40), 1)).labels[0], 60);
  await one.drop();
  assert.equal(two.stats().live, 100);
  await assert.rejects(readdir(first.options.dir), { code: 'ENOENT' });
  await two.close();
});

test('a closed space takes nothing more', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  await space.close();
  await assert.rejects(addAll(space, range(0, 3)), IndexClosedError);
  assert.throws(() => space.remove([1]), IndexClosedError);
  await rm(made.options.dir, { recursive: true });
});

test('rows of zeros are passed over where that is asked for, other bad rows are refused', async (t) => {
  const space = await spaceOf(t, range(0, 0));
  const vectors = vectorsOf(range(0, 6));
  vectors.fill(0, 5 * DIM, 6 * DIM);
  vectors.fill(0, 0, DIM);
  await space.add(range(0, 6), vectors, { passOverZeros: true });
  assert.deepEqual((await space.search(vectorOf(3), 10)).labels.sort(), range(1, 5));
  vectors[DIM] = Number.NaN;
  const rows = [{ row: 1, reason: 'nan' }];
  await assert.rejects(space.add(range(10, 16), vectors, { passOverZeros: true }), { code: 'bad_vector', rows });
  assert.equal(space.stats().live, 4);
});
