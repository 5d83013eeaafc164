import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CorpusSegment, corpusSegment, planQuery } from '../../../src/engine/words/corpus.ts';
import { mergeSegments } from '../../../src/engine/words/merge-segments.ts';
import { coverageOf, createScratch, searchSegments } from '../../../src/engine/words/search-segments.ts';
import { createDeletions, markDeleted, ordinalOf } from '../../../src/engine/words/segment.ts';
import {
  eachAWord,
  firstHits,
  referenceHits,
  type SparseDocument,
  segmentOf,
  someDocument,
  someTerm,
} from './small-corpus.ts';

/** An index in miniature: the segments and, as the truth, the live documents. */
class Model {
  corpus: CorpusSegment[] = [];
  readonly live = new Map<number, SparseDocument>();
  private nextLabel = 0;
  private nextSegment = 0;

  add(documents: readonly SparseDocument[], labelStep: number): void {
    const labelled = new Map<number, SparseDocument>();
    for (const document of documents) {
      labelled.set(this.nextLabel, document);
      this.live.set(this.nextLabel, document);
      this.nextLabel += labelStep;
    }
    const segment = segmentOf(labelled);
    this.corpus.push(corpusSegment(this.nextSegment++, segment, createDeletions(segment.docs)));
  }

  remove(pick: number): void {
    if (this.live.size === 0) return;
    const label = [...this.live.keys()][pick % this.live.size];
    this.live.delete(label);
    for (const { segment, deletions } of this.corpus) {
      const ordinal = ordinalOf(segment, label);
      if (ordinal >= 0) markDeleted(deletions, ordinal, segment.lengths[ordinal]);
    }
  }

  /** Merges every other segment, so that label ranges come to overlap. */
  merge(parity: number): void {
    const merged = mergeSegments(this.corpus.filter((_, i) => i % 2 === parity));
    this.corpus = this.corpus.filter((_, i) => i % 2 !== parity);
    this.corpus.push(corpusSegment(this.nextSegment++, merged, createDeletions(merged.docs)));
  }
}

const someAction = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ add: fc.array(someDocument, { maxLength: 40 }), step: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 4, arbitrary: fc.record({ remove: fc.array(fc.nat(), { maxLength: 10 }) }) },
  { weight: 2, arbitrary: fc.record({ merge: fc.integer({ min: 0, max: 1 }) }) },
);

function act(model: Model, action: typeof someAction extends fc.Arbitrary<infer Action> ? Action : never): void {
  if ('add' in action) model.add(action.add, action.step);
  else if ('remove' in action) for (const pick of action.remove) model.remove(pick);
  else model.merge(action.merge);
}

test('the hits are those of scoring every live document, after any adds, deletes and merges', () => {
  const scratch = createScratch();
  fc.assert(
    fc.property(
      fc.array(someAction, { maxLength: 12 }),
      fc.array(someTerm, { maxLength: 6 }),
      fc.integer({ min: 1, max: 12 }),
      (actions, query, k) => {
        const model = new Model();
        for (const action of actions) {
          act(model, action);
          const plan = planQuery(model.corpus, eachAWord(query));
          const expected = referenceHits(model.live, query);
          assert.deepEqual(searchSegments(model.corpus, plan, k, scratch), firstHits(expected, k));
          for (const covered of coverageOf(model.corpus, plan, expected.labels))
            assert.ok(covered > 0 && covered <= 1 + 1e-9, String(covered));
        }
      },
    ),
    { numRuns: 150 },
  );
});

test('what is of no word of the query adds to the score of what its words find, and finds nothing itself', () => {
  const model = new Model();
  const document = (body: string[]): SparseDocument => ({ title: [], section: [], body });
  model.add([document(['der', 'hund']), document(['der', 'der']), document(['hund', 'hund', 'katze'])], 1);
  const word = eachAWord(['hund']);
  const both = planQuery(model.corpus, [{ stem: 'der', of: -1, share: 0.2 }, ...word]);
  const scratch = createScratch();
  const { labels, scores } = searchSegments(model.corpus, both, 10, scratch);
  assert.deepEqual([...labels].sort(), [0, 2]);
  const alone = searchSegments(model.corpus, planQuery(model.corpus, word), 10, scratch);
  const scoreOf = (hits: { labels: Uint32Array; scores: Float64Array }, label: number) =>
    hits.scores[hits.labels.indexOf(label)];
  assert.ok(scoreOf({ labels, scores }, 0) > scoreOf(alone, 0));
  assert.equal(scoreOf({ labels, scores }, 2), scoreOf(alone, 2));
});
