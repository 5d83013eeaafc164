import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createBitmap } from '../../src/compute/structures/bitmap.ts';
import { slotFor } from '../../src/engine/query-slot.ts';
import { Searchers } from '../../src/engine/searchers.ts';
import { VectorSpace } from '../../src/engine/vectors/vector-space.ts';
import { createMember, labelSegment } from '../../src/engine/words/segment.ts';
import { DIM, openSpaceThreads, range, spaceFixture, vectorOf, vectorsOf } from '../engine/vectors/space-harness.ts';
import { buildSegment } from '../engine/words/small-corpus.ts';
import { documentOf, wordsOnly } from '../engine/words/sparse-harness.ts';

const threads = openSpaceThreads();
after(() => threads.close());

test('a search that waits for its vector holds up no other task of its thread, and has the rows that were there when it came', async () => {
  await using made = await spaceFixture(threads);
  const { log } = made.options;
  const searchers = new Searchers(threads.searchers.slice(0, 1), 'waiting', log);
  const segment = buildSegment([documentOf('heron'), documentOf('egret')]);
  labelSegment(segment, Uint32Array.of(30, 31));
  await searchers.publish([createMember(1, segment)]);
  const { space } = await VectorSpace.open({ ...made.options, searchers }, createBitmap(0));
  await space.add(range(0, 600), vectorsOf(range(0, 600)));
  const found: string[] = [];
  const find = async (query: string, vector: Promise<Float32Array | null>) => {
    const vectors = { rows: space.rows, vector: slotFor(vector, DIM), floor: null };
    const { sparse, dense } = await searchers.find({ ...wordsOnly, query, k: 1, vectors });
    found.push(query);
    return [sparse.labels[0], dense.labels[0]];
  };
  let letGo: (vector: Float32Array) => void = () => {};
  const vector = new Promise<Float32Array>((resolve) => {
    letGo = resolve;
  });
  const waiting = find('heron', vector);
  assert.deepEqual(await find('egret', Promise.resolve(vectorOf(7))), [31, 7]);
  assert.equal((await space.search(vectorOf(9), 1)).labels[0], 9);
  // The rows are copied to other memory, and the thread is told so.
  space.remove(range(100, 500));
  await space.settled();
  assert.equal(space.stats().deleted, 0);
  letGo(vectorOf(5));
  assert.deepEqual(await waiting, [30, 5]);
  assert.deepEqual(found, ['egret', 'heron']);
  await space.close();
});
