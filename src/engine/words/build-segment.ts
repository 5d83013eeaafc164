/**
 * From words to a segment. wink-bm25-text-search is the modeller: it applies the fields' weights and gives each document's
 * weighted term frequencies and length, which are read before `consolidate` would bake this batch's own statistics into
 * them. What it gives is then laid out as a segment (engine/words/segment.ts). Called by the thread that indexes pages.
 * wink is handed numbers for words: any string is a term (its own table, once exported, trips over `constructor`), and a
 * number is found in its table without hashing text again.
 */
import createModeller, { type Modeller } from 'wink-bm25-text-search';
import { buildTermTable, lookupTerm, type TermTable } from '../../compute/structures/term-table.ts';
import type { Lexicon } from '../../compute/text/lexicon.ts';
import { bareTerm } from '../../compute/text/stemmers.ts';
import { ideographTerm } from '../../compute/text/unspaced-scripts.ts';
import { type NamedField, namedFields } from '../../domain/query-clause.ts';
import { FACT_WEIGHT, FIELD_WEIGHTS, type Field, LENGTH_WITHOUT_BODY, MAX_FREQUENCY, UNITS } from './bm25f.ts';
import { fieldTerm } from './field-terms.ts';
import { buildForwardIndex, type ForwardIndex } from './forward-index.ts';
import { languageTerm } from './languages.ts';
import { allocateSegment, fillForward, type Segment, sealSegment } from './segment.ts';

const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** The terms of a document by field, in the order of the text; '' (punctuation) is no term. */
export type SparseDocument = Readonly<Record<Field, readonly string[]> & { facts?: readonly string[] }>;
/** The same as terms of a lexicon. */
export type SparseTermDocument = Readonly<
  Record<Field, Uint32Array> & {
    facts?: Uint32Array;
    /** ISO 639-1 code of the language that it is in; '' where it is not known. */
    language?: string;
    /** Of the first document of a page: what is found by field. */
    fields?: Readonly<Record<NamedField, Uint32Array>>;
    /** Its words in their order (compute/text/word-bytes.ts). */
    run?: readonly number[];
  }
>;
/** The words of the vectors that the reranker compares. */
export interface ForwardVocabulary {
  /** Names the word vectors; never 0. */
  readonly fingerprint: number;
  /** Row of a word, -1 for none. */
  readonly rowOf: (word: string) => number;
}
/** Makes the forward index of a batch over its dictionary. */
interface ForwardMaker {
  readonly vocabulary: number;
  readonly make: (terms: TermTable) => ForwardIndex;
}
/** The same as numbers that count the batch's terms in the order of their first occurrence. */
interface NumberedDocument extends Readonly<Record<Field | 'facts', readonly number[]>> {
  /** Those of the text's terms that stand beside others of the same words, weighted: found, but no part of the length. */
  readonly uncounted: number;
  readonly run: readonly number[];
}

const noFacts = new Uint32Array(0);

/**
 * Model a batch of documents as a segment whose ordinals are their places in the batch, and so are its labels until the
 * store has allocated real ones (`labelSegment`).
 * Shapes: 0 to 65,536 documents, each possibly empty.
 * Errors: RangeError above that.
 */
