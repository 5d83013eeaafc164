/** The filters of a search as the index asks them: contract "SearchFiltersBody", design "after, before". */
export interface PageFilters {
  /** Label suffix of the page's domain. */
  domain: string | null;
  /** last_seen_at ≥ after, ms. */
  after: number | null;
  /** first_seen_at < before, ms. */
  before: number | null;
  /** Published at this time or later, and before this one, ms; pages of which that is not known do not pass. */
  published_after?: number | null;
  published_before?: number | null;
  /** Only these pages; null: all. */
  pages: ReadonlySet<number> | null;
}
