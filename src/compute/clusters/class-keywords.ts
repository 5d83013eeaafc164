/**
 * Keywords of clusters by class-based TF-IDF: a word stands for a cluster when many of its pages have it and, against that, few
 * pages at large. Pages count, not occurrences, so that no single page speaks for a topic.
 * A cluster is set against the other pages of its language, or the words that every text of a language has would tell it from the rest;
 * what is nearly as frequent there is no keyword, and a cluster may have none. A cluster that is nearly all of its language has nothing to
 * be set against: where the language's stop words are known, it is named by the words that most of its pages have.
 * Source: Grootendorst 2022 (BERTopic), with the lift over the pages of the language beside the inverse frequency.
 */
import { stopWordsOf } from '../text/stop-words.ts';
import type { KeywordTerm } from './keyword-terms.ts';

interface TermCounts {
  pages: number;
  byCluster: Map<number, number>;
  surfaces: Map<string, number>;
}

interface ScoredTerm {
  key: string;
  /** Pages of the cluster that have it. */
  pages: number;
  score: number;
}

const keywordsPerCluster = 10;
/** A keyword is on at least so many pages of its cluster, and on this share: nothing that one page alone says. */
const leastPages = 2;
const leastShare = 0.04;
/** It is so many times as frequent on the cluster's pages as on the others, both counts smoothed by half a page: less tells no topic. */
const leastRatio = 3;
/** A word on more of the other pages is a common one, however many of the cluster have it: `your` of advice, `said` of news. */
const mostElsewhere = 0.1;
/** The other pages of the language are so many for each of the cluster, or they do not tell what is common. */
const leastOthers = 0.1;
/** Without others to compare with, a word on less of the cluster's pages than this does not stand for it. */
const leastShareAlone = 0.3;
/** Terms kept; past it those of a single page go. About 200 bytes each. */
const maxTerms = 300_000;
const maxSurfaces = 4;
/** A word is written small when so much of its uses are: titles and beginnings of sentences are capitalised. */
const smallShare = 0.3;
/** A word is left out beside a name it is part of when so much of it is that name. */
const partShare = 0.5;
/** A word on more of all pages than this is no part of a name. */
const everywhereShare = 0.5;
/** Two stems are forms of one word when one is the beginning of the other, has so many letters, and lacks at most so many. */
const leastCommonLetters = 4;
const mostLettersMore = 3;

class LanguageKeywords {
  readonly #terms = new Map<string, TermCounts>();
  readonly #sizes = new Map<number, number>();
  /** Whether terms are without the language's stop words. */
  readonly #isSifted: boolean;
  #pages = 0;

  constructor(isSifted: boolean) {
    this.#isSifted = isSifted;
  }

  /** Pages of each cluster. */
  get sizes(): ReadonlyMap<number, number> {
    return this.#sizes;
  }

