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
  documents.forEach((document, ordinal) => {
    const { title, section, body } = document;
    modeller.addDoc(
      { title: numberTerms(title, numbers), section: numberTerms(section, numbers), body: numberTerms(body, numbers) },
      ordinal,
    );
  });
  return compile(modeller, documents.length, [...numbers.keys()]);
}

function numberTerms(terms: readonly string[], numbers: Map<string, number>): number[] {
  const numbered: number[] = [];
  for (const term of terms) {
    if (term === '') continue;
    let number = numbers.get(term);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(term, number);
    }
    numbered.push(number);
  }
  return numbered;
}

/** Lay the model out as postings: count each term's list, then fill the lists in ordinal order. */
function compile(modeller: Modeller, docs: number, terms: readonly string[]): Segment {
  const termOfIndex = new Uint32Array(terms.length);
  for (const [number, index] of Object.entries(modeller.getTokens())) termOfIndex[index] = Number(number);
  const documents = modeller.getDocs();
  const entries = Array.from({ length: docs }, (_, ordinal) => Object.entries(documents[ordinal].freq));
  const table = buildTermTable(terms);
  const segment = allocateSegment({
    docs,
    terms: terms.length,
    postings: entries.reduce((sum, of) => sum + of.length, 0),
    termBytes: table.bytes.length,
  });
  segment.terms.slots.set(table.slots);
  segment.terms.offsets.set(table.offsets);
  segment.terms.bytes.set(table.bytes);

  const { starts, postings } = segment;
  for (const of of entries) for (const [index] of of) starts[termOfIndex[Number(index)] + 1]++;
  for (let term = 0; term < terms.length; term++) starts[term + 1] += starts[term];
  const next = starts.slice();
  entries.forEach((of, ordinal) => {
    segment.labels[ordinal] = ordinal;
    segment.lengths[ordinal] = Math.round(documents[ordinal].length * UNITS);
    for (const [index, weighted] of of) {
      const frequency = Math.min(Math.round(weighted * UNITS), MAX_FREQUENCY);
      postings[next[termOfIndex[Number(index)]]++] = (ordinal << 16) | frequency;
    }
  });
  return sealSegment(segment);
}
