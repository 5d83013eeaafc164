/** Lists stored pages in parts, newest first, and finds the page of an address. */
import { passesFilters } from '../../compute/ranking/passes-filters.ts';
import { visitTimes } from '../../compute/structures/visit-times.ts';
import { readMinutes } from '../../compute/text/byline.ts';
import { addressesLike, type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { normalizeDomain } from '../../compute/web/domain-match.ts';
import { DomainError } from '../../domain/errors.ts';
import type { ClusterRef, PageDetails, PageListQuery, PageListResponse, PageSummary } from '../../domain/page.ts';
import { idOf, instantOf, isoOf, numberOf } from '../../domain/values.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import { inParts } from './background.ts';

/** Rows per turn of the event loop: some milliseconds. */
const rowsPerTurn = 500;
/** Max size of visits per part, as stored: some 60,000 visits. The part ends before the page that exceeds it. */
const maxVisitBytes = 2 ** 18;

/** Errors: DomainError `invalid` (domain, address, cursor). A page that stays unchanged is in exactly one part. */
export function pageLister(reader: StoreReader, canonicalize: CanonicalizeSettings) {
  const ofAddress = (url: string) => {
    const canonical = canonicalizeUrl(url, canonicalize);
    if ('invalid' in canonical) throw new DomainError('invalid', canonical.invalid);
    const { canonical_url } = canonical;
    const numbers = [canonical_url, ...addressesLike(canonical_url)].flatMap(
      (address) => reader.pages.numberByUrl(address) ?? [],
    );
    const page = numbers.length === 0 ? undefined : reader.pages.head(numbers[0]);
    const rule = reader.blacklist.match({ ...canonical, original_url: url });
    const blocked_by =
      rule === undefined ? null : { id: idOf('blacklist', rule.no), kind: rule.kind, pattern: rule.pattern };
    return { found: page === undefined ? [] : [page], blocked_by };
  };

  return async (
    { url, status, limit, cursor, visits = false, ...given }: PageListQuery,
    signal?: AbortSignal | undefined,
  ): Promise<PageListResponse> => {
    const domain = given.domain === undefined ? null : normalizeDomain(given.domain);
    if (domain !== null && typeof domain !== 'string') throw new DomainError('invalid', `domain: ${domain.invalid}`);
    const time = (text: string | undefined) => (text === undefined ? null : instantOf(text));
    const filters = { domain, after: time(given.after), before: time(given.before), pages: null };
    const passes = (page: PageHead) =>
      (status === undefined || page.status === status) && passesFilters(page, () => reader.pages.byline(page), filters);
    const summaryOf = (page: PageHead): PageSummary => {
      const summary = pageSummaryOf(reader, page);
      if (!visits) return summary;
      const isShown = (at: number) => at >= (filters.after ?? at) && (filters.before === null || at < filters.before);
      return { ...summary, visits: visitTimes(page).filter(isShown).map(isoOf) };
    };
    if (url !== undefined) {
      const { found, blocked_by } = ofAddress(url);
      return { pages: found.filter(passes).map(summaryOf), next_cursor: null, blocked_by };
    }

    const from = cursor === undefined ? undefined : numberOf('page', cursor);
    if (from === null) throw new DomainError('invalid', 'cursor: must be the `next_cursor` of an answer');
    const found: PageHead[] = [];
    let visitBytes = 0;
    let isFull = false;
    const headsBelow = (no: number) => reader.pages.headsBelow(no, rowsPerTurn);
    for await (const rows of inParts(headsBelow, ({ no }) => no, { after: from ?? Number.MAX_SAFE_INTEGER, signal })) {
      for (const page of rows) {
        if (!passes(page)) continue;
        found.push(page);
        visitBytes += visits ? (page.visits?.length ?? 0) : 0;
        isFull = found.length > limit || (visitBytes > maxVisitBytes && found.length > 1);
        if (isFull) break;
      }
      if (isFull) break;
    }
    const pages = isFull ? found.slice(0, -1) : found;
    return { pages: pages.map(summaryOf), next_cursor: isFull ? idOf('page', pages[pages.length - 1].no) : null };
  };
}

export function pageSummaryOf(reader: StoreReader, page: PageHead): PageSummary {
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

/** UTF-16 units per word. Estimates the word count of pages of earlier versions. */
const usualWordLength = 6;

export function pageDetailsOf({ pages }: Pick<StoreReader, 'pages'>, page: PageHead): PageDetails {
  const { author, published_at, site_name, declared_language, is } = pages.byline(page);
  const language = page.language === undefined ? declared_language : page.language;
  const words = page.word_count ?? Math.round((pages.bodyLength(page.no) ?? 0) / usualWordLength);
  return {
    author,
    published_at: published_at === null ? null : isoOf(published_at),
    language,
    site_name,
    read_minutes: readMinutes(words, language),
    is,
  };
}

export function clusterRefOf({ clusters }: Pick<StoreReader, 'clusters'>, pageNo: number): ClusterRef | null {
  const cluster = clusters.ofPage(pageNo)?.cluster;
  return cluster === undefined ? null : { id: idOf('cluster', cluster.no), label: cluster.label };
}
