/**
 * For the tests of the sparse side: documents by label, as plain lists of terms, and the formula applied to them without
 * an index: every live document, every query term, in the order that scores are defined to be summed in.
 */
import fc from 'fast-check';
import {
  contribution,
  FACT_WEIGHT,
  FIELD_WEIGHTS,
  type Field,
  LENGTH_WITHOUT_BODY,
  lengthNorm,
  termWeight,
  UNITS,
} from '../../../src/engine/words/bm25f.ts';
import { modelNumbered } from '../../../src/engine/words/build-segment.ts';
import { type QueryStem, queryTermWeight } from '../../../src/engine/words/corpus.ts';
import type { SparseHits } from '../../../src/engine/words/search-segments.ts';
import { openSegment, type Segment } from '../../../src/engine/words/segment.ts';
import type { KnownWords } from '../../../src/engine/words/spelling.ts';

/** Terms by field in text order; '' (punctuation) is no term. */
export type SparseDocument = Readonly<Record<Field, readonly string[]> & { facts?: readonly string[] }>;
export type LiveDocuments = ReadonlyMap<number, SparseDocument>;

const FIELDS = Object.keys(FIELD_WEIGHTS) as Field[];

/** As of `buildSegmentOfTerms`, of terms as texts. */
export function buildSegment(documents: readonly SparseDocument[]): Segment {
  const numbers = new Map<string, number>();
  const numberOf = (term: string): number => {
    const stored = term.toWellFormed();
    const number = numbers.get(stored) ?? numbers.size;
    numbers.set(stored, number);
    return number;
  };
  const numberAll = (terms: readonly string[]) => terms.filter((term) => term !== '').map(numberOf);
  const numbered = documents.map(({ title, section, body, facts = [] }) => ({
    title: numberAll(title),
    section: numberAll(section),
    body: numberAll(body),
    facts: numberAll(facts),
    uncounted: 0,
    run: [],
  }));
  return modelNumbered(numbered, [...numbers.keys()]);
}

/** Each stem as a word of the query. */
export function eachAWord(stems: readonly string[]): QueryStem[] {
  const words = [...new Set(stems)];
  return stems.map((stem) => ({ stem, of: words.indexOf(stem) }));
}

/** Of a library without texts. */
export const noWords: KnownWords = {
  languages: [],
  spoken: [],
  isKnown: () => true,
  nearest: () => null,
  completions: () => [],
  beginning: () => [],
  parts: () => [],
  compounds: () => [],
  apart: () => [],
};

/** The documents as a segment with these labels, which ascend. */
export function segmentOf(documents: LiveDocuments): Segment {
  const segment = buildSegment([...documents.values()]);
  segment.labels.set([...documents.keys()]);
  return openSegment(segment.buffer);
}

/** All live documents with a query term, best first, scored one by one. */
export function referenceHits(documents: LiveDocuments, queryTerms: readonly string[]): SparseHits {
  const counted = [...documents].map(([label, document]) => ({ label, ...countTerms(document) }));
  const totalLength = counted.reduce((sum, { length }) => sum + length, 0);
  const { base, slope } = lengthNorm({ docs: counted.length, totalLength });
  const weighed = [...new Set(queryTerms)]
    .map((term) => ({ term, df: counted.filter(({ frequencies }) => frequencies.has(term)).length }))
    .filter(({ df }) => df > 0)
    .map(({ term, df }) => {
      const times = queryTerms.filter((each) => each === term).length;
      return { term, weight: queryTermWeight(times) * termWeight(counted.length, df) };
    })
    .sort((a, b) => b.weight - a.weight);
  const hits = counted
    .map(({ label, frequencies, length }) => {
      let score = 0;
      for (const { term, weight } of weighed) {
        const frequency = frequencies.get(term);
        if (frequency !== undefined) score += contribution(weight, frequency, length, base, slope);
      }
      return { label, score };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.label - b.label);
  return {
    labels: Uint32Array.from(hits, ({ label }) => label),
    scores: Float64Array.from(hits, ({ score }) => score),
  };
}

/** The first k of a list of hits. */
export function firstHits({ labels, scores }: SparseHits, k: number): SparseHits {
  return { labels: labels.slice(0, k), scores: scores.slice(0, k) };
}

function countTerms(document: SparseDocument) {
  const frequencies = new Map<string, number>();
  let length = 0;
  for (const field of FIELDS) {
    for (const term of document[field]) {
      if (term === '') continue;
      length += FIELD_WEIGHTS[field] * UNITS;
      frequencies.set(term, (frequencies.get(term) ?? 0) + FIELD_WEIGHTS[field] * UNITS);
    }
  }
  for (const term of document.facts ?? []) {
    if (term !== '') frequencies.set(term, (frequencies.get(term) ?? 0) + FACT_WEIGHT * UNITS);
  }
  const hasBody = document.body.some((term) => term !== '');
  return { frequencies, length: hasBody ? length : LENGTH_WITHOUT_BODY * UNITS };
}

/** Terms that often meet, some of them traps for tables made of objects. */
export const someTerm = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'constructor', '__proto__', '7', '\0', 'é', '');
const someTerms = (maxLength: number) => fc.array(someTerm, { maxLength });
export const someDocument: fc.Arbitrary<SparseDocument> = fc.record({
  title: someTerms(3),
  section: someTerms(2),
  body: someTerms(12),
  facts: someTerms(3),
});
