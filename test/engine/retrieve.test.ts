/** What retrieval makes of what both sides find; with real threads it is in search-index.test.ts and in the service's tests. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBit, type Bitmap, createBitmap } from '../../src/compute/structures/bitmap.ts';
import { slotFor } from '../../src/engine/query-slot.ts';
import { nearnessOf, relevance } from '../../src/engine/relevance.ts';
import { type Retrieval, type RetrievalParts, retrieve } from '../../src/engine/retrieve.ts';
import { VectorRows } from '../../src/engine/vectors/vector-rows.ts';
import type { SparseResult } from '../../src/engine/words/sparse-searcher.ts';
import { deferred } from '../deferred.ts';

const analyzed = { forms: [{ stem: 'ant', of: 0 }], corrected: [], language: 'en' };
const hits = (...labels: number[]) => ({
  labels: Uint32Array.from(labels),
  scores: Float64Array.from(labels, (_, at) => 1 - at / 10),
  covered: new Float64Array(labels.length),
});
const setOf = (...labels: number[]) => {
  const set = createBitmap(64);
  for (const label of labels) addBit(set, label);
  return set;
};

/** Cosines of the rows with the query's vector. */
const cosineOf: Record<number, number> = { 2: 0.8, 3: 0.6, 8: 0.2 };
const rows = VectorRows.create(2);
for (const [label, cosine] of Object.entries(cosineOf)) {
  rows.append(Number(label), Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2)), 0);
}
const isNear = (actual: ArrayLike<number> | null | undefined, expected: number[]) => {
  assert.equal(actual?.length, expected.length);
  for (const [at, value] of expected.entries()) {
    const found = actual?.[at] ?? Number.NaN;
    assert.ok(Number.isNaN(value) ? Number.isNaN(found) : Math.abs(found - value) < 0.005, `${found}, not ${value}`);
  }
};

/** Words find what `found` says of a filter; a search may be watched. */
function partsOf(found: (allow?: Bitmap) => SparseResult = () => hits(1, 2), searched = () => {}): RetrievalParts {
  const search = ({ allow }: { allow?: Bitmap | undefined }) => {
    searched();
    return found(allow);
  };
  return { sparse: { search, corpus: [] }, analyze: () => analyzed, rows: { rows, graph: null } };
}

const asking = (vector: Promise<Float32Array | null>, floor: number | null = null) => ({
  rows: 1,
  vector: slotFor(vector, 2),
  floor,
});
const plain = (changes: Partial<Retrieval> = {}): Retrieval => ({
  query: 'ant',
  prefix: false,
  spelling: true,
  vectors: asking(Promise.resolve(Float32Array.of(1, 0))),
  k: 5,
  relevance: false,
  ...changes,
});

test('the best of further sets of labels are candidates, each label once, on the sides that look into the set', async () => {
  const ofWords = setOf(2, 9);
  const ofVectors = setOf(2, 8);
  const parts = partsOf((allow) =>
    allow === ofWords
      ? { labels: Uint32Array.of(9, 2), scores: Float64Array.of(2, 0.9), covered: new Float64Array(2) }
      : hits(1, 2),
  );
  const vectors = { ...asking(Promise.resolve(Float32Array.of(1, 0))), alsoAmong: [ofVectors] };
  const { sparse, dense, stems } = await retrieve(parts, plain({ alsoAmong: [ofWords], vectors, k: 2 }));
  assert.deepEqual([...sparse.labels], [9, 1, 2]);
  assert.deepEqual(Array.from(sparse.scores), [2, 1, 0.9]);
  assert.deepEqual([[...dense.labels], stems], [[2, 3, 8], ['ant']]);
  isNear(dense.scores, [0.8, 0.6, 0.2]);
});

test('words are searched while the vector of the query is made', async () => {
  const made: string[] = [];
  const letGo = deferred<Float32Array>();
  const vector = letGo.promise.finally(() => made.push('vector'));
  const parts = partsOf(undefined, () => {
    made.push('words');
    letGo.resolve(Float32Array.of(1, 0));
  });
  const { dense } = await retrieve(parts, plain({ vectors: asking(vector) }));
  assert.equal([...made, ...dense.labels].join(), 'words,vector,2,3,8');
});

test('what is near counts where no word of the query is known, and nothing where the query has no vector', async () => {
  const parts = partsOf(() => hits());
  const near = await retrieve(parts, plain());
  assert.deepEqual([[...near.sparse.labels], [...near.dense.labels], near.cosines?.length], [[], [2, 3, 8], 0]);
  for (const vectors of [null, asking(Promise.resolve(null)), asking(Promise.reject(new Error('gone')))]) {
    const none = await retrieve(parts, plain({ vectors }));
    assert.deepEqual([[...none.sparse.labels], [...none.dense.labels], none.cosines], [[], [], null]);
  }
  const without = await retrieve({ ...partsOf(), rows: null }, plain());
  assert.deepEqual([[...without.sparse.labels], without.cosines], [[1, 2], null], 'a model without rows');
});

test('vectors below the floor are no hits, nor are those that are not allowed', async () => {
  const vectors = asking(Promise.resolve(Float32Array.of(1, 0)), 0.3);
  assert.deepEqual([...(await retrieve(partsOf(), plain({ vectors }))).dense.labels], [2, 3]);
  assert.deepEqual([...(await retrieve(partsOf(), plain({ vectors, allow: setOf(3, 8) }))).dense.labels], [3]);
});

test('what words found has its cosine, also below the floor, and NaN without a vector', async () => {
  const vectors = asking(Promise.resolve(Float32Array.of(1, 0)), 0.3);
  const parts = partsOf(() => hits(1, 2, 8));
  const { cosines, relevance } = await retrieve(parts, plain({ vectors }));
  isNear(cosines, [Number.NaN, 0.8, 0.2]);
  assert.equal(relevance, null);
});

test('each candidate has the relevance of its words and its cosine', async () => {
  const among = setOf(9);
  const parts = partsOf((allow) =>
    allow === among
      ? { ...hits(9), covered: Float64Array.of(0.25) }
      : { ...hits(1, 2), covered: Float64Array.of(1, 0.5) },
  );
  const vectors = asking(Promise.resolve(Float32Array.of(1, 0)), 0.1);
  const asked = plain({ alsoAmong: [among], vectors, relevance: true });
  const { relevance: judged, covered, dense } = await retrieve(parts, asked);
  const cosines = new Map(Array.from(dense.labels, (label, at) => [label, dense.scores[at]]));
  const expected = (label: number, words: number) => {
    const nearness = nearnessOf(cosines.get(label) ?? Number.NaN, 0.1);
    return [label, relevance({ covered: words, nearness })] as const;
  };
  assert.equal(covered, 1);
  const found = new Map(Array.from(judged?.labels ?? [], (label, at) => [label, judged?.scores[at]]));
  const all = [expected(1, 1), expected(2, 0.5), expected(3, 0), expected(8, 0), expected(9, 0.25)];
  assert.deepEqual(found, new Map(all));
});
