/** Segments large enough for the search to set thresholds, drop candidates and take both ways of looking up. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { openWorkload, randomStream } from '../../../bench/workload.ts';
import { addBit, createBitmap, hasBit } from '../../../src/compute/structures/bitmap.ts';
import { type CorpusSegment, corpusSegment, planQuery } from '../../../src/engine/words/corpus.ts';
import { mergeSegments } from '../../../src/engine/words/merge-segments.ts';
import { createScratch, searchSegments } from '../../../src/engine/words/search-segments.ts';
import { createDeletions, markDeleted } from '../../../src/engine/words/segment.ts';
import { eachAWord, firstHits, referenceHits, type SparseDocument, segmentOf } from './small-corpus.ts';

const workload = openWorkload({ seed: 7, wordsPerChunk: 60 });
const SIZES = [2500, 1200, 300];
const documents = new Map<number, SparseDocument>();
const corpus: CorpusSegment[] = [];
const scratch = createScratch();

before(() => {
  const random = randomStream(7, 0, 0);
  for (const size of SIZES) {
    const first = documents.size * 2;
    const members = new Map<number, SparseDocument>();
    for (let i = 0; i < size; i++) {
      members.set(first + i, { title: [], section: [], body: workload.chunkWords(first + i) });
    }
    const segment = mergeSegments([{ segment: segmentOf(members), deletions: createDeletions(size) }]);
    const deletions = createDeletions(size);
    for (const [label, document] of members) {
      if (random() < 0.1) markDeleted(deletions, label - first, segment.lengths[label - first]);
      else documents.set(label, document);
    }
    corpus.push(corpusSegment(first, segment, deletions));
  }
});

const shapes = [
  { name: 'rare and common words', words: (i: number) => workload.query(i).words },
  { name: 'common words only', words: (i: number) => workload.chunkWords(100_000 + i).slice(0, 2) },
  { name: 'a whole chunk', words: (i: number) => workload.chunkWords(100_000 + i) },
];

for (const { name, words } of shapes) {
  test(`queries of ${name} give the first hits of scoring every document`, () => {
    for (let i = 0; i < 12; i++) {
      const all = referenceHits(documents, words(i));
      for (const k of [1, 10, 100]) {
        assert.deepEqual(searchSegments(corpus, planQuery(corpus, eachAWord(words(i))), k, scratch), firstHits(all, k));
      }
    }
  });
}

test('with a filter the hits are the first of those it allows', () => {
  const random = randomStream(8, 0, 0);
  for (const share of [0.5, 0.02]) {
    const allow = createBitmap(4000);
    for (let label = 0; label < 4000; label++) if (random() < share) addBit(allow, label);
    for (let i = 0; i < 8; i++) {
      const { words } = workload.query(i);
      const { labels, scores } = referenceHits(documents, words);
      const allowed = (_: number, at: number) => hasBit(allow, labels[at]);
      const expected = { labels: labels.filter(allowed), scores: scores.filter(allowed) };
      const found = searchSegments(corpus, planQuery(corpus, eachAWord(words)), 10, scratch, allow);
      assert.deepEqual(found, firstHits(expected, 10));
    }
  }
});

test('a query of more terms than are weighed keeps the rarest', () => {
  const chunks = Array.from({ length: 12 }, (_, i) => workload.chunkWords(i));
  const words = [...new Set([...workload.chunkWords(1), ...chunks.flat()])];
  const plan = planQuery(corpus, eachAWord([...words, 'nobody', 'nothing']));
  assert.equal(plan.terms.length, 256);
  assert.ok(words.length > 256);
  const rarest = plan.terms.map(({ term }) => term);
  assert.deepEqual(searchSegments(corpus, plan, 10, scratch), firstHits(referenceHits(documents, rarest), 10));
});
