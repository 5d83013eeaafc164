import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offerNearest, offerNearestFrom } from '../../src/threads/nearest-rows.ts';
import { TopList } from '../../src/threads/top-list.ts';
import { VectorRows } from '../../src/threads/vector-rows.ts';
import { nearest, range, recall, vectorOf } from '../index/space-harness.ts';

const ROWS = 9000;
const HITS = 50;

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
          list: (top: TopList) => offerNearest(rows, range(from, ROWS), -1, top),
          range: (top: TopList) => offerNearestFrom(rows, from, -1, top),
        };
        for (const [way, offer] of Object.entries(ways)) {
          const top = new TopList(HITS);
          offer(top);
          const { labels, scores } = top.take();
          assert.ok(recall(labels, truth) >= 0.94, `${way} from ${from}: recall ${recall(labels, truth)}`);
          assert.ok(Math.abs(scores[0] - truth[0].score) < 0.01);
        }
      }
    }
  });
}

test('of few rows all are scored, from the one on that is named', () => {
  const rows = new VectorRows(64);
  for (let label = 0; label < 300; label++) rows.append(label, vectorOf(label, 64), 0);
  rows.erase(250);
  rows.setQuery(vectorOf(7, 64));
  const top = new TopList(300);
  offerNearestFrom(rows, 200, -1, top);
  assert.deepEqual(
    [...top.take().labels].sort((a, b) => a - b),
    [...range(200, 250), ...range(251, 300)],
  );
});
