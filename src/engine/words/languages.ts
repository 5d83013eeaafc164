/** Languages of passages, as a term among their facts. Its control character distinguishes it from words. */
import { memoizedByObject } from '../../compute/structures/memoized.ts';
import { firstAtLeast } from '../../compute/structures/sorted-search.ts';
import { lookupTerm } from '../../compute/structures/term-table.ts';
import { languages } from '../../compute/text/language-tags.ts';
import { ordinalOf, type Segment } from './segment.ts';

type InSegment = { readonly segment: Segment };

const mark = '\u0001';

export function languageTerm(language: string): string {
  return mark + language;
}

const noPostings = new Uint32Array(0);

/** Languages of fewer passages, or of a smaller share, are accidental or detected wrongly. */
const leastPassages = 5;
const leastShare = 0.01;

/** Most frequent first. Counts deleted passages until a merge drops them. */
export function languagesOf(corpus: readonly InSegment[]): string[] {
  return countLanguages(corpus).map(([language]) => language);
}

export function languagesOfSegment(segment: Segment): string[] {
  return [...listsOf(segment).keys()];
}

/** Languages that a query may be in: the most frequent, and others above the thresholds. */
export function spokenLanguages(corpus: readonly InSegment[]): string[] {
  const all = countLanguages(corpus);
  const passages = all.reduce((sum, [, count]) => sum + count, 0);
  const least = Math.max(leastPassages, leastShare * passages);
  return all.filter(([, count], place) => place === 0 || count >= least).map(([language]) => language);
}

export function languageOfLabel(corpus: readonly InSegment[], label: number): string {
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

function countLanguages(corpus: readonly InSegment[]): [language: string, passages: number][] {
  const counts = new Map<string, number>();
  for (const { segment } of corpus) {
    for (const [language, { length }] of listsOf(segment)) counts.set(language, (counts.get(language) ?? 0) + length);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** Postings by language, most passages first. */
const listsOf = memoizedByObject((segment: Segment): ReadonlyMap<string, Uint32Array> => {
  const all = languages.map((language) => [language, passagesIn(segment, language)] as const);
  return new Map(all.filter(([, { length }]) => length > 0).sort(([, a], [, b]) => b.length - a.length));
});

function passagesIn({ terms, starts, postings }: Segment, language: string): Uint32Array {
  const term = lookupTerm(terms, languageTerm(language));
  return term < 0 ? noPostings : postings.subarray(starts[term], starts[term + 1]);
}
