/**
 * A batch's forward index: the distinct words of each chunk, with those of its page's title and facts, as spelling, completions and compounds
 * know them. A word is its place in the word list with its stem; a form that is not in the list is its stem only. What each chunk has
 * decides which words remain when chunks are deleted. No positions, counts or strings: stems are dictionary numbers.
 */
import { remembered } from '../../compute/structures/remembered.ts';
import type { Lexicon } from '../../compute/text/lexicon.ts';

export interface ForwardIndex {
  /** Shape: chunks + 1; a chunk's words are words[starts[c]] .. words[starts[c + 1]]. */
  readonly starts: Uint32Array;
  /** Numbers of words. */
  readonly words: Uint32Array;
  /** Shape: words of the batch. */
  readonly wordStems: Uint32Array;
  readonly wordRows: Int32Array;
}

/** Lexicon terms, 0 for punctuation. */
export interface ForwardDocument {
  readonly title: Uint32Array;
  readonly body: Uint32Array;
  readonly facts?: Uint32Array;
}

const noFacts = new Uint32Array(0);
/** 128 per chunk of a full segment; further words are found by postings only. */
const MAX_WORDS = 2 ** 23;
/** Above the length of the word list: combines stem and row in one key. */
const rowsPerStem = 2 ** 24;

/** Numbers an index's words in order of appearance. A form with different stems in two languages is two words. */
export class ForwardWords {
  readonly stems: number[] = [];
  readonly rows: number[] = [];
  readonly #numbers = new Map<number, number>();
  readonly #most: number;

  constructor(most = MAX_WORDS) {
    this.#most = most;
  }

  /** Assigns a number if new; -1 if there are too many. `row` is -1 for none. */
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

/** Shapes: `stemOf` numbers a stem (never ''), `rowOf` returns a word's row or -1; each called once per word. */
export function buildForwardIndex(
  lexicon: Lexicon,
  documents: readonly ForwardDocument[],
  stemOf: (stem: string) => number,
  rowOf: (word: string) => number,
): ForwardIndex {
  const numbering = numberWords(lexicon, stemOf, rowOf);
  const starts = new Uint32Array(documents.length + 1);
  const words: number[] = [];
  documents.forEach(({ title, body, facts = noFacts }, document) => {
    const own = new Set<number>();
    for (const terms of [title, body, facts]) {
      for (const term of terms) {
        const word = numbering.wordOf(term);
        if (word >= 0) own.add(word);
      }
    }
    for (const word of own) words.push(word);
    starts[document + 1] = words.length;
  });
  return {
    starts,
    words: Uint32Array.from(words),
    wordStems: Uint32Array.from(numbering.stems),
    wordRows: Int32Array.from(numbering.rows),
  };
}

/** Numbers lexicon terms as words of the batch on demand; -1 for a term without a stem, and if there are too many. */
function numberWords(lexicon: Lexicon, stemOf: (stem: string) => number, rowOf: (word: string) => number) {
  const words = new ForwardWords();
  const wordOf = remembered(Number.POSITIVE_INFINITY, (term: number): number => {
    const stem = lexicon.stems[lexicon.stemOf[term]];
    if (stem === '') return -1;
    const row = lexicon.words[term] === '' ? -1 : rowOf(lexicon.words[term]);
    return words.numberOf(stemOf(stem), row);
  });
  return { wordOf, stems: words.stems, rows: words.rows };
}
