import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { feedbackScores } from '../../../src/engine/rerank/feedback.ts';
import { rerank, WEIGHTS } from '../../../src/engine/rerank/rerank.ts';
import type { Candidates, CollectionStatistics, QueryWord } from '../../../src/engine/rerank/rerank-input.ts';
import { Scratch } from '../../../src/engine/rerank/scratch.ts';
import { stemBags } from '../../../src/engine/rerank/stem-bags.ts';
import { queryTerms, wordEvidence } from '../../../src/engine/rerank/word-evidence.ts';
import type { WordSimilarity } from '../../../src/engine/rerank/word-similarity.ts';
import { fixtureVectors } from '../../compute/embedding/word-vectors-fixture.ts';
import { plainWordSimilarity } from './plain-word-similarity.ts';

const similarity = plainWordSimilarity(fixtureVectors());

/** [word, times in the text, times in the title] of each candidate. */
type Bag = [word: number, body: number, title: number][];

/** Words 0 and 1 share stem 0; word n has stem n − 1 from there on. */
const STEMS = Uint32Array.of(0, 0, 1, 2, 3);

function candidatesOf(bags: readonly Bag[], given: Partial<Candidates> = {}): Candidates {
  const starts = Uint32Array.from({ length: bags.length + 1 }, (_, i) => bags.slice(0, i).flat().length);
  return {
    labels: Uint32Array.from(bags, (_, i) => 10 * (i + 1)),
    starts,
    words: Uint32Array.from(bags.flat(), ([word]) => word),
    bodyCounts: Uint8Array.from(bags.flat(), ([, body]) => body),
    titleCounts: Uint8Array.from(bags.flat(), ([, , title]) => title),
    table: { stems: STEMS, rows: new Int32Array(STEMS.length).fill(-1), stemCount: 4 },
    bm25f: bags.map(() => 0),
    cosine: null,
    wordCosine: null,
    outsideModel: false,
    ...given,
  };
}

