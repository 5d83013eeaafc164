/** The filters of a search, asked of one page. Pure; called by the catalog and for suggestions. */
import type { Page } from '../../domain/page.ts';
import type { PageFilters } from '../../domain/page-filters.ts';
import { domainMatches } from '../web/domain-match.ts';

/** Whether a page passes; when it was published is asked where that counts, ms. Whether it may be found at all is asked elsewhere. */
export function passesFilters(
  { no, domain, first_seen_at, last_seen_at }: Pick<Page, 'no' | 'domain' | 'first_seen_at' | 'last_seen_at'>,
  publishedAt: () => number | null,
  filters: PageFilters,
): boolean {
  if (filters.pages !== null && !filters.pages.has(no)) return false;
  if (filters.domain !== null && !domainMatches(domain, filters.domain)) return false;
  if (filters.after !== null && last_seen_at < filters.after) return false;
  if (filters.before !== null && first_seen_at >= filters.before) return false;
  return !asksWhenPublished(filters) || wasPublished(publishedAt(), filters);
}

/** Whether a filter asks when pages were published. */
export function asksWhenPublished({ published_after, published_before }: PageFilters): boolean {
  return (published_after ?? null) !== null || (published_before ?? null) !== null;
}

/** Whether a page of which that is known was published when a filter asks. */
export function wasPublished(at: number | null, { published_after: from, published_before: to }: PageFilters): boolean {
  return at !== null && at >= (from ?? Number.NEGATIVE_INFINITY) && at < (to ?? Number.POSITIVE_INFINITY);
}
