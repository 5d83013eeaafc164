/**
 * Gives stored pages the canonical URL of the current rules, in slices that store the progress. Merges pages with one
 * URL and one text. Between slices a visit may create another page, which the pass then merges.
 */
import { getDomain } from 'tldts';
import { longerPeriod, visitTimes, withVisit } from '../compute/structures/visit-times.ts';
import {
  type CanonicalizeSettings,
  type CanonicalUrl,
  canonicalizeUrl,
  withoutQuery,
} from '../compute/web/canonical-url.ts';
import { withAll } from '../domain/metadata.ts';
import { ownTitle, type Page } from '../domain/page.ts';
import { settingsKey } from '../store/blacklist.ts';
import type { PageHead } from '../store/pages.ts';
import type { Command, Transaction } from '../store/store.ts';
import { putFacts } from './edit-pages.ts';
import { type ErasedPage, erasePage } from './forget.ts';

/** Increase it when canonical-url.ts or known-addresses.ts change stored URLs; all pages are then examined again. */
const rulesVersion = 1;
/** Marks a completed pass; no page has this number. */
export const allReaddressed = 0xffffffff;

const MERGED = 'cancelled: page merged';

/** The settings of a pass. If they change, a new pass begins. */
export function addressesKey(settings: CanonicalizeSettings): string {
  return `${rulesVersion} ${settingsKey({ ...settings, known_addresses: settings.known_addresses === true })}`;
}

/** Computed from the submitted URL, which has all parameters, unless the page is stored at the original of a copy. */
export function currentAddress(
  { canonical_url, original_url, domain }: Pick<Page, 'canonical_url' | 'original_url' | 'domain'>,
  settings: CanonicalizeSettings,
): CanonicalUrl {
  const submitted = canonicalizeUrl(original_url, { tracking_params: [], keep_params: {} });
  const isOfPlace = !('invalid' in submitted) && withoutQuery(submitted.canonical_url) === withoutQuery(canonical_url);
  const address = canonicalizeUrl(isOfPlace ? original_url : canonical_url, settings);
  return 'invalid' in address ? { canonical_url, domain } : address;
}

interface ReaddressedSlice {
  moved: number;
  /** Pages merged into another one; their labels are still in the index. */
  erased: ErasedPage[];
}

/** Readdress these pages, and store that all up to `after` are done. Skips pages deleted meanwhile. */
export function readdressPages(
  pageNos: readonly number[],
  after: number,
  { settings, at }: { settings: CanonicalizeSettings; at: number },
): Command<ReaddressedSlice> {
  return (transaction) => {
    const slice: ReaddressedSlice = { moved: 0, erased: [] };
    for (const no of pageNos) {
      const page = transaction.pages.get(no);
      if (page !== undefined) readdress(transaction, page, { settings, at }, slice);
    }
    transaction.pages.noteAddressesDone({ settings: addressesKey(settings), after });
    return slice;
  };
}

function readdress(
  transaction: Transaction,
  page: Page,
  { settings, at }: { settings: CanonicalizeSettings; at: number },
  slice: ReaddressedSlice,
): void {
  const { blacklist, pages } = transaction;
  const address = currentAddress(page, settings);
  if (address.canonical_url === page.canonical_url) return;
  const erase = (gone: Page, reason?: string) => {
    erasePage(transaction, gone, at, reason);
    slice.erased.push({ page_no: gone.no, first: gone.first_label, count: gone.chunk_count });
  };
  const rule = blacklist.match({ ...address, original_url: page.original_url });
  if (rule !== undefined) {
    // Forgotten by these rules before the pass reached it. Other rules do not concern this address.
    const isForgotten =
      rule.kind === 'url' && rule.canonicalized_by?.some((each) => settingsKey(each) === settingsKey(settings));
    if (isForgotten) erase(page);
    return;
  }
  const otherNo = pages.numberByUrl(address.canonical_url);
  const other = otherNo === undefined ? undefined : pages.get(otherNo);
  if (other !== undefined && !mayMerge(transaction, page, other)) return;
  slice.moved++;
  if (other === undefined) {
    pages.put({ ...page, ...address }, page);
    return;
  }
  const [kept, gone] = isFuller(transaction, page, other) ? [page, other] : [other, page];
  const feedContent = pages.hasBody(kept.no) ? undefined : (pages.feedContent(kept.no) ?? pages.feedContent(gone.no));
  erase(gone, MERGED);
  putFacts(transaction, { ...united(kept, gone), ...address }, kept, at);
  if (feedContent !== undefined) pages.putFeedContent(kept.no, feedContent);
  pages.noteMerge(gone.no, kept.no);
}

/** Merges only equal texts of one site: a broad rule must delete no text, and forgetting a site must be complete. */
function mayMerge({ pages }: Transaction, a: Page, b: Page): boolean {
  const [siteA, siteB] = [a, b].map(({ original_url }) => getDomain(original_url, { allowPrivateDomains: true }));
  const isOneText = a.content_hash === b.content_hash || !pages.hasBody(a.no) || !pages.hasBody(b.no);
  return (
    isOneText &&
    siteA === siteB &&
    getDomain(a.domain, { allowPrivateDomains: true }) === getDomain(b.domain, { allowPrivateDomains: true })
  );
}

function isFuller({ pages }: Transaction, a: Page, b: Page): boolean {
  const rank = ({ no, status }: PageHead) => [
    pages.hasBody(no) ? 1 : 0,
    status === 'indexed' ? 1 : 0,
    status === 'dead' ? 0 : 1,
    -no,
  ];
  const [ofA, ofB] = [rank(a), rank(b)];
  const differing = ofA.findIndex((value, at) => value !== ofB[at]);
  return ofA[differing] > ofB[differing];
}

/** Adds the visits and joins the facts of both pages. The text is that of the kept page, as after a revisit. */
function united(kept: Page, gone: Page): Page {
  const { original_url, title } = gone;
  const others = {
    ...(original_url === kept.original_url ? {} : { original_url }),
    ...(title === null || title === kept.title ? {} : { title }),
  };
  const visited = visitTimes(gone).reverse().reduce<Page>(withVisit, kept);
  return {
    ...visited,
    ...longerPeriod(visited, gone),
    title: ownTitle(kept.title, kept.canonical_url) ?? ownTitle(gone.title, gone.canonical_url) ?? kept.title,
    source: kept.source ?? gone.source,
    metadata: withAll(kept.metadata, gone.metadata, others),
    visit_count: kept.visit_count + gone.visit_count,
  };
}
