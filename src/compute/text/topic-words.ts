/**
 * Keywords of topics by class-based TF-IDF (BERTopic, Grootendorst 2022): words and phrases that many pages of a topic
 * have, and few other pages of the same language. Counts pages, not occurrences, so that no single page dominates.
 */
import lists from '../../../models/word-lists.json' with { type: 'json' };
import { findUnspacedRuns } from './scripts.ts';
import { englishFunctionWords, stopWordsOf } from './stop-words.ts';

/** A word, or a run of words without a stop word between them: usually a name or a noun phrase. */
export interface TopicTerm {
  /** Stems, so that inflections are counted together. */
  key: string;
  surface: string;
}

interface TermCounts {
  pages: number;
  byTopic: Map<number, number>;
  surfaces: Map<string, number>;
}

interface ScoredTerm {
  words: string[];
  key: string;
  /** Number of the topic's pages with this term. */
  pages: number;
  score: number;
}

/** An ampersand joins only capitals (`R&D`); elsewhere it is the rest of an HTML entity. */
const word = /\p{L}[\p{L}\p{M}\p{N}]*(?:(?:[-'’.]|(?<=\p{Lu})&(?=\p{Lu}))[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;
/** Addresses and entities of HTML. */
const markup = /\b(?:https?:\/\/|www\.)[^\s<>"]+|&#?\w+;|<[a-z/][^<>]*>/gi;
const possessive = /['’]s$/i;
/** `aren't`, `we'll` */
const contraction = /(?:n['’]t|['’](?:re|ve|ll|d|m))$/i;
/** Words that name no subject: of web pages, agencies, times, numbers, legal forms. English ones for all texts. */
const boilerplate: ReadonlySet<string> = new Set(lists.website_words);
const capitalised = /^\p{Lu}/u;
const mostWords = 3;
const shortest = 3;
const longest = 40;
const shortestUnspaced = 2;
/** Limited, because the platform's segmenter takes quadratic time in unspaced scripts. Sentences are shorter. */
const letters = /[\p{L}\p{M}\p{N}]{1,1024}/gu;

/** The terms of a text, in order. `language`: ISO 639-1, '' for unknown. `stem` folds inflections. */
export function createTopicTerms(stem: (word: string) => string): (text: string, language: string) => TopicTerm[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  const spaced = (text: string, language: string, isLeftOut: (word: string) => boolean, terms: TopicTerm[]) => {
    // Without known stop words, a longer run might consist of articles.
    const most = stopWordsOf(language).size > 0 ? mostWords : 1;
    let run: TopicTerm[] = [];
    let end = -1;
    for (const match of text.matchAll(word)) {
      const surface = match[0].replace(possessive, '');
      const lower = surface.toLowerCase();
      if (surface.length > longest || isLeftOut(lower)) {
        run = [];
        continue;
      }
      // Splits at a change of capitals: `sued | Acme`, and in German, which capitalizes nouns, `Brot | gebacken`.
      const isTurn =
        run.length > 0 &&
        capitalised.test(surface) === (language !== 'de') &&
        capitalised.test(run[run.length - 1].surface) === (language === 'de');
      if (isTurn || !/^[ \u00a0]$/.test(text.slice(end, match.index))) run = [];
      end = match.index + match[0].length;
      run = [...run, { key: /^[a-z']+$/.test(lower) ? stem(lower) : lower, surface }].slice(-most);
      if (surface.length >= shortest) terms.push(run[run.length - 1]);
      for (let from = run.length - 2; from >= 0; from--) {
        const part = run.slice(from);
        terms.push({ key: part.map(({ key }) => key).join(' '), surface: part.map((each) => each.surface).join(' ') });
      }
      if (surface !== match[0]) run = [];
    }
  };
  return (written, language) => {
    const stopWords = stopWordsOf(language);
    const isLeftOut = (lower: string) =>
      stopWords.has(lower) ||
      boilerplate.has(lower) ||
      (language === 'en' && (englishFunctionWords.has(lower) || contraction.test(lower)));
    const text = written.replace(markup, ' | ');
    const terms: TopicTerm[] = [];
    let at = 0;
    for (const { start, end } of findUnspacedRuns(text)) {
      spaced(text.slice(at, start), language, isLeftOut, terms);
      const pieces = [...text.slice(start, end).matchAll(letters)].flatMap(([piece]) => [...segmenter.segment(piece)]);
      for (const { segment, isWordLike } of pieces)
        if (isWordLike === true && segment.length >= shortestUnspaced && !isLeftOut(segment))
          terms.push({ key: segment, surface: segment });
      at = end;
    }
    spaced(text.slice(at), language, isLeftOut, terms);
    return terms;
  };
}

const keywordsPerTopic = 10;
/** Min pages and min share of a topic's pages with a keyword, so that no keyword comes from one page alone. */
const leastPages = 2;
const leastShare = 0.04;
/** Min ratio of the frequency on the topic's pages to that on other pages, both counts smoothed by half a page. */
const leastRatio = 3;
/** A word on a larger share of other pages is common: `your` in advice, `said` in news. */
const mostElsewhere = 0.1;
/** Min other pages of the language, relative to the topic's. Fewer do not show which words are common. */
const leastOthers = 0.1;
/** Without other pages to compare with, a keyword must be on this share of the topic's pages. */
const leastShareAlone = 0.3;
/** It must also have this length if no stop words are known: most articles, pronouns and prepositions are shorter. */
const shortestAlone = 6;
/** Bonus of a phrase per further word: it is more specific than a word on as many pages. */
const phraseWorth = 0.5;
/** A term is dropped if so large a share of its pages also has a listed phrase that contains it. */
const partShare = 0.4;
/** Max terms of all languages. Above it, terms on the fewest pages are dropped. About 570 bytes each: 230 MB. */
const maxTerms = 400_000;
/** Share of `maxTerms` that stays then, so that not every page causes a pass over all terms. */
const keptTerms = 0.75;
const maxSurfaces = 4;
/** A word is shown in lower case, or else not all in capitals, if this share of its uses is: titles, sentence starts and datelines have capitals. */
const smallShare = 0.3;
/** Two stems are forms of one word if one begins with the other: min common letters, max further letters. */
const leastCommonLetters = 4;
const mostLettersMore = 3;

class LanguageWords {
  readonly sizes = new Map<number, number>();
  readonly terms = new Map<string, TermCounts>();
  /** Whether stop words of the language were removed from the terms. */
  readonly #isSifted: boolean;
  #pages = 0;

  constructor(isSifted: boolean) {
    this.#isSifted = isSifted;
  }

  add(topic: number, terms: readonly TopicTerm[]): void {
    this.#pages++;
    if (topic >= 0) this.sizes.set(topic, (this.sizes.get(topic) ?? 0) + 1);
    const seen = new Set<string>();
    for (const { key, surface } of terms) {
      const counts = this.terms.get(key) ?? { pages: 0, byTopic: new Map(), surfaces: new Map() };
      this.terms.set(key, counts);
      if (counts.surfaces.size < maxSurfaces || counts.surfaces.has(surface))
        counts.surfaces.set(surface, (counts.surfaces.get(surface) ?? 0) + 1);
      if (seen.has(key)) continue;
      seen.add(key);
      counts.pages++;
      if (topic >= 0) counts.byTopic.set(topic, (counts.byTopic.get(topic) ?? 0) + 1);
    }
  }

  dropTermsOn(mostPages: number): void {
    for (const [key, { pages }] of this.terms) if (pages <= mostPages) this.terms.delete(key);
  }

  keywords(): Map<number, string[]> {
    const scored = new Map<number, ScoredTerm[]>([...this.sizes.keys()].map((topic) => [topic, []]));
    for (const [key, { pages, byTopic }] of this.terms) {
      const words = key.split(' ');
      for (const [topic, inTopic] of byTopic) {
        const score =
          this.#scoreOf(key, pages, inTopic, this.sizes.get(topic) ?? 0) * (1 + phraseWorth * (words.length - 1));
        if (score > 0) scored.get(topic)?.push({ words, key, pages: inTopic, score });
      }
    }
    return new Map([...scored].map(([topic, list]) => [topic, this.#chosen(list)]));
  }

  /** Score of a term for a topic of `size` pages: `inTopic` of them contain it, `pages` contain it in total. */
  #scoreOf(key: string, pages: number, inTopic: number, size: number): number {
    if (inTopic < Math.max(leastPages, leastShare * size)) return 0;
    const share = inTopic / size;
    const others = this.#pages - size;
    if (others < leastOthers * size)
      return share >= leastShareAlone && (this.#isSifted || key.length >= shortestAlone) ? share : 0;
    const elsewhere = pages - inTopic;
    if (elsewhere > mostElsewhere * others) return 0;
    if ((inTopic + 0.5) / (size + 1) < (leastRatio * (elsewhere + 0.5)) / (others + 1)) return 0;
    const atLarge = pages / this.#pages;
    return share * Math.log(share / atLarge) * Math.log(1 + 1 / atLarge);
  }

  #chosen(list: ScoredTerm[]): string[] {
    const best = list.sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1)).slice(0, keywordsPerTopic * 4);
    const phrases = best.filter(({ words }) => words.length > 1);
    const isPart = (term: ScoredTerm) =>
      phrases.some(
        ({ words, key, pages }) =>
          words.length > term.words.length && ` ${key} `.includes(` ${term.key} `) && pages >= partShare * term.pages,
      );
    const chosen: ScoredTerm[] = [];
    for (const term of best) {
      if (chosen.length === keywordsPerTopic) break;
      const isSaid = chosen.some(({ words }) =>
        words.some((known) => term.words.some((each) => areForms(known, each))),
      );
      if (!isSaid && !isPart(term)) chosen.push(term);
    }
    return chosen.map(({ key }) => this.#written(key));
  }

  #written(key: string): string {
    const surfaces = [...(this.terms.get(key)?.surfaces ?? [])].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    const usesOf = (some: typeof surfaces) => some.reduce((sum, [, count]) => sum + count, 0);
    const small = surfaces.filter(([surface]) => surface === surface.toLowerCase());
    const calm = surfaces.filter(([surface]) => surface !== surface.toUpperCase());
    const isUsual = (some: typeof surfaces) => some.length > 0 && usesOf(some) >= smallShare * usesOf(surfaces);
    const [[written]] = [small, calm].find(isUsual) ?? surfaces;
    return written;
  }
}

/** Whether stems that stemming does not join are forms of one word: `Iraq` and `Iraqi`, `teacher` and `teach`. */
function areForms(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  const isStem = short.length >= leastCommonLetters && long.startsWith(short);
  return short === long || (isStem && long.length - short.length <= mostLettersMore);
}

export class TopicWords {
  readonly #languages = new Map<string, LanguageWords>();
  /** Titles of all languages, which distinguish a topic if texts do not. */
  readonly #titles = new LanguageWords(false);
  readonly #maxTerms: number;

  constructor(most = maxTerms) {
    this.#maxTerms = most;
  }

  /** Count the terms of a page and of its title. `topic` -1: a page of no topic, with which topics are compared. */
  add(topic: number, language: string, terms: readonly TopicTerm[], title: readonly TopicTerm[] = []): void {
    const words = this.#languages.get(language) ?? new LanguageWords(stopWordsOf(language).size > 0);
    this.#languages.set(language, words);
    words.add(topic, terms);
    this.#titles.add(topic, title);
    if (this.terms <= this.#maxTerms) return;
    for (let pages = 1; this.terms > keptTerms * this.#maxTerms; pages++)
      for (const each of this.#counted()) each.dropTermsOn(pages);
  }

  get terms(): number {
    return this.#counted().reduce((sum, { terms }) => sum + terms.size, 0);
  }

  #counted(): LanguageWords[] {
    return [...this.#languages.values(), this.#titles];
  }

  /** Keywords of each topic, best first: in the most frequent language of its pages that has any, or from titles. */
  keywords(): Map<number, string[]> {
    const most = new Map<number, number>();
    const found = this.#titles.keywords();
    for (const language of this.#languages.values()) {
      for (const [topic, words] of language.keywords()) {
        const size = language.sizes.get(topic) ?? 0;
        if (words.length === 0 || size <= (most.get(topic) ?? 0)) continue;
        most.set(topic, size);
        found.set(topic, words);
      }
    }
    return found;
  }
}
