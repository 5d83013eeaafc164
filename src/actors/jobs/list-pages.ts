/** Lists stored pages, newest first, part by part; and finds the one of an address. */
import { passesFilters } from '../../compute/ranking/passes-filters.ts';
import { addressesLike, type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { normalizeDomain } from '../../compute/web/domain-match.ts';
import { DomainError } from '../../domain/errors.ts';
import { idOf, instantOf, isoOf, numberOf } from '../../domain/ids.ts';
import type { PageListQuery, PageListResponse, PageSummary } from '../../domain/page.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import { pageDetailsOf } from './page-details.ts';

/** Rows read between two turns of the event loop: some milliseconds. */
const rowsPerTurn = 500;

/**
 * Errors: DomainError `invalid` for a domain, an address or a cursor that can be none. What is forgotten or comes while the list is read is or is
 * not in it; what was there before is in exactly one part.
 */
export function pageLister(reader: StoreReader, canonicalize: CanonicalizeSettings) {
  const summaryOf = (page: PageHead) => pageSummaryOf(reader, page);
  const ofAddress = (url: string): PageHead[] => {
    const canonical = canonicalizeUrl(url, canonicalize);
    if ('invalid' in canonical) throw new DomainError('invalid', canonical.invalid);
    const { canonical_url } = canonical;
    const numbers = [canonical_url, ...addressesLike(canonical_url)].flatMap(
      (address) => reader.pages.numberByUrl(address) ?? [],
    );
    const page = numbers.length === 0 ? undefined : reader.pages.head(numbers[0]);
    return page === undefined ? [] : [page];
  };

  return async (
    { url, status, limit, cursor, ...given }: PageListQuery,
    signal?: AbortSignal | undefined,
  ): Promise<PageListResponse> => {
    const domain = given.domain === undefined ? null : normalizeDomain(given.domain);
    if (domain !== null && typeof domain !== 'string') throw new DomainError('invalid', `domain: ${domain.invalid}`);
    const time = (text: string | undefined) => (text === undefined ? null : instantOf(text));
    const filters = { domain, after: time(given.after), before: time(given.before), pages: null };
    const passes = (page: PageHead) =>
      (status === undefined || page.status === status) &&
      passesFilters(page, () => reader.pages.byline(page).published_at, filters);
    if (url !== undefined) return { pages: ofAddress(url).filter(passes).map(summaryOf), next_cursor: null };

    const from = cursor === undefined ? undefined : numberOf('page', cursor);
    if (from === null) throw new DomainError('invalid', 'cursor: must be the `next_cursor` of an answer');
    const found: PageHead[] = [];
    let below = from ?? Number.MAX_SAFE_INTEGER;
    for (;;) {
      const rows = reader.pages.headsBelow(below, rowsPerTurn);
      for (const page of rows) {
        below = page.no;
        if (passes(page)) found.push(page);
        if (found.length > limit) break;
      }
      if (found.length > limit || rows.length < rowsPerTurn) break;
      await new Promise(setImmediate);
      signal?.throwIfAborted();
    }
    const pages = found.slice(0, limit);
    const hasMore = found.length > limit;
    return { pages: pages.map(summaryOf), next_cursor: hasMore ? idOf('page', pages[limit - 1].no) : null };
  };
}

function pageSummaryOf(reader: StoreReader, page: PageHead): PageSummary {
  return {
    page_id: idOf('page', page.no),
    canonical_url: page.canonical_url,
    title: page.title,
    domain: page.domain,
    source: page.source,
    first_seen_at: isoOf(page.first_seen_at),
    last_seen_at: isoOf(page.last_seen_at),
    visit_count: page.visit_count,
    indexed_at: page.indexed_at === null ? null : isoOf(page.indexed_at),
    status: page.status,
    ...pageDetailsOf(reader, page),
  };
}