export function buildSegment(documents: readonly SparseDocument[]): Segment {
  const numbers = new Map<string, number>();
  const numberOf = (term: string): number => {
    // A lone surrogate has no UTF-8: it is the replacement character in the dictionary, and so must be here.
    const stored = LONE_SURROGATE.test(term) ? term.replaceAll(LONE_SURROGATES, '\ufffd') : term;
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

/** The same for documents whose terms are a lexicon's: no stem is hashed. With a vocabulary the segment has a forward index. */
export function buildSegmentOfTerms(
  lexicon: Lexicon,
  documents: readonly SparseTermDocument[],
  vocabulary: ForwardVocabulary | null = null,
): Segment {
  const { numbered, terms } = numberTerms(lexicon, documents);
  if (vocabulary === null) return modelNumbered(numbered, terms);
  const { fingerprint, rowOf } = vocabulary;
  return modelNumbered(numbered, terms, {
    vocabulary: fingerprint,
    make: (table) => buildForwardIndex(lexicon, documents, (stem) => lookupTerm(table, stem), rowOf),
  });
}

/**
 * Number the terms of documents: their stems and, beside its pairs, each ideograph, so that a query of a single one finds it; and in
 * languages whose accents tell words apart each word without, for those who type none. Only postings have these, as the stems tell
 * more: lengths, forward index and vectors go by stems alone, and a query of stems scores as it would without.
 */
function numberTerms({ words, stems, stemOf }: Lexicon, documents: readonly SparseTermDocument[]) {
  const terms: string[] = [];
  const numbers = new Int32Array(stems.length).fill(-1);
  /** Those of single ideographs, which are stems, too, where they stand alone, of words without accents and of languages. */
  const own = new Map<string, number>();
  const numberOfOwn = (term: string): number => {
    const number = own.get(term) ?? terms.push(term) - 1;
    own.set(term, number);
    return number;
  };
  const numberOfStem = (stem: number): number => {
    if (numbers[stem] < 0) {
      const alone = ideographTerm(stems[stem]);
      numbers[stem] = alone === '' ? terms.push(stems[stem]) - 1 : numberOfOwn(alone);
    }
    return numbers[stem];
  };
  const numberDocument = (document: SparseTermDocument): NumberedDocument => {
    let uncounted = 0;
    const { language = '', run = [] } = document;
    const beside = (term: number): string => {
      const single = ideographTerm(words[term]);
      return single === '' || single === stems[stemOf[term]] ? (bareTerm(language, words[term]) ?? '') : single;
    };
    const numberAll = (terms: Uint32Array, weight: number): number[] => {
      const numbered: number[] = [];
      for (const term of terms) {
        const stem = stemOf[term];
        if (stem !== 0) numbered.push(numberOfStem(stem));
        const other = beside(term);
        if (other === '') continue;
        numbered.push(numberOfOwn(other));
        uncounted += weight;
      }
      return numbered;
    };
    const ofField = (field: Field) => numberAll(document[field], FIELD_WEIGHTS[field]);
    const facts = numberAll(document.facts ?? noFacts, 0);
    if (language !== '') facts.push(numberOfOwn(languageTerm(language)));
    for (const field of namedFields) {
      for (const term of document.fields?.[field] ?? noFacts) {
        if (stemOf[term] !== 0) facts.push(numberOfOwn(fieldTerm(field, stems[stemOf[term]])));
      }
    }
    return { title: ofField('title'), section: ofField('section'), body: ofField('body'), facts, uncounted, run };
  };
  return { numbered: documents.map(numberDocument), terms };
}

function modelNumbered(
  documents: readonly NumberedDocument[],
  terms: readonly string[],
  forward: ForwardMaker | null = null,
): Segment {
  const modeller = createModeller();
  modeller.defineConfig({ fldWeights: { ...FIELD_WEIGHTS, facts: FACT_WEIGHT } });
  for (const [ordinal, { title, section, body, facts }] of documents.entries()) {
    modeller.addDoc({ title, section, body, facts }, ordinal);
  }
  return layOut(modeller, documents, terms, forward);
}

/** Lay the model out as postings: count each term's list, then fill the lists in ordinal order. */
function layOut(
  modeller: Modeller,
  numbered: readonly NumberedDocument[],
  terms: readonly string[],
  forward: ForwardMaker | null,
): Segment {
  const { starts, occurrences } = countPostings(numbered, terms.length);
  const table = buildTermTable(terms);
  const index = forward?.make(table);
  const segment = allocateSegment({
    docs: numbered.length,
    terms: terms.length,
    postings: starts[terms.length],
    termBytes: table.bytes.length,
    vocabulary: forward?.vocabulary ?? 0,
    forwardWords: index?.wordStems.length ?? 0,
    forwardEntries: index?.entries.length ?? 0,
    runBytes: numbered.reduce((sum, { run }) => sum + run.length, 0),
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
    segment.lengths[ordinal] = Math.round(textLength(numbered[ordinal], length) * UNITS);
    for (const number of distinct) {
      const frequency = Math.min(Math.round(freq[tokens[number]] * UNITS), MAX_FREQUENCY);
      segment.postings[next[number]++] = (ordinal << 16) | frequency;
    }
  });
  numbered.forEach(({ run }, ordinal) => {
    segment.runs.set(run, segment.runStarts[ordinal]);
    segment.runStarts[ordinal + 1] = segment.runStarts[ordinal] + run.length;
  });
  if (index !== undefined) fillForward(segment, index);
  return sealSegment(segment);
}

/** What counts of the length of all a document's terms. */
function textLength({ body, facts, uncounted }: NumberedDocument, length: number): number {
  return body.length === 0 ? LENGTH_WITHOUT_BODY : length - uncounted - FACT_WEIGHT * facts.length;
}

/** Where each term's list starts, and each document's distinct terms. */
function countPostings(documents: readonly NumberedDocument[], terms: number) {
  const starts = new Uint32Array(terms + 1);
  const lastSeenIn = new Int32Array(terms).fill(-1);
  const occurrences = documents.map(({ title, section, body, facts }, ordinal) =>
    [...title, ...section, ...body, ...facts].filter((number) => {
      if (lastSeenIn[number] === ordinal) return false;
      lastSeenIn[number] = ordinal;
      starts[number + 1]++;
      return true;
    }),
  );
  for (let term = 0; term < terms; term++) starts[term + 1] += starts[term];
  return { starts, occurrences };
}
