/**
 * A filter gives what filtering afterwards over everything gives: for the sparse side, the dense side by exact scan, and their
 * fusion exactly, over any corpus, deletions and share of labels allowed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fuseRrf } from '../../src/compute/ranking/fuse-rrf.ts';
import { addBit, type Bitmap, createBitmap, hasBit } from '../../src/compute/structures/bitmap.ts';
import { nearestTo } from '../../src/engine/vectors/row-search.ts';
import { VectorRows } from '../../src/engine/vectors/vector-rows.ts';
import { corpusSegment, planQuery } from '../../src/engine/words/corpus.ts';
import { createScratch, searchSegments } from '../../src/engine/words/search-segments.ts';
import { createDeletions, markDeleted, ordinalOf } from '../../src/engine/words/segment.ts';
import { DIM, range, vectorOf } from '../engine/vectors/space-harness.ts';
import { eachAWord, segmentOf, someDocument, someTerm } from '../engine/words/small-corpus.ts';

const rrfK = 60;
const scratch = createScratch();

interface Ranked {
  labels: Uint32Array;
  scores: Float32Array | Float64Array;
}

/** The first k of those that are allowed. */
function filtered({ labels, scores }: Ranked, allow: Bitmap, k: number): [number, number][] {
  return [...labels.keys()]
    .filter((i) => hasBit(allow, labels[i]))
    .slice(0, k)
    .map((i) => [labels[i], scores[i]]);
}

const pairs = ({ labels, scores }: Ranked): [number, number][] => [...labels].map((label, i) => [label, scores[i]]);

/** Which of `count` labels a filter allows: none, few, half, most or all, and perhaps a set that ends before the last label. */
const someFilter = (count: number) =>
  fc
    .record({
      share: fc.constantFrom(0, 0.02, 0.1, 0.5, 0.9, 1),
      seed: fc.nat(),
      end: fc.integer({ min: 0, max: count }),
    })
    .map(({ share, seed, end }) => {
      const allow = createBitmap(end);
      for (let label = 0; label < end; label++) {
        if ((Math.imul(label + seed, 0x9e3779b1) >>> 0) / 2 ** 32 < share) addBit(allow, label);
      }
      return allow;
    });

const rowsOf = (labels: Uint32Array) => {
  const rows = VectorRows.create(DIM);
  for (const label of labels) rows.append(label, vectorOf(label), 0);
  return rows;
};

test('filtered searches by words, by vectors and by both are those that were filtered afterwards', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(someDocument, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { maxLength: 15 }),
      fc.array(someTerm, { minLength: 1, maxLength: 5 }),
      someFilter(130),
      fc.integer({ min: 1, max: 20 }),
      fc.nat({ max: 1000 }),
      (segments, removals, query, allow, k, seed) => {
        let label = 0;
        const corpus = segments.map((documents, id) => {
          const segment = segmentOf(new Map(documents.map((document) => [label++, document])));
          return corpusSegment(id, segment, createDeletions(segment.docs));
        });
        const rows = rowsOf(range(0, label));
        for (const removal of removals) {
          const removed = removal % label;
          rows.erase(removed);
          for (const { segment, deletions } of corpus) {
            const ordinal = ordinalOf(segment, removed);
            if (ordinal >= 0) markDeleted(deletions, ordinal, segment.lengths[ordinal]);
          }
        }
        const plan = planQuery(corpus, eachAWord(query));
        const vector = vectorOf(2000 + seed);
        rows.setQuery(vector);
        const allSparse = searchSegments(corpus, plan, label, scratch);
        const allDense = nearestTo(rows, { k: label, minScore: -1 });

        const sparse = searchSegments(corpus, plan, k, scratch, allow);
        assert.deepEqual(pairs(sparse), filtered(allSparse, allow, k));
        const near = nearestTo(rows, { k, minScore: -1, allow });
        assert.deepEqual(pairs(near), filtered(allDense, allow, k));

        const afterwards = [allSparse, allDense].map((hits) => filtered(hits, allow, k).map(([each]) => each));
        assert.deepEqual(
          fuseRrf([sparse.labels, near.labels], rrfK),
          fuseRrf(
            afterwards.map((labels) => Uint32Array.from(labels)),
            rrfK,
          ),
        );
      },
    ),
    { numRuns: 150 },
  );
});
