/**
 * What a poll brings in: items that the index does not know become pages to be fetched, with what the feed says about them kept in
 * case that they cannot be. One transaction decides for each, so nothing known is visited again and nothing forgotten comes back.
 */
import type { Validators } from '../domain/watch.ts';
import type { Command, Transaction } from '../store/store.ts';
import { ingestPage, type PageSubmission } from './ingest-page.ts';
import { moveWatch } from './move-rows.ts';
import { type Attempt, ownsJob } from './settle-job.ts';

export interface ItemSubmission {
  submission: PageSubmission;
  /** HTML that the feed gives for it, or null. */
  feed_content: string | null;
}

export interface TakenItems {
  accepted: number;
  blacklisted: number;
}

/** Null, and nothing written, where the attempt no longer owns its poll. */
export function takeItems(attempt: Attempt, items: readonly ItemSubmission[]): Command<TakenItems | null> {
  return (transaction) => {
    if (!ownsJob(transaction, attempt)) return null;
    const taken = { accepted: 0, blacklisted: 0 };
    for (const { submission, feed_content } of items) {
      if (transaction.pages.numberByUrl(submission.canonical_url) !== undefined) continue;
      const decision = ingestPage(submission)(transaction);
      if (decision.outcome === 'blacklisted') taken.blacklisted++;
      if (decision.outcome !== 'accepted') continue;
      taken.accepted++;
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
