/** What retrieval makes of what both sides found; with real threads it is in search-index.test.ts and in the service's tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBit, createBitmap } from '../../src/compute/structures/bitmap.ts';
import { nearnessOf, relevance } from '../../src/engine/relevance.ts';
import { type Retrieval, type RetrievalParts, retrieve } from '../../src/engine/retrieve.ts';
import { type SearcherPool, Searchers } from '../../src/engine/searchers.ts';

const analyzed = {
  forms: [{ stem: 'ant', of: 0 }],
  corrected: [],
  language: 'en',
};
const vector = Float32Array.of(1, 0);
const hits = (...labels: number[]) => ({
  labels: Uint32Array.from(labels),
  scores: Float64Array.from(labels, (_, at) => 1 - at / 10),
  covered: new Float64Array(labels.length),
});
const labelSet = (label: number) => {
  const set = createBitmap(64);
  addBit(set, label);
  return set;
};

/** Parts whose threads answer as told; `asked`: with what each was. */
function partsOf(answers: { found?: unknown; alsoAmong?: unknown[]; near?: ReturnType<typeof hits> }) {
  const asked: [name: string, argument: unknown][] = [];
  const { found = hits(1, 2), alsoAmong = [], near = hits(2, 3) } = answers;
  const pool: SearcherPool = {
    run: async (name: string, argument: unknown) => {
      asked.push([name, argument]);
      return { analyzed, found, alsoAmong, searchMs: 1 } as never;
    },
    inTurn: (piece) => piece(),
    queued: 0,
    load: 0,
  };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const parts: RetrievalParts = {
    searchers: new Searchers([pool], 'one', async () => {}, log),
    vectors: {
      candidates: async (given) => {
        asked.push(['near', given]);
        const found = { labels: near.labels, scores: Float32Array.from(near.scores) };
        const none = { labels: new Uint32Array(0), scores: new Float32Array(0) };
        const cosines = given.vectors.map(() => Float32Array.from(near.labels, (label) => label / 10));
        return { found: given.among.map((_, at) => (at === 0 ? found : none)), labels: near.labels, cosines };
      },
    },
    monotonic: () => 0,
  };
  return { parts, asked };
}

const plain: Retrieval = {
  query: 'ant',
  spelling: true,
  vector: Promise.resolve(vector),
  k: 5,
  floor: null,
  relevance: false,
};

test('the best of further sets of labels are candidates, each label once, on the sides that look into the set', async () => {
  const { parts, asked } = partsOf({
    alsoAmong: [{ labels: Uint32Array.of(9, 2), scores: [2, 0.9], covered: [0, 0] }],
  });
  const set = labelSet(9);
  const { sparse, dense, stems } = await retrieve(parts, { ...plain, alsoAmong: { words: [set], vectors: [] } });
  assert.deepEqual([...sparse.labels], [9, 1, 2]);
  assert.deepEqual(Array.from(sparse.scores), [2, 1, 0.9]);
  assert.deepEqual([[...dense.labels], stems], [[2, 3], ['ant']]);
  assert.deepEqual(
    asked.map(([name]) => name),
    ['find', 'near'],
  );
});

test('what is near counts where no word of the query is known, and nothing where the query has no vector', async () => {
  const near = await retrieve(partsOf({ found: hits() }).parts, plain);
  assert.deepEqual([[...near.sparse.labels], [...near.dense.labels], near.cosines?.length], [[], [2, 3], 0]);
  const none = await retrieve(partsOf({ found: hits() }).parts, { ...plain, vector: Promise.resolve(null) });
  assert.deepEqual([[...none.sparse.labels], [...none.dense.labels], none.cosines], [[], [], null]);
});

test('vectors below the floor are not asked for, and a model that fails fails the search', async () => {
  const { parts, asked } = partsOf({});
  await retrieve(parts, { ...plain, floor: 0.3, allow: labelSet(2) });
  const labels = Uint32Array.of(1, 2);
  const near = { vectors: [vector], k: 5, minScore: 0.3, among: [labelSet(2)], labels };
  assert.deepEqual(asked[1], ['near', near]);
  const failing = { ...plain, vector: Promise.reject(new Error('gone')) };
  await assert.rejects(retrieve(parts, failing), /gone/);
});

test('what words found has its cosine, NaN without a vector', async () => {
  const { cosines, relevance } = await retrieve(partsOf({}).parts, plain);
  assert.deepEqual([cosines, relevance], [Float32Array.of(Number.NaN, 0.2), null]);
});

test('each candidate has the relevance of its words and its cosine', async () => {
  const found = { ...hits(1, 2), covered: Float64Array.of(1, 0.5) };
  const alsoAmong = [{ ...hits(9), covered: Float64Array.of(0.25) }];
  const { relevance: judged } = await retrieve(partsOf({ found, alsoAmong }).parts, { ...plain, relevance: true });
  const near = (label: number) => Math.fround(label / 10);
  const expected = new Map([
    [1, relevance({ covered: 1, nearness: nearnessOf(Number.NaN, null) })],
    [2, relevance({ covered: 0.5, nearness: near(2) })],
    [3, relevance({ covered: 0, nearness: Math.fround(0.9) })],
    [9, relevance({ covered: 0.25, nearness: nearnessOf(Number.NaN, null) })],
  ]);
  assert.deepEqual(new Map(Array.from(judged?.labels ?? [], (label, at) => [label, judged?.scores[at]])), expected);
});
