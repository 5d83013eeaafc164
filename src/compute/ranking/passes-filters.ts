/** Search filters applied to one page. Pure. */
import type { Page, PageFilters } from '../../domain/page.ts';
import { isVisitedWithin, type VisitTimes } from '../structures/visit-times.ts';
import { domainMatches } from '../web/domain-match.ts';

/** `wasPublished` is separate, as it costs more. Does not decide visibility. */
export function passesFilters(
  page: Pick<Page, 'no' | 'domain'> & VisitTimes,
  publishedAt: () => number | null,
  filters: PageFilters,
): boolean {
  if (filters.pages !== null && !filters.pages.has(page.no)) return false;
  if (filters.domain !== null && !domainMatches(page.domain, filters.domain)) return false;
  if (!isVisitedWithin(page, filters.after, filters.before)) return false;
  return !asksWhenPublished(filters) || wasPublished(publishedAt(), filters);
}

export function asksWhenPublished({ published_after, published_before }: PageFilters): boolean {
  return (published_after ?? null) !== null || (published_before ?? null) !== null;
}

export function wasPublished(at: number | null, { published_after: from, published_before: to }: PageFilters): boolean {
  return at !== null && at >= (from ?? Number.NEGATIVE_INFINITY) && at < (to ?? Number.POSITIVE_INFINITY);
}