const FREQUENCIES = [10, 50, 1, 1];
const statistics: CollectionStatistics = {
  docs: 100,
  meanLength: 4,
  meanTitleLength: 1,
  documentFrequency: (stem) => FREQUENCIES[stem],
};
const query: QueryWord[] = [{ word: 0, stem: 0, row: -1, count: 1, frequency: 10 }];
/** idf · (k1 + 1) of a stem of 10 in 100 chunks. */
const weight = 2.2 * Math.log(1 + 90.5 / 10.5);
const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} instead of ${expected}`);

test('each width counts its own kind of occurrence', () => {
  const candidates = candidatesOf([
    [
      [0, 2, 0],
      [2, 2, 0],
    ],
    [
      [1, 1, 1],
      [2, 1, 0],
    ],
  ]);
  const room = new Scratch();
  const { lengths } = stemBags(candidates, room);
  assert.deepEqual([...lengths], [4, 4]);
  const terms = queryTerms(query, statistics);
  const evidence = wordEvidence(query, terms, candidates, lengths, statistics, similarity, room);
  // At mean length the saturation is tf / (tf + 1.2).
  near(evidence.surface[0], (weight * 2) / 3.2);
  assert.equal(evidence.surface[1], 0);
  for (const width of [evidence.near, evidence.wide]) {
    near(width[0], (weight * 2) / 3.2);
    near(width[1], (weight * 3) / 4.2); // once in the text and twice for the title
  }
  assert.equal(evidence.title[0], 0);
  near(evidence.title[1], weight / 2.2);
});

test('a word near in meaning counts a part of an occurrence', () => {
  const alike: WordSimilarity = {
    pairs: (_rows, _others, least, found) => {
      [1, 0, 0.8, 0.39, 0].forEach((cosine, other) => {
        if (cosine >= least) found(0, other, cosine);
      });
    },
  };
  const candidates = candidatesOf([[[2, 4, 0]], [[3, 4, 0]]]);
  const terms = queryTerms(query, statistics);
  const room = new Scratch();
  const { lengths } = stemBags(candidates, room);
  const evidence = wordEvidence(query, terms, candidates, lengths, statistics, alike, room);
  const times = [4 * 0.8 ** 12, 4 * 0.8 ** 6];
  assert.ok(Math.abs(evidence.near[0] - (weight * times[0]) / (times[0] + 1.2)) < 1e-6);
  assert.ok(Math.abs(evidence.wide[0] - (weight * times[1]) / (times[1] + 1.2)) < 1e-6);
  assert.deepEqual([evidence.surface[0], evidence.title[0], evidence.near[1], evidence.wide[1]], [0, 0, 0, 0]);
});

test('feedback scores a chunk without a query word by the words of the best', () => {
  const candidates = candidatesOf([
    [
      [0, 1, 0],
      [3, 3, 0],
    ],
    [[3, 4, 0]],
    [[2, 4, 0]],
  ]);
  const terms = queryTerms(query, statistics);
  const first = Float64Array.of(1, 0, 0);
  const room = new Scratch();
  const scores = feedbackScores(terms, stemBags(candidates, room), first, statistics, room);
  // Voices 1, v, v; stem 2 (word 3) is in the first two, stem 1 (word 2) in the third.
  const voice = Math.exp(-1.5 / Math.sqrt(2 / 9));
  const idf = (df: number) => Math.log(1 + (100.5 - df) / (df + 0.5));
  const best = [idf(10), (1 + Math.log(3)) * idf(1)].map((x, _, all) => x / Math.hypot(...all));
  const feedback = [best[0], best[1] + voice, voice];
  const norm = Math.hypot(...feedback);
  const share = feedback.map((x) => (0.75 * x) / norm);
  near(scores[0], (1 + share[0]) / 2.2 + (share[1] * 3) / 4.2);
  near(scores[1], (share[1] * 4) / 5.2);
  near(scores[2], (share[2] * 4) / 5.2);
});

test('without candidates the result is empty, and without any fit all scores are 0', () => {
  assert.deepEqual(rerank(query, candidatesOf([]), statistics, similarity), new Float64Array(0));
  assert.deepEqual(rerank([], candidatesOf([[], []]), statistics, similarity), new Float64Array(2));
});

test('without a query word the dense side decides through the words of its best', () => {
  const bags: Bag[] = [[[2, 4, 0]], [[3, 4, 0]], [[4, 4, 0]]];
  const scores = rerank([], candidatesOf(bags, { cosine: [0.2, 0.9, 0.4] }), statistics, similarity);
  assert.deepEqual(
    Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a]),
    [1, 2, 0],
  );
});

const someBag = fc
  .uniqueArray(fc.tuple(fc.nat(4), fc.nat(5), fc.nat(2)), { selector: ([word]) => word, maxLength: 5 })
  .map((bag) => bag.filter(([, body, title]) => body + title > 0) as Bag);
const someCase = fc.record({
  candidates: fc.array(fc.record({ bag: someBag, bm25f: fc.nat(20), cosine: fc.integer({ min: -300, max: 1000 }) }), {
    maxLength: 12,
  }),
  query: fc.array(
    fc.record({
      word: fc.integer({ min: -1, max: 4 }),
      count: fc.integer({ min: 1, max: 4 }),
      row: fc.integer({ min: -1, max: 49 }),
    }),
    { maxLength: 5 },
  ),
  rows: fc.array(fc.integer({ min: -1, max: 49 }), { minLength: 5, maxLength: 5 }),
});
type Case = typeof someCase extends fc.Arbitrary<infer Value> ? Value : never;

function scoresOf(
  { candidates, query: words, rows }: Case,
  scale = 1,
  order = candidates.map((_, i) => i),
  room = new Scratch(),
): number[] {
  const chosen = order.map((i) => candidates[i]);
  const given = candidatesOf(
    chosen.map(({ bag }) => bag),
    {
      labels: Uint32Array.from(order, (i) => 10 * (i + 1)),
      bm25f: chosen.map(({ bm25f }) => bm25f * scale),
      cosine: chosen.map(({ cosine }) => (cosine / 1024) * scale),
      table: { stems: STEMS, rows: Int32Array.from(rows), stemCount: 4 },
    },
  );
  const asked = words.map(({ word, count, row }) => {
    const stem = word < 0 ? -1 : STEMS[word];
    return { word, stem, count, row, frequency: FREQUENCIES[stem] ?? 0 };
  });
  return [...rerank(asked, given, statistics, similarity, WEIGHTS, room)];
}

test('scores are between 0 and 1, and the best is 1 where anything fits', () => {
  fc.assert(
    fc.property(someCase, (each) => {
      const scores = scoresOf(each);
      assert.equal(scores.length, each.candidates.length);
      for (const score of scores) assert.ok(score >= 0 && score <= 1);
      const best = Math.max(0, ...scores);
      assert.ok(best === 0 || best === 1);
    }),
  );
});

test('neither the scale of the given scores nor the order of the candidates matters', () => {
  fc.assert(
    fc.property(someCase, fc.constantFrom(0.25, 8), fc.infiniteStream(fc.nat()), (each, scale, random) => {
      const expected = scoresOf(each);
      assert.deepEqual(scoresOf(each, scale), expected);
      const order = each.candidates.map((_, i) => ({ i, at: random.next().value ?? 0 })).sort((a, b) => a.at - b.at);
      const permuted = scoresOf(
        each,
        1,
        order.map(({ i }) => i),
      );
      for (const [place, { i }] of order.entries()) near(permuted[place], expected[i]);
    }),
  );
});

test('what other queries have left in the scratch changes no bit of a score', () => {
  const room = new Scratch();
  fc.assert(
    fc.property(someCase, (each) => {
      assert.deepEqual(scoresOf(each, 1, undefined, room), scoresOf(each));
    }),
  );
});

test('what the cosine says has a part in the final score, an outside model’s by way of the first pass', () => {
  const bags: Bag[] = [[[0, 3, 0]], [[0, 3, 0]], [[4, 3, 0]]];
  const given = { bm25f: [1, 1, 0], cosine: Float32Array.of(0.2, 0.9, 0.8) };
  const scoresOf = (model: Pick<Candidates, 'outsideModel' | 'wordCosine'>) => [
    ...rerank(query, candidatesOf(bags, { ...given, ...model }), statistics, similarity),
  ];
  const outside = scoresOf({ outsideModel: true, wordCosine: null });
  // Null also of the embedded model: the word vectors may know no word of the query.
  const embedded = scoresOf({ outsideModel: false, wordCosine: null });
  for (const scores of [outside, embedded]) {
    assert.equal(scores[1], 1);
    assert.ok(scores[0] < 1, 'of two passages with the same words the one nearer in meaning is first');
    assert.ok(scores[2] > 0 && scores[2] < scores[0], 'a passage that is near without any word of it has a score');
  }
  assert.notDeepEqual(outside, embedded);
});

test('where the embedded model does not know the language, BM25F decides, and feedback between passages that are alike by it', () => {
  const bags: Bag[] = [
    [[0, 3, 0]],
    [
      [0, 3, 0],
      [2, 1, 0],
    ],
    [[2, 3, 0]],
  ];
  const given = { bm25f: [1, 0.7, 0.7], cosine: Float32Array.of(0.1, 0.9, 0.9), isForeign: true };
  const scores = rerank(query, candidatesOf(bags, given), statistics, similarity, { ...WEIGHTS, neighbours: 0 });
  assert.equal(scores[0], 1);
  assert.ok(scores[1] < 1 && scores[1] > scores[2]);
  const withoutCosine = rerank(query, candidatesOf(bags, { ...given, cosine: null }), statistics, similarity, {
    ...WEIGHTS,
    neighbours: 0,
  });
  for (const [i, score] of scores.entries()) assert.ok(Math.abs(score - withoutCosine[i]) < 1e-5);
});

test('passages without a word of a query in such a language are ordered by their cosine', () => {
  const given = { bm25f: [0, 0, 0], cosine: Float32Array.of(0.1, 0.9, 0.5), isForeign: true };
  const bags: Bag[] = [[[2, 1, 0]], [[2, 1, 0]], [[2, 1, 0]]];
  const scores = rerank(query, candidatesOf(bags, given), statistics, similarity);
  assert.ok(scores[1] > scores[2] && scores[2] > scores[0], String(scores));
});
