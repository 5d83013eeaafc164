import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { after, test } from 'node:test';
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

const addAll = (space: VectorSpace, labels: Uint32Array) => space.add(labels, vectorsOf(labels));

test('what was added is found by searches that start afterwards, best first, scored by cosine', async () => {
  await using made = await spaceFixture(threads);
  const { space, missing } = await VectorSpace.open(made.options, createBitmap(0));
  assert.equal(missing.length, 0);
  const labels = range(10, 310);
  await addAll(space, labels);
  const query = vectorOf(5000);
  const truth = nearest(query, labels, 20);
  const found = await space.search(query, 20);
  assert.ok(recall(found.labels, truth) >= 0.95);
  found.scores.forEach((score, i) => {
    assert.ok(Math.abs(score - truth[i].score) < 0.01);
  });
  assert.deepEqual(
    [...found.scores],
    [...found.scores].sort((a, b) => b - a),
  );
  await space.close();
});

test('a large space finds what the exact scan finds', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  const labels = range(0, 20_000);
  await addAll(space, labels);
  const queries = [...range(90_000, 90_020)].map((label) => vectorOf(label));
  let sum = 0;
  for (const query of queries) sum += recall((await space.search(query, 100)).labels, nearest(query, labels, 100));
  assert.ok(sum / queries.length >= 0.97, `recall ${sum / queries.length}`);
  await space.close();
});

test('labels with the same vector come in the order of their labels', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  const labels = Uint32Array.of(9, 4, 7, 2, 5);
  const vectors = new Float32Array(labels.length * DIM).fill(0.5);
  await space.add(labels, vectors);
  const { labels: found, scores } = await space.search(vectors.subarray(0, DIM), 4);
  assert.deepEqual([...found], [2, 4, 5, 7]);
  assert.deepEqual([...scores], [1, 1, 1, 1]);
  await space.close();
});

test('adding a label again changes nothing', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  await addAll(space, range(0, 120));
  await addAll(space, range(100, 130));
  await space.add(Uint32Array.of(200, 200), vectorsOf([200, 200]));
  assert.equal(space.stats().live, 131);
  const { labels } = await space.search(vectorOf(110), 200);
  assert.equal(new Set(labels).size, labels.length);
  await space.close();
});

test('no search that starts after remove was called finds the labels, and unknown ones do no harm', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  await addAll(space, range(0, 300));
  await space.settled();
  space.remove([...range(0, 150), ...range(0, 10), 77_777]);
  const { labels } = await space.search(vectorOf(3), 300);
  assert.deepEqual(
    [...labels].sort((a, b) => a - b),
    [...range(150, 300)],
  );
  await space.close();
});

test('a label that was removed before it is added never comes in', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  space.remove([5]);
  await addAll(space, range(0, 10));
  const { labels } = await space.search(vectorOf(5), 10);
  assert.deepEqual(
    [...labels].sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 6, 7, 8, 9],
  );
  await space.close();
});

for (const [what, share] of [
  ['a few', 0.01],
  ['half', 0.5],
  ['most', 0.8],
  ['nearly all', 0.95],
] as const) {
  test(`a filter that allows ${what} of the labels gives the nearest of those`, async () => {
    await using made = await spaceFixture(threads);
    const space = await open(made.options);
    const labels = range(0, 3000);
    await addAll(space, labels);
    await space.settled();
    const allowed = labels.filter((label) => (label * 7919) % 1000 < share * 1000);
    const query = vectorOf(40_000);
    const found = await space.search(query, 25, { allow: setOf(allowed) });
    assert.ok(found.labels.every((label) => allowed.includes(label)));
    assert.equal(found.labels.length, 25);
    assert.ok(recall(found.labels, nearest(query, allowed, 25)) >= 0.96);
    await space.close();
  });
}

test('a filter that allows nothing gives nothing, and so does an empty space', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  assert.equal((await space.search(vectorOf(1), 10)).labels.length, 0);
  await addAll(space, range(0, 200));
  assert.equal((await space.search(vectorOf(1), 10, { allow: createBitmap(1000) })).labels.length, 0);
  assert.equal((await space.search(vectorOf(1), 0)).labels.length, 0);
  await space.close();
});

