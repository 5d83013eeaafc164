import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomStream } from '../../../bench/workload.ts';
import { TopK } from '../../../src/compute/structures/top-k.ts';
import { type Look, offerNearest, offerNearestFrom } from '../../../src/engine/vectors/nearest-rows.ts';
import { VectorRows } from '../../../src/engine/vectors/vector-rows.ts';
import { nearest, range, recall, vectorOf } from './space-harness.ts';

const ROWS = 9000;
const HITS = 50;
const exact = { minScore: -1, rough: false };

for (const dim of [100, 512]) {
  test(`the first look at ${dim} dimensions passes on what is near, of a list and of all rows from one on`, () => {
    const rows = new VectorRows(dim);
    for (let label = 0; label < ROWS; label++) rows.append(label, vectorOf(label, dim), 0);
    for (const label of [50_000, 50_001]) {
      const query = vectorOf(label, dim);
      rows.setQuery(query);
      for (const near of [rows.shortlist(range(0, ROWS), 1200), rows.shortlistFrom(0, 1200)]) {
        assert.ok(near !== undefined && near.length < 1500);
      }
      for (const from of [0, 500]) {
        const truth = nearest(query, range(from, ROWS), HITS);
        const ways = {
          list: (top: TopK<Float32Array>) => offerNearest(rows, range(from, ROWS), exact, top),
          range: (top: TopK<Float32Array>) => offerNearestFrom(rows, from, exact, top),
        };
        for (const [way, offer] of Object.entries(ways)) {
          const top = new TopK(new Float32Array(HITS));
          offer(top);
          const { labels, scores } = top.take();
          assert.ok(recall(labels, truth) >= 0.94, `${way} from ${from}: recall ${recall(labels, truth)}`);
          assert.ok(Math.abs(scores[0] - truth[0].score) < 0.01);
        }
      }
    }
  });
}

test('a rough look scores few rows and has most of the nearest', () => {
  const DIM = 512;
  const rows = new VectorRows(DIM);
  for (let label = 0; label < ROWS; label++) rows.append(label, vectorOf(label, DIM), 0);
  const found = [50_000, 50_001, 50_002, 50_003].map((label) => {
    const { labels, scored } = search(rows, vectorOf(label, DIM), 12, { minScore: -1, rough: true });
    assert.ok(scored < 250, `${scored} rows were scored`);
    return recall(labels, nearest(vectorOf(label, DIM), range(0, ROWS), 12));
  });
  const mean = found.reduce((sum, each) => sum + each, 0) / found.length;
  assert.ok(mean >= 0.75, `recall ${mean}`);
});

test('of few rows all are scored, from the one on that is named', () => {
  const rows = new VectorRows(64);
  for (let label = 0; label < 300; label++) rows.append(label, vectorOf(label, 64), 0);
  rows.erase(250);
  rows.setQuery(vectorOf(7, 64));
  const top = new TopK(new Float32Array(300));
  offerNearestFrom(rows, 200, exact, top);
  assert.deepEqual(
    [...top.take().labels].sort((a, b) => a - b),
    [...range(200, 250), ...range(251, 300)],
  );
});

/** The best k of all rows, and how many of them were scored. */
function search(rows: VectorRows, query: Float32Array, k: number, look: Look = exact) {
  let scored = 0;
  const score = rows.score.bind(rows);
  rows.score = (some, scores) => {
    scored += some.length;
    score(some, scores);
  };
  rows.setQuery(query);
  const top = new TopK(new Float32Array(k));
  offerNearestFrom(rows, 0, look, top);
  rows.score = score;
  return { ...top.take(), scored };
}

test('a query with clear answers ends after a layer that brings nothing, one without goes on; removed rows are not found', () => {
  const DIM = 100;
  const NEAR = 60;
  const random = randomStream(42, 1, 1);
  const centre = vectorOf(50_000, DIM);
  const at = (share: number) => centre.map((value) => share * value + 0.2 * (random() - 0.5));
  const rows = new VectorRows(DIM);
  // Every 150th row is near the centre, the others lie around the origin.
  for (let label = 0; label < ROWS; label++) rows.append(label, at(label % 150 === 0 ? 1 : 0), 0);
  const clear = search(rows, centre, HITS);
  assert.equal(clear.scored, 2 * 300);
  assert.ok(clear.labels.every((label) => label % 150 === 0));
  const unclear = search(rows, at(0), HITS);
  assert.ok(unclear.scored > clear.scored && unclear.scored < ROWS / 2, `${unclear.scored}`);

  const [best] = clear.labels;
  rows.erase(best);
  const without = search(rows, centre, NEAR);
  assert.equal(without.labels.length, NEAR);
  assert.ok(!without.labels.includes(best));
  assert.deepEqual(
    [...without.labels.filter((label) => label % 150 === 0)].sort((a, b) => a - b),
    [...range(0, ROWS)].filter((label) => label % 150 === 0 && label !== best),
  );
  // A floor takes away what is below it, and nothing else.
  const floor = without.scores[20];
  const above = search(rows, centre, NEAR, { minScore: floor, rough: false });
  assert.deepEqual([...above.labels], [...without.labels.subarray(0, 21)]);
  assert.deepEqual([...search(rows, centre, NEAR, { minScore: 1, rough: false }).labels], []);
});

test('more hits take longer layers, and as many as a layered list would hold take all rows', () => {
  const DIM = 64;
  const rows = new VectorRows(DIM);
  for (let label = 0; label < ROWS; label++) rows.append(label, vectorOf(label, DIM), 0);
  const query = vectorOf(50_000, DIM);
  const truth = nearest(query, range(0, ROWS), 700);
  const many = search(rows, query, 700);
  assert.ok(many.scored < ROWS);
  assert.ok(recall(many.labels, truth) >= 0.94, `${recall(many.labels, truth)}`);
  for (const k of [1000, ROWS]) assert.equal(search(rows, query, k).scored, ROWS);
  assert.deepEqual(
    [...search(rows, query, ROWS).labels].sort((a, b) => a - b),
    [...range(0, ROWS)],
  );
});

test('of vectors too short for codes every row is scored, however many hits the first ones bring', () => {
  const DIM = 8;
  const rows = new VectorRows(DIM);
  for (let label = 0; label < ROWS; label++) rows.append(label, vectorOf(label, DIM), 0);
  const query = vectorOf(50_000, DIM);
  const found = search(rows, query, HITS);
  assert.equal(found.scored, ROWS);
  assert.ok(recall(found.labels, nearest(query, range(0, ROWS), HITS)) >= 0.9);
});