  /** Count a page's terms; `cluster` is -1 for noise, which counts for the language only. */
  add(cluster: number, terms: readonly KeywordTerm[]): void {
    this.#pages++;
    if (cluster >= 0) this.#sizes.set(cluster, (this.#sizes.get(cluster) ?? 0) + 1);
    const seen = new Set<string>();
    for (const { key, surface } of terms) {
      const counts = this.#terms.get(key) ?? { pages: 0, byCluster: new Map(), surfaces: new Map() };
      this.#terms.set(key, counts);
      if (counts.surfaces.size < maxSurfaces || counts.surfaces.has(surface)) {
        counts.surfaces.set(surface, (counts.surfaces.get(surface) ?? 0) + 1);
      }
      if (seen.has(key)) continue;
      seen.add(key);
      counts.pages++;
      if (cluster >= 0) counts.byCluster.set(cluster, (counts.byCluster.get(cluster) ?? 0) + 1);
    }
    if (this.#terms.size > maxTerms) this.#dropRare();
  }

  /** The keywords of each cluster, best first. */
  keywords(): Map<number, string[]> {
    const scored = new Map<number, ScoredTerm[]>();
    for (const [key, { pages, byCluster }] of this.#terms) {
      for (const [cluster, inCluster] of byCluster) {
        const score = this.#scoreOf(pages, inCluster, this.#sizes.get(cluster) ?? 0);
        if (score <= 0) continue;
        const list = scored.get(cluster) ?? [];
        list.push({ key, pages: inCluster, score });
        scored.set(cluster, list);
      }
    }
    return new Map([...this.#sizes.keys()].map((cluster) => [cluster, this.#chosen(scored.get(cluster) ?? [])]));
  }

  /** How well a word stands for a cluster of `size` pages, of which `inCluster` have it, of `pages` that have it at all. */
  #scoreOf(pages: number, inCluster: number, size: number): number {
    if (inCluster < Math.max(leastPages, leastShare * size)) return 0;
    const share = inCluster / size;
    const others = this.#pages - size;
    if (others < leastOthers * size) return this.#isSifted && share >= leastShareAlone ? share : 0;
    const elsewhere = pages - inCluster;
    if (elsewhere > mostElsewhere * others) return 0;
    if ((inCluster + 0.5) / (size + 1) < (leastRatio * (elsewhere + 0.5)) / (others + 1)) return 0;
    const atLarge = pages / this.#pages;
    return share * Math.log(share / atLarge) * Math.log(1 + 1 / atLarge);
  }

  #chosen(list: ScoredTerm[]): string[] {
    const best = list.sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1)).slice(0, keywordsPerCluster * 3);
    const names = best.filter(isName).filter(({ key }) => !key.split(' ').some((word) => this.#isEverywhere(word)));
    const isPart = (term: ScoredTerm) =>
      !isName(term) &&
      names.some(({ key, pages }) => key.split(' ').includes(term.key) && pages >= partShare * term.pages);
    const chosen: string[] = [];
    for (const term of best) {
      if (chosen.length === keywordsPerCluster) break;
      const isSaid = chosen.some((known) => term.key.split(' ').some((word) => areForms(known, word)));
      if (!isSaid && !isPart(term) && (!isName(term) || names.includes(term))) chosen.push(term.key);
    }
    return chosen.map((key) => this.#written(key));
  }

  /** An article, capitalised before a name: `The United`. */
  #isEverywhere(word: string): boolean {
    return !this.#isSifted && (this.#terms.get(word)?.pages ?? 0) > everywhereShare * this.#pages;
  }

  #written(key: string): string {
    const surfaces = [...(this.#terms.get(key)?.surfaces ?? [])].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    const uses = surfaces.reduce((sum, [, count]) => sum + count, 0);
    const small = surfaces.filter(([surface]) => surface === surface.toLowerCase());
    const smallUses = small.reduce((sum, [, count]) => sum + count, 0);
    const [[written]] = smallUses >= smallShare * uses && small.length > 0 ? small : surfaces;
    return written;
  }

  #dropRare(): void {
    for (const [key, { pages }] of this.#terms) if (pages === 1) this.#terms.delete(key);
  }
}

function isName({ key }: ScoredTerm): boolean {
  return key.includes(' ');
}

/** `Iraq` and `Iraqi`, `teacher` and `teach`: stems that stemming leaves apart. */
function areForms(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short === long) return true;
  return short.length >= leastCommonLetters && long.length - short.length <= mostLettersMore && long.startsWith(short);
}

export class ClassKeywords {
  readonly #languages = new Map<string, LanguageKeywords>();

  /** Count a page's terms; `cluster` is -1 for a page of none, with which the clusters are compared. */
  add(cluster: number, language: string, terms: readonly KeywordTerm[]): void {
    const keywords = this.#languages.get(language) ?? new LanguageKeywords(stopWordsOf(language).size > 0);
    this.#languages.set(language, keywords);
    keywords.add(cluster, terms);
  }

  /** The keywords of each cluster, best first, in the language of most of its pages. */
  keywords(): Map<number, string[]> {
    const most = new Map<number, number>();
    const found = new Map<number, string[]>();
    for (const language of this.#languages.values()) {
      const keywords = language.keywords();
      for (const [cluster, size] of language.sizes) {
        if (size <= (most.get(cluster) ?? 0)) continue;
        most.set(cluster, size);
        found.set(cluster, keywords.get(cluster) ?? []);
      }
    }
    return found;
  }
}
