/**
 * From words to a segment. wink-bm25-text-search is the modeller: it applies the fields' weights and gives each document's
 * weighted term frequencies and length, which are read before `consolidate` would bake this batch's own statistics into
 * them. What it gives is then laid out as a segment (compute/bm25/segment.ts). Called by the thread that indexes pages.
 * wink is handed numbers for words: any string is a term (its own table, once exported, trips over `constructor`), and a
 * number is found in its table without hashing text again.
 */
import createModeller, { type Modeller } from 'wink-bm25-text-search';
import { FIELD_WEIGHTS, type Field, MAX_FREQUENCY, UNITS } from '../compute/bm25/bm25f.ts';
import { allocateSegment, type Segment, sealSegment } from '../compute/bm25/segment.ts';
import { buildTermTable } from '../compute/term-table.ts';

const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** The terms of a document by field, in the order of the text; '' (punctuation) is no term. */
export type SparseDocument = Readonly<Record<Field, readonly string[]>>;

/**
 * Model a batch of documents as a segment whose ordinals are their places in the batch, and so are its labels until the
 * store has allocated real ones (`labelSegment`).
 * Shapes: 0 to 65,536 documents, each possibly empty.
 * Errors: RangeError above that.
 */
export function modelSegment(documents: readonly SparseDocument[]): Segment {
  const numbers = new Map<string, number>();
  const modeller = createModeller();
  modeller.defineConfig({ fldWeights: FIELD_WEIGHTS });
  const numbered = documents.map((document, ordinal) => {
    const title = numberTerms(document.title, numbers);
    const section = numberTerms(document.section, numbers);
    const body = numberTerms(document.body, numbers);
    modeller.addDoc({ title, section, body }, ordinal);
    return [...title, ...section, ...body];
  });
  return layOut(modeller, numbered, [...numbers.keys()]);
}

function numberTerms(terms: readonly string[], numbers: Map<string, number>): number[] {
  const numbered: number[] = [];
  for (const term of terms) {
    if (term === '') continue;
    let number = numbers.get(term);
    if (number === undefined) {
      // A lone surrogate has no UTF-8: it is the replacement character in the dictionary, and so must be here.
      const stored = LONE_SURROGATE.test(term) ? term.replaceAll(LONE_SURROGATES, '\ufffd') : term;
      number = numbers.get(stored) ?? numbers.size;
      numbers.set(stored, number);
    }
    numbered.push(number);
  }
  return numbered;
}

/** Lay the model out as postings: count each term's list, then fill the lists in ordinal order. */
function layOut(modeller: Modeller, numbered: readonly number[][], terms: readonly string[]): Segment {
  const { starts, occurrences } = countPostings(numbered, terms.length);
  const table = buildTermTable(terms);
  const segment = allocateSegment({
    docs: numbered.length,
    terms: terms.length,
    postings: starts[terms.length],
    termBytes: table.bytes.length,
  });
  segment.terms.slots.set(table.slots);
  segment.terms.offsets.set(table.offsets);
  segment.terms.bytes.set(table.bytes);
  segment.starts.set(starts);

  const documents = modeller.getDocs();
  const tokens = modeller.getTokens();
  const next = starts.slice();
  occurrences.forEach((distinct, ordinal) => {
    const { freq, length } = documents[ordinal];
    segment.labels[ordinal] = ordinal;
    segment.lengths[ordinal] = Math.round(length * UNITS);
    for (const number of distinct) {
      const frequency = Math.min(Math.round(freq[tokens[number]] * UNITS), MAX_FREQUENCY);
      segment.postings[next[number]++] = (ordinal << 16) | frequency;
    }
  });
  return sealSegment(segment);
}

/** Where each term's list starts, and each document's distinct terms. */
function countPostings(numbered: readonly number[][], terms: number) {
  const starts = new Uint32Array(terms + 1);
  const lastSeenIn = new Int32Array(terms).fill(-1);
  const occurrences = numbered.map((numbers, ordinal) =>
    numbers.filter((number) => {
      if (lastSeenIn[number] === ordinal) return false;
      lastSeenIn[number] = ordinal;
      starts[number + 1]++;
      return true;
    }),
  );
  for (let term = 0; term < terms; term++) starts[term + 1] += starts[term];
  return { starts, occurrences };
}
