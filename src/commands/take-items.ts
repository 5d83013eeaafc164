/**
 * What a poll brings in: items that the index does not know become pages to be fetched, with what the feed says about them kept in
 * case that they cannot be. One transaction decides for each, so nothing known is visited again and nothing forgotten comes back.
 */
import type { Validators } from '../domain/watch.ts';
import { urlKey } from '../store/keys.ts';
import type { Command, StoreReader, Transaction } from '../store/store.ts';
import { ingestPage, type PageSubmission } from './ingest-page.ts';
import { moveWatch } from './move-rows.ts';
import { type Attempt, ownsJob } from './settle-job.ts';

export interface ItemSubmission {
  submission: PageSubmission;
  /** What the source calls it, whatever its address; null where addresses alone tell items apart. */
  guid: string | null;
  /** HTML that the feed gives for it, or null. */
  feed_content: string | null;
}

export interface TakenItems {
  accepted: number;
  blacklisted: number;
}

/** Addresses under which an item is tried: where the address is new at each poll, what cannot be read would be a page more each time. */
const mostAddresses = 3;

/**
 * Whether an item that its source names (`guid`) has become a page of this watch under another address. It has also where that page was
 * forgotten since; not where it could not be read, for it may be had under the address that it has now, until so many were tried.
 */
export function cameElsewhere(
  { watches, pages }: Pick<StoreReader, 'watches' | 'pages'>,
  watchNo: number,
  guid: string | null,
  canonicalUrl: string,
): boolean {
  const known = guid === null ? undefined : watches.item(watchNo, guid);
  if (known === undefined || known.url_key.equals(urlKey(canonicalUrl))) return false;
  const page = pages.numberByUrlKey(known.url_key);
  return page === undefined || pages.get(page)?.status !== 'dead' || known.addresses >= mostAddresses;
}

/** Null, and nothing written, where the attempt no longer owns its poll. */
export function takeItems(attempt: Attempt, items: readonly ItemSubmission[]): Command<TakenItems | null> {
  return (transaction) => {
    if (!ownsJob(transaction, attempt)) return null;
    const { pages, watches } = transaction;
    const watchNo = watches.ofJob(attempt.job_no)?.no ?? 0;
    const taken = { accepted: 0, blacklisted: 0 };
    for (const { submission, guid, feed_content } of items) {
      const { canonical_url } = submission;
      if (pages.numberByUrl(canonical_url) !== undefined) continue;
      if (cameElsewhere(transaction, watchNo, guid, canonical_url)) continue;
      const decision = ingestPage(submission)(transaction);
      if (decision.outcome === 'blacklisted') taken.blacklisted++;
      if (decision.outcome !== 'accepted') continue;
      taken.accepted++;
      if (guid !== null && watchNo !== 0) watches.noteItem(watchNo, guid, canonical_url);
      if (feed_content !== null) transaction.pages.putFeedContent(decision.page_no, feed_content);
    }
    return taken;
  };
}

export interface PollResult {
  /** Items that the source has; null where it said that nothing has changed. */
  items: number | null;
  validators: Validators | null;
  feed_url: string | null;
}

/** In the transaction that completes the poll: the watch is `ok`. */
export function notePolled(jobNo: number, at: number, result: PollResult): (transaction: Transaction) => void {
  return (transaction) => {
    const watch = transaction.watches.ofJob(jobNo);
    if (watch !== undefined) moveWatch(transaction, watch, { type: 'polled', at, job: jobNo, ...result });
  };
}
