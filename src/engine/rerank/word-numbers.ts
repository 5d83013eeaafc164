/**
 * One numbering of the words of all forward indexes that a thread meets, so that a word is looked up once for each index that
 * holds it and not once a query. A word is a stem with a row of the word vectors; a form outside the vocabulary is its stem
 * alone. Numbers are given out as words are met and never change. It only grows: who keeps it starts a new one when `size` gets
 * too large.
 */
import { GrowingTermTable } from '../../compute/structures/growing-term-table.ts';
import { longer } from '../../compute/structures/longer.ts';
import type { TermTable } from '../../compute/structures/term-table.ts';
import type { ForwardIndex } from '../words/forward-index.ts';

/** A forward index with the dictionary that its stems are ids of. */
export interface ForwardPart {
  readonly index: ForwardIndex;
  readonly terms: TermTable;
}

const FIRST_WORDS = 1024;
const NONE = -1;

export class WordNumbers {
  readonly stems = new GrowingTermTable();
  /** Words so far. */
  size = 0;
  #stemOf = new Uint32Array(FIRST_WORDS);
  #rowOf = new Int32Array(FIRST_WORDS);
  /** The words of a stem are a chain: its latest word, and by word the one before, NONE for none. */
  #latestOf = new Int32Array(FIRST_WORDS).fill(NONE);
  #before = new Int32Array(FIRST_WORDS);
  /** By index: the number + 1 of each of its words, 0 where it was not asked for yet. */
  readonly #known = new WeakMap<ForwardIndex, Uint32Array>();

  /** By word of the index its number + 1, 0 for those that `numberOf` was not asked for yet. */
  knownOf(index: ForwardIndex): Uint32Array {
    let known = this.#known.get(index);
    if (known === undefined) {
      known = new Uint32Array(index.wordStems.length);
      this.#known.set(index, known);
    }
    return known;
  }

  /** The first word of a part, from `from` on, that `numberOf` was not asked for yet; -1 for none. */
  firstUnknown({ index }: ForwardPart, from: number): number {
    return this.knownOf(index).indexOf(0, from);
  }

  /** The number of a part's word, given now if it is new. */
  numberOf({ index, terms }: ForwardPart, word: number): number {
    const stem = this.stems.addFrom(terms, index.wordStems[word]);
    const row = index.wordRows[word];
    const found = this.find(stem, row);
    const number = found >= 0 ? found : this.#add(stem, row);
    this.knownOf(index)[word] = number + 1;
    return number;
  }

  /** The word of a stem (NONE: of none) and a row, or -1. */
  find(stem: number, row: number): number {
    if (stem < 0 || stem >= this.#latestOf.length) return NONE;
    let word = this.#latestOf[stem];
    while (word >= 0 && this.#rowOf[word] !== row) word = this.#before[word];
    return word;
  }

  /** The stem and the row of each of the first words of a list, as many as there is room for. */
  lookUp(words: Uint32Array, stems: Uint32Array, rows: Int32Array): void {
    const stemOf = this.#stemOf;
    const rowOf = this.#rowOf;
    for (let i = 0; i < stems.length; i++) {
      stems[i] = stemOf[words[i]];
      rows[i] = rowOf[words[i]];
    }
  }

  #add(stem: number, row: number): number {
    const word = this.size++;
    if (word === this.#stemOf.length) this.#grow();
    // Every stem came with a word, so there are no more stems than words.
    this.#stemOf[word] = stem;
    this.#rowOf[word] = row;
    this.#before[word] = this.#latestOf[stem];
    this.#latestOf[stem] = word;
    return word;
  }

  #grow(): void {
    const length = 2 * this.#stemOf.length;
    const withNone = (list: Int32Array<ArrayBuffer>) => longer(list, length).fill(NONE, list.length);
    this.#stemOf = longer(this.#stemOf, length);
    this.#rowOf = withNone(this.#rowOf);
    this.#latestOf = withNone(this.#latestOf);
    this.#before = withNone(this.#before);
  }
}
