/** Numbers each pair of word and stem, with its other forms. A lexicon only grows; its owner replaces it when large. */
import { memoized } from '../structures/memoized.ts';
import { isOfPairs } from './scripts.ts';
import { stemIn } from './stemmers.ts';
import { stopWordsOf } from './stop-words.ts';

const noTerms: readonly number[] = [];
const everything = Number.POSITIVE_INFINITY;

export class Lexicon {
  /** Word by term. Term 0 is punctuation. */
  readonly words: string[] = [''];
  /** Stem by stem number; 0 is none. */
  readonly stems: string[] = [''];
  /** Stem number by term. */
  readonly stemOf: number[] = [0];
  readonly #firstTerms = new Map<string, number>();
  readonly #otherTerms = new Map<string, number>();
  /** By language: the term of the same word with its stem in that language. */
  readonly #termsIn = memoized(everything, (language: string) =>
    memoized(everything, (term: number): number => {
      const stem = stemIn(language, this.words[term]) ?? this.stems[this.stemOf[term]];
      return this.term(this.words[term], stem, this.othersOf(term).map(this.#termsIn(language)));
    }),
  );
  readonly #othersOf = new Map<number, readonly number[]>();
  readonly #stemNumber = memoized(everything, (stem: string) => (stem === '' ? 0 : this.stems.push(stem) - 1));

  get size(): number {
    return this.words.length;
  }

  /** `word`: well-formed, '' for none. `others`: terms of its other forms, which have no other forms themselves. */
  term(word: string, stem: string, others: readonly number[] = noTerms): number {
    if (word === '' && stem === '') return 0;
    if (others.length === 0) {
      const first = this.#firstTerms.get(word);
      if (first === undefined) {
        const term = this.#add(word, stem);
        this.#firstTerms.set(word, term);
        return term;
      }
      if (this.stems[this.stemOf[first]] === stem) return first;
    }
    const key = `${word.length} ${word}${stem} ${others.join(' ')}`;
    const other = this.#otherTerms.get(key);
    if (other !== undefined) return other;
    const term = this.#add(word, stem);
    if (others.length > 0) this.#othersOf.set(term, others);
    this.#otherTerms.set(key, term);
    return term;
  }

  othersOf(term: number): readonly number[] {
    return this.#othersOf.get(term) ?? noTerms;
  }

  #add(word: string, stem: string): number {
    const term = this.words.push(word) - 1;
    this.stemOf[term] = this.#stemNumber(stem);
    return term;
  }

  /** Replaces the stems of `terms` by those of a language. Unchanged in English or an unknown language. */
  inLanguage(terms: Uint32Array, language: string): Uint32Array {
    if (language === 'en' || language === '') return terms;
    const termIn = this.#termsIn(language);
    return terms.map((term) => (term === 0 ? 0 : termIn(term)));
  }

  /** Whether the term is a stop word. False for a pair of characters. */
  isStop(term: number, language: string): boolean {
    const word = this.words[term];
    return stopWordsOf(language).has(word) && !isOfPairs(word);
  }

  stemOfWord(word: string): string | undefined {
    const term = this.#firstTerms.get(word);
    return term === undefined ? undefined : this.stems[this.stemOf[term]];
  }
}
