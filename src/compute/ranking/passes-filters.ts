/** The filters of a search, asked of one page. Pure; called by the catalog and for suggestions. */
import type { Page } from '../../domain/page.ts';
import type { PageFilters } from '../../domain/page-filters.ts';
import { domainMatches } from '../web/domain-match.ts';

/** Whether a page passes. Whether it may be found at all is asked elsewhere. */
export function passesFilters(
  { no, domain, first_seen_at, last_seen_at }: Pick<Page, 'no' | 'domain' | 'first_seen_at' | 'last_seen_at'>,
  filters: PageFilters,
): boolean {
  if (filters.pages !== null && !filters.pages.has(no)) return false;
  if (filters.domain !== null && !domainMatches(domain, filters.domain)) return false;
  return (
    (filters.after === null || last_seen_at >= filters.after) &&
    (filters.before === null || first_seen_at < filters.before)
  );
}
