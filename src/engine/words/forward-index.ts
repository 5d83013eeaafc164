/**
 * The forward index of a batch of chunks: which words each holds and how often, in its text and in its page's title, and which are
 * in neither but among the facts of the page: their counts are 0. The
 * reranker's counterpart of a segment's postings. A word is a row of the word vectors with its stem; a form outside the
 * vocabulary is its stem alone. No positions and no strings: stems are numbers of the dictionary beside it.
 */
import type { Lexicon } from '../../compute/text/lexicon.ts';

export interface ForwardIndex {
  /** Shape: chunks + 1; a chunk's entries are starts[c] .. starts[c + 1]. */
  readonly starts: Uint32Array;
  /** Shape: entries. A chunk's distinct words with their counts, by `packEntry`. */
  readonly entries: Uint32Array;
  /** Shape: words of the batch. */
  readonly wordStems: Uint32Array;
  /** Rows of the word vectors, -1 for none. */
  readonly wordRows: Int32Array;
}

/** Terms of a lexicon, 0 for punctuation. */
export interface ForwardDocument {
  readonly title: Uint32Array;
  readonly body: Uint32Array;
  readonly facts?: Uint32Array;
}

const noFacts = new Uint32Array(0);
/**
 * Counts saturate: a passage of the default length, 333 words, holds "the" some 30 times at most; in passages of 700 words and more the
 * commonest count less, here and in the passage's length.
 */
const BODY_BITS = 6;
const TITLE_BITS = 3;
const COUNT_BITS = BODY_BITS + TITLE_BITS;
const MAX_BODY_COUNT = 2 ** BODY_BITS - 1;
const MAX_TITLE_COUNT = 2 ** TITLE_BITS - 1;
/** 128 for each chunk of a full segment; words beyond are left out, and are found by postings alone. */
export const MAX_WORDS = 2 ** (32 - COUNT_BITS);
/** More than there are word vectors: a stem and a row are one key together. */
const rowsPerStem = 2 ** 24;

/** A word of an index and how often it is in a chunk's text and in its title, in 32 bits. */
export function packEntry(word: number, bodyCount: number, titleCount: number): number {
  const counts = (Math.min(bodyCount, MAX_BODY_COUNT) << TITLE_BITS) | Math.min(titleCount, MAX_TITLE_COUNT);
  return ((word << COUNT_BITS) | counts) >>> 0;
}
export const entryWord = (entry: number): number => entry >>> COUNT_BITS;
export const entryBodyCount = (entry: number): number => (entry >>> TITLE_BITS) & MAX_BODY_COUNT;
export const entryTitleCount = (entry: number): number => entry & MAX_TITLE_COUNT;
/** The entry with another word. */
export const withWord = (entry: number, word: number): number =>
  ((word << COUNT_BITS) | (entry & (2 ** COUNT_BITS - 1))) >>> 0;

/** The words of an index that is being made, numbered in the order they come. A word form has another stem in another language: it is another word. */
export class ForwardWords {
  readonly stems: number[] = [];
  readonly rows: number[] = [];
  readonly #numbers = new Map<number, number>();
  readonly #most: number;

  constructor(most = MAX_WORDS) {
    this.#most = most;
  }

  /** The number of a word, given now if it is new; -1 where there are too many. `row` is -1 for none. */
  numberOf(stem: number, row: number): number {
    const same = this.#numbers.get(stem * rowsPerStem + row);
    if (same !== undefined) return same;
    if (this.stems.length === this.#most) return -1;
    const word = this.stems.push(stem) - 1;
    this.rows.push(row);
    this.#numbers.set(stem * rowsPerStem + row, word);
    return word;
  }
}

/**
 * Count the words of documents.
 * Shapes: `stemOf` numbers a stem (never '') in the dictionary beside the index, `rowOf` gives a word's vector or -1; both are
 * asked once per word.
 */
export function buildForwardIndex(
  lexicon: Lexicon,
  documents: readonly ForwardDocument[],
  stemOf: (stem: string) => number,
  rowOf: (word: string) => number,
): ForwardIndex {
  const numbering = numberWords(lexicon, stemOf, rowOf);
  const starts = new Uint32Array(documents.length + 1);
  const words: number[] = [];
  const bodyCounts: number[] = [];
  const titleCounts: number[] = [];
  documents.forEach(({ title, body, facts = noFacts }, document) => {
    /** Where in the chunk's entries a word is. */
    const places = new Map<number, number>();
    const count = (terms: Uint32Array, counts: number[] | null) => {
      for (const term of terms) {
        const word = numbering.wordOf(term);
        if (word < 0) continue;
        let place = places.get(word);
        if (place === undefined) {
          place = words.push(word) - 1;
          places.set(word, place);
          bodyCounts.push(0);
          titleCounts.push(0);
        }
        if (counts !== null) counts[place]++;
      }
    };
    count(title, titleCounts);
    count(body, bodyCounts);
    count(facts, null);
    starts[document + 1] = words.length;
  });
  return {
    starts,
    entries: Uint32Array.from(words, (word, at) => packEntry(word, bodyCounts[at], titleCounts[at])),
    wordStems: Uint32Array.from(numbering.stems),
    wordRows: Int32Array.from(numbering.rows),
  };
}

/** Numbers for the lexicon's terms as words of the batch, in the order they are asked for; -1 for a term without a stem, and where there are too many. */
function numberWords(lexicon: Lexicon, stemOf: (stem: string) => number, rowOf: (word: string) => number) {
  const known = new Map<number, number>();
  const words = new ForwardWords();
  const number = (term: number): number => {
    const stem = lexicon.stems[lexicon.stemOf[term]];
    if (stem === '') return -1;
    const row = lexicon.words[term] === '' ? -1 : rowOf(lexicon.words[term]);
    return words.numberOf(stemOf(stem), row);
  };
  const wordOf = (term: number): number => {
    let word = known.get(term);
    if (word === undefined) {
      word = number(term);
      known.set(term, word);
    }
    return word;
  };
  return { wordOf, stems: words.stems, rows: words.rows };
}
