/**
 * Keywords of topics by class-based TF-IDF (BERTopic, Grootendorst 2022): words and phrases that many of a topic's
 * pages have, and few others of the same language. Pages count, not occurrences: no single page speaks for a topic.
 */
import lists from '../../../models/word-lists.json' with { type: 'json' };
import { findUnspacedRuns } from './scripts.ts';
import { englishFunctionWords, stopWordsOf } from './stop-words.ts';

/** A word, or a run of words without a stop word between them: a name or a noun phrase, mostly. */
export interface TopicTerm {
  /** Stems, under which inflections are counted together. */
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
  /** Pages of the topic that have it. */
  pages: number;
  score: number;
}

/** An ampersand joins capitals only (`R&D`): elsewhere it is what is left of an entity of HTML. */
const word = /\p{L}[\p{L}\p{M}\p{N}]*(?:(?:[-'’.]|(?<=\p{Lu})&(?=\p{Lu}))[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;
/** Addresses and entities of HTML. */
const markup = /\b(?:https?:\/\/|www\.)[^\s<>"]+|&#?\w+;|<[a-z/][^<>]*>/gi;
const possessive = /['’]s$/i;
/** `aren't`, `we'll` */
const contraction = /(?:n['’]t|['’](?:re|ve|ll|d|m))$/i;
/** Words that name no subject: of web pages, agencies, times, numbers, legal forms. English ones occur in all languages. */
const boilerplate: ReadonlySet<string> = new Set(lists.website_words);
const capitalised = /^\p{Lu}/u;
const mostWords = 3;
const shortest = 3;
const longest = 40;
const shortestUnspaced = 2;
/** Bounded, as the platform's segmenter takes quadratic time in unspaced scripts. Sentences are shorter. */
const letters = /[\p{L}\p{M}\p{N}]{1,1024}/gu;

/** The terms of a text, in order. `language`: ISO 639-1, '' for unknown. `stem` folds inflections. */
export function createTopicTerms(stem: (word: string) => string): (text: string, language: string) => TopicTerm[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  const spaced = (text: string, language: string, isLeftOut: (word: string) => boolean, terms: TopicTerm[]) => {
    // Where no stop words are known, a run may be of articles.
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
      // `sued | Acme`, and in German, which writes nouns with capitals, `Brot | gebacken`.
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
  const unspaced = (text: string, isLeftOut: (word: string) => boolean, terms: TopicTerm[]) => {
    for (const { segment, isWordLike } of segmenter.segment(text)) {
      if (isWordLike === true && segment.length >= shortestUnspaced && !isLeftOut(segment))
        terms.push({ key: segment, surface: segment });
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
      for (const [piece] of text.slice(start, end).matchAll(letters)) unspaced(piece, isLeftOut, terms);
      at = end;
    }
    spaced(text.slice(at), language, isLeftOut, terms);
    return terms;
  };
}

const keywordsPerTopic = 10;
/** A keyword is on at least so many pages of its topic, and on this share: nothing that one page alone says. */
const leastPages = 2;
const leastShare = 0.04;
/** It is so many times as frequent on the topic's pages as on the others, both counts smoothed by half a page. */
const leastRatio = 3;
/** A word on a larger share of other pages is a common one: `your` of advice, `said` of news. */
const mostElsewhere = 0.1;
/** The other pages of the language are so many for each of the topic, or they do not show what is common. */
const leastOthers = 0.1;
/** Without others to compare with, a word on less of the topic's pages than this does not stand for it. */
const leastShareAlone = 0.3;
/** Nor, where no stop words are known, does a shorter one: most articles, pronouns and prepositions are shorter. */
const shortestAlone = 6;
/** How much more a phrase counts for each further word: it says more than a word on as many pages. */
const phraseWorth = 0.5;
/** A term is left out next to a phrase that it is part of when so many of its pages have the phrase. */
const partShare = 0.4;
/** Terms kept, of all languages together; past it those on the fewest pages go. About 570 bytes each: 230 MB. */
const maxTerms = 400_000;
/** Share of `maxTerms` that is left then, so that terms are not gone through for every page. */
const keptTerms = 0.75;
const maxSurfaces = 4;
/** A word is written small, or else not all in capitals, when so much of its uses are: titles, beginnings and datelines have capitals. */
const smallShare = 0.3;
/** Two stems are forms of a word if one begins with the other, of min so many letters, and has at most so many more. */
const leastCommonLetters = 4;
const mostLettersMore = 3;

class LanguageWords {
  readonly sizes = new Map<number, number>();
  readonly #terms = new Map<string, TermCounts>();
  /** Whether terms are without the language's stop words. */
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
      const counts = this.#terms.get(key) ?? { pages: 0, byTopic: new Map(), surfaces: new Map() };
      this.#terms.set(key, counts);
      if (counts.surfaces.size < maxSurfaces || counts.surfaces.has(surface))
        counts.surfaces.set(surface, (counts.surfaces.get(surface) ?? 0) + 1);
      if (seen.has(key)) continue;
      seen.add(key);
      counts.pages++;
      if (topic >= 0) counts.byTopic.set(topic, (counts.byTopic.get(topic) ?? 0) + 1);
    }
  }

  get terms(): number {
    return this.#terms.size;
  }

  dropTermsOn(mostPages: number): void {
    for (const [key, { pages }] of this.#terms) if (pages <= mostPages) this.#terms.delete(key);
  }

  keywords(): Map<number, string[]> {
    const scored = new Map<number, ScoredTerm[]>([...this.sizes.keys()].map((topic) => [topic, []]));
    for (const [key, { pages, byTopic }] of this.#terms) {
      const words = key.split(' ');
      for (const [topic, inTopic] of byTopic) {
        const score =
          this.#scoreOf(key, pages, inTopic, this.sizes.get(topic) ?? 0) * (1 + phraseWorth * (words.length - 1));
        if (score > 0) scored.get(topic)?.push({ words, key, pages: inTopic, score });
      }
    }
    return new Map([...scored].map(([topic, list]) => [topic, this.#chosen(list)]));
  }

  /** How well a term stands for a topic of `size` pages, of which `inTopic` have it, of `pages` that have it at all. */
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
    const surfaces = [...(this.#terms.get(key)?.surfaces ?? [])].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    const usesOf = (some: typeof surfaces) => some.reduce((sum, [, count]) => sum + count, 0);
    const small = surfaces.filter(([surface]) => surface === surface.toLowerCase());
    const calm = surfaces.filter(([surface]) => surface !== surface.toUpperCase());
    const isUsual = (some: typeof surfaces) => some.length > 0 && usesOf(some) >= smallShare * usesOf(surfaces);
    const [[written]] = [small, calm].find(isUsual) ?? surfaces;
    return written;
  }
}

/** `Iraq` and `Iraqi`, `teacher` and `teach`: stems that stemming leaves apart. */
function areForms(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short === long) return true;
  return short.length >= leastCommonLetters && long.length - short.length <= mostLettersMore && long.startsWith(short);
}

export class TopicWords {
  readonly #languages = new Map<string, LanguageWords>();
  /** Titles of all languages: what sets a topic apart where texts do not. */
  readonly #titles = new LanguageWords(false);
  readonly #maxTerms: number;

  constructor(most = maxTerms) {
    this.#maxTerms = most;
  }

  /** Count a page's terms and those of its title; `topic` is -1 for a page of none, with which topics are compared. */
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
    return this.#counted().reduce((sum, { terms }) => sum + terms, 0);
  }

  #counted(): LanguageWords[] {
    return [...this.#languages.values(), this.#titles];
  }

  /** Keywords of each topic, best first, in the language of most of its pages that gives any, or from its titles. */
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