test('nothing below the floor comes back', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  await addAll(space, range(0, 300));
  const all = await space.search(vectorOf(1), 300);
  const floor = all.scores[20];
  const above = await space.search(vectorOf(1), 300, { minScore: floor });
  assert.deepEqual(above.labels, all.labels.slice(0, 21));
  await space.close();
});

test('a batch with bad vectors is refused, its rows and their faults are named, and nothing of it is stored', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  await addAll(space, range(0, 100));
  const vectors = vectorsOf(range(200, 206));
  vectors[1 * DIM + 3] = Number.NaN;
  vectors[2 * DIM] = Number.POSITIVE_INFINITY;
  vectors[3 * DIM + 23] = Number.NEGATIVE_INFINITY;
  vectors.fill(0, 5 * DIM, 6 * DIM);
  await assert.rejects(space.add(range(200, 206), vectors), (error) => {
    assert.ok(error instanceof BadVectorError);
    assert.equal(error.code, 'bad_vector');
    assert.deepEqual(error.rows, [
      { row: 1, reason: 'nan' },
      { row: 2, reason: 'infinite' },
      { row: 3, reason: 'infinite' },
      { row: 5, reason: 'zero' },
    ]);
    return true;
  });
  for (const wrong of [vectors.subarray(0, 5 * DIM), new Float32Array(0), new Float32Array(7 * DIM).fill(1)]) {
    await assert.rejects(space.add(range(200, 206), wrong), BadVectorError);
  }
  assert.equal(space.stats().live, 100);
  await space.close();
});

test('a query that is no vector of the space is refused', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  await addAll(space, range(0, 100));
  for (const query of [
    new Float32Array(DIM),
    new Float32Array(DIM - 1).fill(1),
    new Float32Array(DIM).fill(Number.NaN),
  ]) {
    await assert.rejects(space.search(query, 5), BadVectorError);
    assert.throws(() => space.checkQuery(query), BadVectorError);
  }
  await space.close();
});

test('searches between the parts of a large add see no label twice and end with all of them', async () => {
  await using made = await spaceFixture(threads, { dim: 512 });
  const space = await open(made.options);
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
  await space.close();
});

test('after most labels were removed and others added three times, recall is that of a new space and no label repeats', async () => {
  const dim = 100;
  await using made = await spaceFixture(threads, { dim });
  await using freshMade = await spaceFixture(threads, { dim });
  const space = await open(made.options);
  let live = range(0, 5000);
  await space.add(live, vectorsOf(live, dim));
  await space.settled();
  for (let round = 1; round <= 3; round++) {
    space.remove(live.filter((label) => label % 10 !== 0));
    const next = range(round * 100_000, round * 100_000 + 4500);
    live = Uint32Array.from([...live.filter((label) => label % 10 === 0), ...next]);
    await space.add(next, vectorsOf(next, dim));
    await space.settled();
  }
  const fresh = await open(freshMade.options);
  await fresh.add(live, vectorsOf(live, dim));
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
  await space.close();
  await fresh.close();
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

test('rows of zeros are passed over where that is asked for, other bad rows are refused', async () => {
  await using made = await spaceFixture(threads);
  const space = await open(made.options);
  const vectors = vectorsOf(range(0, 6));
  vectors.fill(0, 5 * DIM, 6 * DIM);
  vectors.fill(0, 0, DIM);
  await space.add(range(0, 6), vectors, { passOverZeros: true });
  assert.deepEqual((await space.search(vectorOf(3), 10)).labels.sort(), range(1, 5));
  vectors[DIM] = Number.NaN;
  await assert.rejects(space.add(range(10, 16), vectors, { passOverZeros: true }), (error) => {
    assert.ok(error instanceof BadVectorError);
    assert.deepEqual(error.rows, [{ row: 1, reason: 'nan' }]);
    return true;
  });
  assert.equal(space.stats().live, 4);
  await space.close();
});
