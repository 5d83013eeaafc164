/** What retrieval makes of what both sides found; with real threads it is in search-index.test.ts and in the service's tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBit, createBitmap } from '../../src/compute/structures/bitmap.ts';
import { type Retrieval, type RetrievalParts, rerankedOrder, retrieve } from '../../src/engine/retrieve.ts';
import { type SearcherPool, Searchers } from '../../src/engine/searchers.ts';

const analyzed = {
  forms: [{ stem: 'ant', of: 0, row: -1 }],
  vector: Float32Array.of(1, 0),
  wordPart: null,
  knownWords: 1,
  corrected: [],
  language: 'en',
  denseWeight: 1,
};
const hits = (...labels: number[]) => ({
  labels: Uint32Array.from(labels),
  scores: Float64Array.from(labels, (_, at) => 1 - at / 10),
});
const labelSet = (label: number) => {
  const set = createBitmap(64);
  addBit(set, label);
  return set;
};

/** Parts whose threads answer as told; `asked`: with what each was. */
function partsOf(answers: {
  found?: unknown;
  beside?: unknown[];
  judge?: () => unknown;
  near?: ReturnType<typeof hits>;
}) {
  const asked: [name: string, argument: unknown][] = [];
  const errors: string[] = [];
  const { found = { ...hits(1, 2), known: 1 }, beside = [], near = hits(2, 3) } = answers;
  const pool: SearcherPool = {
    run: async (name: string, argument: unknown) => {
      asked.push([name, argument]);
      const { judge = () => ({ relevance: null, scores: null }) } = answers;
      return (name === 'find' ? { analyzed, found, beside, searchMs: 1 } : judge()) as never;
    },
    inTurn: (piece) => piece(),
    queued: 0,
    load: 0,
  };
  const log = { info: () => {}, warn: () => {}, error: (_: object, message: string) => void errors.push(message) };
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
    log,
    monotonic: () => 0,
  };
  return { parts, asked, errors };
}

const plain: Retrieval = {
  query: 'ant',
  spelling: true,
  dim: 2,
  k: 5,
  floor: null,
  rrfK: 60,
  wants: { order: false, relevance: false },
};

test('the best of further sets of labels are candidates, each label once, on the sides that look into the set', async () => {
  const { parts, asked } = partsOf({ beside: [{ labels: Uint32Array.of(9, 2), scores: [2, 0.9], known: 1 }] });
  const set = labelSet(9);
  const { sparse, dense, stems } = await retrieve(parts, { ...plain, beside: { words: [set], vectors: [] } });
  assert.deepEqual([...sparse.labels], [9, 1, 2]);
  assert.deepEqual(Array.from(sparse.scores), [2, 1, 0.9]);
  assert.deepEqual([[...dense.labels], stems], [[2, 3], ['ant']]);
  assert.deepEqual(
    asked.map(([name]) => name),
    ['find', 'near'],
  );
});

test('nothing near counts where neither side knows a word of the query, unless an outside model does', async () => {
  const unknown = { found: { ...hits(), known: 0 } };
  const parts = (knownWords: number) => {
    const made = partsOf(unknown);
    Object.assign(analyzed, { knownWords });
    return made.parts;
  };
  const nobody = await retrieve(parts(0), plain);
  assert.deepEqual([nobody.known, nobody.dense.labels.length], [false, 0]);
  const model = await retrieve(parts(1), plain);
  assert.deepEqual([model.known, [...model.dense.labels]], [true, [2, 3]]);
  const outside = await retrieve(parts(0), { ...plain, dim: null, outside: Promise.resolve(Float32Array.of(0, 1)) });
  assert.deepEqual([outside.known, [...outside.dense.labels]], [true, [2, 3]]);
  const none = await retrieve(parts(0), { ...plain, dim: null, outside: Promise.resolve(null) });
  assert.deepEqual([none.known, none.dense.labels.length], [false, 0]);
  Object.assign(analyzed, { knownWords: 1 });
});

test('vectors below the floor are not asked for, and a model that fails fails the search', async () => {
  const { parts, asked } = partsOf({});
  await retrieve(parts, { ...plain, floor: 0.3, allow: labelSet(2) });
  const labels = new Uint32Array(0);
  const near = { vectors: [analyzed.vector], k: 5, minScore: 0.3, among: [labelSet(2)], labels };
  assert.deepEqual(asked[1], ['near', near]);
  const failing = { ...plain, dim: null, outside: Promise.reject(new Error('gone')) };
  await assert.rejects(retrieve(parts, failing), /gone/);
});

test('candidates are judged with their cosines, which those of the words are asked for, too; what has no vector has none', async () => {
  const { parts, asked } = partsOf({});
  await retrieve(parts, { ...plain, wants: { order: false, relevance: true } });
  assert.deepEqual(
    asked.flatMap(([name, argument]) => (name === 'near' ? [(argument as { labels: Uint32Array }).labels] : [])),
    [Uint32Array.of(1, 2)],
  );
  const { candidates } = asked[2][1] as { candidates: { labels: Uint32Array; cosine: Float32Array } };
  assert.deepEqual([...candidates.labels], [2, 1, 3]);
  assert.deepEqual(candidates.cosine, Float32Array.of(0.2, Number.NaN, 0.3));
});

test('what was judged is aligned with its labels, and candidates are answered where they could not be judged', async () => {
  const wants = { order: true, relevance: true };
  const judged = partsOf({
    judge: () => ({ scores: Float64Array.of(3, 4), relevance: Float64Array.of(0.5, 0.6, 0.7) }),
  });
  const { reranked, relevance } = await retrieve(judged.parts, { ...plain, wants });
  assert.deepEqual(reranked, { labels: Uint32Array.of(2, 1), scores: Float64Array.of(3, 4) });
  assert.deepEqual(relevance, { labels: Uint32Array.of(2, 1, 3), scores: Float64Array.of(0.5, 0.6, 0.7) });
  const failing = partsOf({
    judge: () => {
      throw new Error('thread lost');
    },
  });
  const unjudged = await retrieve(failing.parts, { ...plain, wants });
  assert.deepEqual([unjudged.reranked, unjudged.relevance, [...unjudged.sparse.labels]], [null, null, [1, 2]]);
  assert.deepEqual(failing.errors, ['the candidates could not be judged: the fused order is answered']);
});

test('what was not reranked stays, below what was', () => {
  const fused = [4, 5, 6, 7].map((label, at) => ({ label, score: 1 - at / 10 }));
  const some = { labels: Uint32Array.of(4, 5), scores: Float64Array.of(-2, 3) };
  assert.deepEqual(
    rerankedOrder(some, fused).map(({ label }) => label),
    [5, 4, 6, 7],
  );
  const all = { labels: Uint32Array.of(4, 5, 6, 7), scores: Float64Array.of(1, 1, 2, 0) };
  assert.deepEqual(rerankedOrder(all, fused), [
    { label: 6, score: 2 },
    { label: 4, score: 1 },
    { label: 5, score: 1 },
    { label: 7, score: 0 },
  ]);
});
