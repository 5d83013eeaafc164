/** New items of a poll become pages to fetch. Known pages get no visit, and forgotten pages are not added again. */
import type { WatchEvent } from '../machines/watch.ts';
import { urlKey } from '../store/records.ts';
import type { Command, StoreReader, Transaction } from '../store/store.ts';
import { ingestPage, type PageSubmission } from './ingest-page.ts';
import { type Attempt, moveWatch, ownsJob } from './move-job.ts';

export interface ItemSubmission {
  submission: PageSubmission;
  /** The source's id for the item; null if only addresses distinguish items. */
  guid: string | null;
  feed_content: string | null;
}

interface TakenItems {
  accepted: number;
  blacklisted: number;
}

/** Max addresses per item. If its address changes with each poll, an unreadable item would add a page each time. */
const mostAddresses = 3;

/** Whether the item became a page at another address, even if that was forgotten. False: try the new address. */
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

/** Null, without changes, if the attempt no longer owns its poll. */
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

type PollResult = Omit<Extract<WatchEvent, { type: 'polled' }>, 'type' | 'at' | 'job'>;

/** Marks the watch as `ok` in the transaction that completes the poll. */
export function notePolled(jobNo: number, at: number, result: PollResult): (transaction: Transaction) => void {
  return (transaction) => {
    const watch = transaction.watches.ofJob(jobNo);
    if (watch !== undefined) moveWatch(transaction, watch, { type: 'polled', at, job: jobNo, ...result });
  };
}
