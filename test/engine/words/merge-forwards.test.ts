import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { termOf } from '../../../src/compute/structures/term-table.ts';
import { Lexicon } from '../../../src/compute/text/lexicon.ts';
import { buildSegmentOfTerms, type SparseTermDocument } from '../../../src/engine/words/build-segment.ts';
import { createDeletions, markDeleted } from '../../../src/engine/words/deletions.ts';
import { mergeForwards, mergeSegments } from '../../../src/engine/words/merge-segments.ts';
import { labelSegment, openSegment, type Segment } from '../../../src/engine/words/segment.ts';

const lexicon = new Lexicon();
/** Forms with their stems; `eels` and `x1` have no row, and share none. */
const FORMS = [
  ['ant', 'ant'],
  ['ants', 'ant'],
  ['bee', 'bee'],
  ['bees', 'bee'],
  ['cat', 'cat'],
  ['eels', 'eel'],
  ['éé', 'éé'],
  ['x1', 'x1'],
  ['', ''],
] as const;
const ROWS = new Map([
  ['ant', 0],
  ['ants', 7],
  ['bee', 3],
  ['bees', 4],
  ['cat', 9],
  ['éé', 12],
]);
const vocabulary = { fingerprint: 5, rowOf: (word: string) => ROWS.get(word) ?? -1 };

const someTerms = (maxLength: number) =>
  fc
    .array(fc.constantFrom(...FORMS), { maxLength })
    .map((forms) => Uint32Array.from(forms, ([word, stem]) => lexicon.term(word, stem)));
const someDocument: fc.Arbitrary<SparseTermDocument> = fc.record({
  title: someTerms(3),
  section: someTerms(2),
  body: someTerms(12),
  facts: someTerms(3),
});

/** The forward index with stems as text, which does not depend on how the dictionary numbers them. */
function spelled({ forward, terms, vocabulary }: Segment) {
  if (forward === null) return null;
  const { wordStems, ...index } = forward;
  return { ...index, stems: Array.from(wordStems, (stem) => termOf(terms, stem)), vocabulary };
}

test('a merge has the forward index of the live documents', () => {
  const somePart = fc.record({ document: someDocument, batch: fc.nat(2), deleted: fc.boolean() });
  fc.assert(
    fc.property(fc.array(somePart, { maxLength: 25 }), (parts) => {
      const labelled = parts.map((part, label) => ({ ...part, label }));
      const inputs = [0, 1, 2].map((batch) => {
        const members = labelled.filter((part) => part.batch === batch);
        const segment = buildSegmentOfTerms(
          lexicon,
          members.map(({ document }) => document),
          vocabulary,
        );
        labelSegment(
          segment,
          Uint32Array.from(members, ({ label }) => label),
        );
        const deletions = createDeletions(segment.docs);
        members.forEach(({ deleted }, ordinal) => {
          if (deleted) markDeleted(deletions, ordinal, segment.lengths[ordinal]);
        });
        return { segment, deletions };
      });
      const live = labelled.filter(({ deleted }) => !deleted).map(({ document }) => document);
      const merged = mergeSegments(inputs);
      assert.deepEqual(spelled(merged), spelled(buildSegmentOfTerms(lexicon, live, vocabulary)));
      assert.deepEqual(spelled(openSegment(merged.buffer)), spelled(merged));
    }),
  );
});

test('without a word list, or with others, a merge has no forward index', () => {
  const document = { title: new Uint32Array(0), section: new Uint32Array(0), body: Uint32Array.of(1) };
  const input = (label: number, ...of: Parameters<typeof buildSegmentOfTerms>) => {
    const segment = buildSegmentOfTerms(...of);
    labelSegment(segment, Uint32Array.of(label));
    return { segment, deletions: createDeletions(1) };
  };
  const whole = input(1, lexicon, [document], vocabulary);
  const bare = input(2, lexicon, [document]);
  const other = input(3, lexicon, [document], { ...vocabulary, fingerprint: 6 });
  assert.equal(bare.segment.forward, null);
  for (const second of [bare, other]) {
    const merged = mergeSegments([whole, second]);
    assert.deepEqual([merged.docs, merged.forward, merged.vocabulary], [2, null, 0]);
  }
});

test('a word whose stem is gone is left out, the words after it stay', () => {
  const index = {
    starts: Uint32Array.of(0, 3),
    words: Uint32Array.of(0, 1, 2),
    wordStems: Uint32Array.of(0, 1, 2),
    wordRows: Int32Array.of(10, 11, -1),
  };
  const sources = { inputs: [0], chunks: [0] };
  assert.deepEqual(mergeForwards([{ index, stemIds: Int32Array.of(1, -1, 0) }], sources), {
    starts: Uint32Array.of(0, 2),
    words: Uint32Array.of(0, 1),
    wordStems: Uint32Array.of(1, 0),
    wordRows: Int32Array.of(10, -1),
  });
});
