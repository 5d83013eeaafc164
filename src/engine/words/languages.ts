/**
 * The languages of passages, as the index knows them: each passage holds a term that names its own, among those of its facts, so that
 * deletions, merges and filters need nothing of their own for them. No query has such a term: words hold no control characters.
 */
import { firstAtLeast } from '../../compute/structures/sorted-search.ts';
import { lookupTerm } from '../../compute/structures/term-table.ts';
import { languages } from '../../compute/text/language-tags.ts';
import type { CorpusSegment } from './corpus.ts';
import { ordinalOf, type Segment } from './segment.ts';

const mark = '\u0001';

/** The term of the passages in a language, ISO 639-1. */
export function languageTerm(language: string): string {
  return mark + language;
}

const listed = new WeakMap<Segment, ReadonlyMap<string, Uint32Array>>();
const noPostings = new Uint32Array(0);

/** A language of fewer passages, or of a smaller share, is there by chance, or was told wrongly. */
const leastPassages = 5;
const leastShare = 0.01;

/** The languages of a corpus, the one of most passages first. Deleted passages count until they are merged away. */
export function languagesOf(corpus: readonly CorpusSegment[]): string[] {
  return countLanguages(corpus).map(([language]) => language);
}

/** Those of them that a query may be taken to be in: the commonest, and others that the library has in earnest. */
export function spokenLanguages(corpus: readonly CorpusSegment[]): string[] {
  const all = countLanguages(corpus);
  const passages = all.reduce((sum, [, count]) => sum + count, 0);
  const least = Math.max(leastPassages, leastShare * passages);
  return all.filter(([, count], place) => place === 0 || count >= least).map(([language]) => language);
}

/** The language of a passage, ISO 639-1; '' where the text did not tell, and of one that is not there. */
export function languageOfLabel(corpus: readonly CorpusSegment[], label: number): string {
  for (const { segment } of corpus) {
    const ordinal = ordinalOf(segment, label);
    if (ordinal < 0) continue;
    for (const [language, list] of listsOf(segment)) if (isIn(list, ordinal)) return language;
  }
  return '';
}

function isIn(list: Uint32Array, ordinal: number): boolean {
  const at = firstAtLeast(list, ordinal * 0x1_0000);
  return at < list.length && list[at] >>> 16 === ordinal;
}

function countLanguages(corpus: readonly CorpusSegment[]): [language: string, passages: number][] {
  const counts = new Map<string, number>();
  for (const { segment } of corpus) {
    for (const [language, { length }] of listsOf(segment)) counts.set(language, (counts.get(language) ?? 0) + length);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** By language the postings of its passages, the one of most passages first. */
function listsOf(segment: Segment): ReadonlyMap<string, Uint32Array> {
  let lists = listed.get(segment);
  if (lists === undefined) {
    const all = languages.map((language) => [language, passagesIn(segment, language)] as const);
    lists = new Map(all.filter(([, { length }]) => length > 0).sort(([, a], [, b]) => b.length - a.length));
    listed.set(segment, lists);
  }
  return lists;
}

function passagesIn({ terms, starts, postings }: Segment, language: string): Uint32Array {
  const term = lookupTerm(terms, languageTerm(language));
  return term < 0 ? noPostings : postings.subarray(starts[term], starts[term + 1]);
}
