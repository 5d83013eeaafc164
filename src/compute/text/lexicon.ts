/**
 * Terms as numbers. An analyzer gives each pair of a word and its stem a number once, and whoever counts terms afterwards
 * (embedding, the sparse side) counts numbers in flat arrays instead of strings in hash tables. Numbers mean something beside
 * their own lexicon only. It grows and never forgets; its owner starts a new one when it has grown too large.
 */
import { longer } from '../structures/longer.ts';

export class Lexicon {
  /** By term. Term 0 has neither word nor stem: punctuation. */
  readonly words: string[] = [''];
  /** By stem number; 0 is none. */
  readonly stems: string[] = [''];
  #stemOf = new Uint32Array(1024);
  /** The first term of each word; the others, of words with several stems, by word and stem. */
  readonly #firstTerms = new Map<string, number>();
  readonly #otherTerms = new Map<string, number>();
  readonly #stemNumbers = new Map<string, number>([['', 0]]);

  /** Number of terms, term 0 included. */
  get size(): number {
    return this.words.length;
  }

  /** The stem number of each term; longer than there are terms, and replaced when it grows. */
  get stemOf(): Uint32Array {
    return this.#stemOf;
  }

  /** The number of a word (well-formed, '' for none) with its stem. */
  term(word: string, stem: string): number {
    if (word === '' && stem === '') return 0;
    const first = this.#firstTerms.get(word);
    if (first === undefined) {
      const term = this.#add(word, stem);
      this.#firstTerms.set(word, term);
      return term;
    }
    if (this.stems[this.#stemOf[first]] === stem) return first;
    const key = `${word.length} ${word}${stem}`;
    const other = this.#otherTerms.get(key);
    if (other !== undefined) return other;
    const term = this.#add(word, stem);
    this.#otherTerms.set(key, term);
    return term;
  }

  #add(word: string, stem: string): number {
    const term = this.words.push(word) - 1;
    if (term === this.#stemOf.length) this.#stemOf = longer(this.#stemOf, term * 2);
    this.#stemOf[term] = this.#stemNumber(stem);
    return term;
  }

  /** The stem that a word was first given with, or undefined for a word that is not here. */
  stemOfWord(word: string): string | undefined {
    const term = this.#firstTerms.get(word);
    return term === undefined ? undefined : this.stems[this.#stemOf[term]];
  }

  #stemNumber(stem: string): number {
    const known = this.#stemNumbers.get(stem);
    if (known !== undefined) return known;
    const number = this.stems.push(stem) - 1;
    this.#stemNumbers.set(stem, number);
    return number;
  }
}
