/** The filters of a search as the index asks them: contract "SearchFiltersBody", design "after, before". */
import type { SearchFilters } from './search.ts';

export interface PageFilters {
  /** Label suffix of the page's domain. */
  domain: string | null;
  /** last_seen_at ≥ after, ms. */
  after: number | null;
  /** first_seen_at < before, ms. */
  before: number | null;
}

export function pageFiltersOf(filters: SearchFilters | null | undefined): PageFilters {
  const time = (text: string | null | undefined) => (text == null ? null : Date.parse(text));
  return { domain: filters?.domain ?? null, after: time(filters?.after), before: time(filters?.before) };
}
