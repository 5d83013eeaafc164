import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offerNearest } from '../../src/threads/nearest-rows.ts';
import { TopList } from '../../src/threads/top-list.ts';
import { VectorRows } from '../../src/threads/vector-rows.ts';
import { nearest, range, recall, vectorOf } from '../index/space-harness.ts';

const ROWS = 9000;
const DIM = 512;

test('the first look at long rows passes on what is near', () => {
  const rows = new VectorRows(DIM);
  for (let label = 0; label < ROWS; label++) rows.append(label, vectorOf(label, DIM), 0);
  const all = range(0, ROWS);
  for (const label of [50_000, 50_001, 50_002]) {
    const query = vectorOf(label, DIM);
    rows.setQuery(query);
    assert.ok(rows.shortlist(all, 1200).length < 1500);
    const top = new TopList(50);
    offerNearest(rows, all, -1, top);
    const { labels, scores } = top.take();
    const truth = nearest(query, all, 50);
    assert.ok(recall(labels, truth) >= 0.96, `recall ${recall(labels, truth)}`);
    assert.ok(Math.abs(scores[0] - truth[0].score) < 0.005);
  }
});
