/**
 * Numbers terms: each pair of word and stem, with the word's other forms if any, gets a number once, so counting uses flat arrays instead of string hashes. Numbers are local
 * to a lexicon, which only grows; its owner replaces a large one.
 */
import { longer } from '../structures/longer.ts';
import { remembered } from '../structures/remembered.ts';
import { stemIn } from './stemmers.ts';
import { stopWordsOf } from './stop-words.ts';
import { isOfPairs } from './unspaced-scripts.ts';

const noTerms: readonly number[] = [];

/** A language's view of the terms; 0 for unknown yet. */
interface LanguageColumns {
  /** Term of the same word with its stem in the language. */
  terms: Uint32Array;
  /** 2 for a stop word, 1 for others. */
  stops: Uint8Array;
}

export class Lexicon {
  /** By term. Term 0 is punctuation. */
  readonly words: string[] = [''];
  /** By stem number; 0 is none. */
  readonly stems: string[] = [''];
  #stemOf = new Uint32Array(1024);
  readonly #firstTerms = new Map<string, number>();
  readonly #otherTerms = new Map<string, number>();
  readonly #columnsOf = remembered(
    Number.POSITIVE_INFINITY,
    (_language: string): LanguageColumns => ({ terms: new Uint32Array(1024), stops: new Uint8Array(1024) }),
  );
  readonly #othersOf = new Map<number, readonly number[]>();
  readonly #stemNumber = remembered(Number.POSITIVE_INFINITY, (stem: string) =>
    stem === '' ? 0 : this.stems.push(stem) - 1,
  );

  get size(): number {
    return this.words.length;
  }

  /** Stem number per term; over-allocated, and replaced on growth. */
  get stemOf(): Uint32Array {
    return this.#stemOf;
  }

  /** `word`: well-formed, '' for none. `others`: terms of its other forms, which have none. */
  term(word: string, stem: string, others: readonly number[] = noTerms): number {
    if (word === '' && stem === '') return 0;
    if (others.length === 0) {
      const first = this.#firstTerms.get(word);
      if (first === undefined) {
        const term = this.#add(word, stem);
        this.#firstTerms.set(word, term);
        return term;
      }
      if (this.stems[this.#stemOf[first]] === stem) return first;
    }
    const key = `${word.length} ${word}${stem} ${others.join(' ')}`;
    const other = this.#otherTerms.get(key);
    if (other !== undefined) return other;
    const term = this.#add(word, stem);
    if (others.length > 0) this.#othersOf.set(term, others);
    this.#otherTerms.set(key, term);
    return term;
  }

  /** Terms of the word's other forms (other-forms.ts). */
  othersOf(term: number): readonly number[] {
    return this.#othersOf.get(term) ?? noTerms;
  }

  #add(word: string, stem: string): number {
    const term = this.words.push(word) - 1;
    if (term === this.#stemOf.length) this.#stemOf = longer(this.#stemOf, term * 2);
    this.#stemOf[term] = this.#stemNumber(stem);
    return term;
  }

  /** `terms` with their words' stems in a language; unchanged in English or an unknown one. */
  inLanguage(terms: Uint32Array, language: string): Uint32Array {
    if (language === 'en' || language === '') return terms;
    const columns = this.#columnsOf(language);
    const inIt = (term: number): number => {
      if (term === 0) return 0;
      if (columns.terms.length <= term) columns.terms = longer(columns.terms, this.#stemOf.length);
      if (columns.terms[term] === 0) {
        const stem = stemIn(language, this.words[term]) ?? this.stems[this.#stemOf[term]];
        const found = this.term(this.words[term], stem, this.othersOf(term).map(inIt));
        columns.terms[term] = found;
      }
      return columns.terms[term];
    };
    return terms.map(inIt);
  }

  /** False for a character pair. */
  isStop(term: number, language: string): boolean {
    const columns = this.#columnsOf(language);
    if (columns.stops.length <= term) columns.stops = longer(columns.stops, this.#stemOf.length);
    if (columns.stops[term] === 0) {
      const word = this.words[term];
      columns.stops[term] = stopWordsOf(language).has(word) && !isOfPairs(word) ? 2 : 1;
    }
    return columns.stops[term] === 2;
  }

  /** Its first stem, or undefined for an unknown word. */
  stemOfWord(word: string): string | undefined {
    const term = this.#firstTerms.get(word);
    return term === undefined ? undefined : this.stems[this.#stemOf[term]];
  }
}
