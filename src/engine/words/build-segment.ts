/**
 * Builds a segment. wink-bm25-text-search applies field weights and gives weighted term frequencies and lengths, read before
 * `consolidate` would add this batch's statistics; the result is laid out as a segment (segment.ts). Called by the indexing thread. wink
 * gets numbers for words: any string can be a term (its own table fails on `constructor`), and numbers need no hashing.
 */
import createModeller, { type Modeller } from 'wink-bm25-text-search';
import { memoized } from '../../compute/structures/memoized.ts';
import { buildTermTable } from '../../compute/structures/term-table.ts';
import type { Lexicon } from '../../compute/text/lexicon.ts';
import { accentsTellWords, foldAccents, ideographTerm, isOfPairs } from '../../compute/text/scripts.ts';
import { bareTerm } from '../../compute/text/stemmers.ts';
import { type NamedField, namedFields } from '../../domain/query-clause.ts';
import { FACT_WEIGHT, FIELD_WEIGHTS, type Field, LENGTH_WITHOUT_BODY, MAX_FREQUENCY, UNITS } from './bm25f.ts';
import { languageTerm } from './languages.ts';
import { addressTerm, fieldTerm, joinedTerm, wordTerm } from './marked-terms.ts';
import { allocateSegment, type Segment, sealSegment } from './segment.ts';

/** A lexicon's terms by field, in text order. 0 (punctuation) is not a term. */
export type SparseTermDocument = Readonly<
  Record<Field, Uint32Array> & {
    facts?: Uint32Array;
    language?: string;
    /** For a page's first document: terms by field. */
    fields?: Readonly<Record<NamedField, Uint32Array>>;
    /** For a page's first document: prefixes of its address, and words of the path (compute/text/facts-text.ts). */
    beginnings?: readonly string[];
    /** Its words in order (compute/text/word-bytes.ts). */
    run?: readonly number[];
  }
>;
/** Terms numbered by first occurrence in the batch. */
export interface NumberedDocument extends Readonly<Record<Field | 'facts', readonly number[]>> {
  /** Weight of the extra terms, which are found but do not add to the length. */
  readonly uncounted: number;
  readonly run: readonly number[];
}

const noFacts = new Uint32Array(0);

/** Ordinals and provisional labels are indexes in the batch (see `labelSegment`). RangeError above 65,536 documents. */
export function buildSegmentOfTerms(lexicon: Lexicon, documents: readonly SparseTermDocument[]): Segment {
  const { numbered, terms } = numberTerms(lexicon, documents);
  return modelNumbered(numbered, terms);
}

/** Numbers the documents' terms: stems, and the extra terms below, which do not count in lengths and vectors. */
function numberTerms(lexicon: Lexicon, documents: readonly SparseTermDocument[]) {
  const { words, stems, stemOf } = lexicon;
  const terms: string[] = [];
  const numbers = new Int32Array(stems.length).fill(-1);
  /** Extra terms: other forms, single ideographs, words without accents, names of words, languages. */
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
  /** Numbers of terms that name words. -1 for punctuation, and for character pairs, which any longer word contains. */
  const namesOfWords = (formOf: (word: string) => string) =>
    memoized(Number.POSITIVE_INFINITY, (term: number): number => {
      const [word, stem] = [words[term], stems[stemOf[term]]];
      return stem === '' || isOfPairs(word) ? -1 : numberOfOwn(wordTerm(formOf(word === '' ? stem : word), stem));
    });
  const [foldedWord, accentedWord] = [namesOfWords(foldAccents), namesOfWords((word) => word)];
  const stemsOf = (terms: Uint32Array): number[] => Array.from(terms, (term) => stemOf[term]);
  const numberDocument = (document: SparseTermDocument): NumberedDocument => {
    let uncounted = 0;
    const { language = '', run = [] } = document;
    const otherForm = (term: number): string => {
      const single = ideographTerm(words[term]);
      return single === '' || single === stems[stemOf[term]] ? (bareTerm(language, words[term]) ?? '') : single;
    };
    let own: Set<number> | undefined;
    const hasStem = (stem: number): boolean => {
      own ??= new Set((['title', 'section', 'body'] as const).flatMap((field) => stemsOf(document[field])));
      return own.has(stem);
    };
    const numberAll = (terms: Uint32Array, weight: number): number[] => {
      const numbered: number[] = [];
      for (const term of terms) {
        const stem = stemOf[term];
        if (stem !== 0) numbered.push(numberOfStem(stem));
        for (const form of lexicon.othersOf(term)) {
          if (hasStem(stemOf[form])) continue;
          numbered.push(numberOfOwn(joinedTerm(stems[stemOf[form]])));
          uncounted += weight;
        }
        const other = otherForm(term);
        if (other === '') continue;
        numbered.push(numberOfOwn(other));
        uncounted += weight;
      }
      return numbered;
    };
    const ofField = (field: Field) => numberAll(document[field], FIELD_WEIGHTS[field]);
    const [title, section, body] = [ofField('title'), ofField('section'), ofField('body')];
    const facts = numberAll(document.facts ?? noFacts, 0);
    const nameOf = accentsTellWords(language) ? accentedWord : foldedWord;
    const named = new Set<number>();
    for (const terms of [document.title, document.body, document.facts ?? noFacts])
      for (const term of terms) named.add(nameOf(term));
    for (const name of named) if (name >= 0) facts.push(name);
    if (language !== '') facts.push(numberOfOwn(languageTerm(language)));
    for (const beginning of document.beginnings ?? []) facts.push(numberOfOwn(addressTerm(beginning)));
    for (const field of namedFields) {
      for (const term of document.fields?.[field] ?? noFacts) {
        for (const form of [term, ...lexicon.othersOf(term)])
          if (stemOf[form] !== 0) facts.push(numberOfOwn(fieldTerm(field, stems[stemOf[form]])));
      }
    }
    return { title, section, body, facts, uncounted, run };
  };
  return { numbered: documents.map(numberDocument), terms };
}

export function modelNumbered(documents: readonly NumberedDocument[], terms: readonly string[]): Segment {
  const modeller = createModeller();
  modeller.defineConfig({ fldWeights: { ...FIELD_WEIGHTS, facts: FACT_WEIGHT } });
  for (const [ordinal, { title, section, body, facts }] of documents.entries()) {
    modeller.addDoc({ title, section, body, facts }, ordinal);
  }
  return layOut(modeller, documents, terms);
}

/** Lay out postings: count each list, then fill it in ordinal order. */
function layOut(modeller: Modeller, numbered: readonly NumberedDocument[], terms: readonly string[]): Segment {
  const { starts, occurrences } = countPostings(numbered, terms.length);
  const segment = allocateSegment({
    docs: numbered.length,
    terms: buildTermTable(terms),
    starts,
    runBytes: numbered.reduce((sum, { run }) => sum + run.length, 0),
  });
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
  return sealSegment(segment);
}

/** Length of a document without extra terms. */
function textLength({ body, facts, uncounted }: NumberedDocument, length: number): number {
  return body.length === 0 ? LENGTH_WITHOUT_BODY : length - uncounted - FACT_WEIGHT * facts.length;
}

/** The start of each list, and the number of distinct terms per document. */
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
