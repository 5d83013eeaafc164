import { foldTitle } from '../../domain/normalize-text.ts';
import type { FilteredByline, Page, PageFilters } from '../../domain/page.ts';
import { type PageFact, pageFacts } from '../../domain/query-clause.ts';
import { isVisitedWithin, type VisitTimes } from '../structures/visit-times.ts';
import { domainMatches } from '../web/domain-match.ts';

/** Whether a page passes the filters of a search. Does not check visibility. */
export function passesFilters(
  page: Pick<Page, 'no' | 'domain' | 'source'> & VisitTimes,
  bylineOf: () => FilteredByline,
  filters: PageFilters,
): boolean {
  if (filters.pages !== null && !filters.pages.has(page.no)) return false;
  if (filters.domain !== null && !domainMatches(page.domain, filters.domain)) return false;
  if (!isVisitedWithin(page, filters.after, filters.before)) return false;
  const byFacts = pageFacts.filter((fact) => filters[fact] != null);
  if (byFacts.length === 0 && !asksWhenPublished(filters)) return true;
  const byline = bylineOf();
  const facts = factsOf(page, byline);
  const has = (fact: PageFact) => facts[fact].some((value) => isFact(fact, foldTitle(value), filters[fact] ?? ''));
  return byFacts.every(has) && (!asksWhenPublished(filters) || wasPublished(byline.published_at, filters));
}

export function factsOf(
  { source }: Pick<Page, 'source'>,
  { type, tags, folders, is }: FilteredByline,
): Record<PageFact, string[]> {
  const states = is.includes('unread') ? is : [...is, 'read'];
  return { type: [type], tag: tags, folder: folders, source: source === null ? [] : [source], is: states };
}

/** Whether a page's fact is the wanted one; both are folded. A folder may be below the wanted one. */
export function isFact(fact: PageFact, value: string, wanted: string): boolean {
  return value === wanted || (fact === 'folder' && value.startsWith(`${wanted}/`));
}

export function asksWhenPublished({ published_after, published_before }: PageFilters): boolean {
  return (published_after ?? null) !== null || (published_before ?? null) !== null;
}

export function wasPublished(at: number | null, { published_after: from, published_before: to }: PageFilters): boolean {
  return at !== null && at >= (from ?? Number.NEGATIVE_INFINITY) && at < (to ?? Number.POSITIVE_INFINITY);
}
