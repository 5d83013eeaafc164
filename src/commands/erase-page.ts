/**
 * What a page owns. A new record that belongs to a page, or mentions it, adds a line to one of the two functions here: the first runs
 * before a forget is answered and deletes what the API can return; the second runs in a job soon after and deletes the rest.
 */
import type { Page } from '../domain/page.ts';
import { newTombstone } from '../machines/tombstone.ts';
import type { Transaction } from '../store/store.ts';
import { forgetMembership } from './cluster-runs.ts';
import { moveJob } from './move-job.ts';
import { removePageEntities } from './page-entities.ts';

const CANCELLED = 'cancelled: page forgotten';

/** Remove a page from all answers. Its purge job deletes vectors and log entries. */
export function erasePage(transaction: Transaction, page: Page, at: number, reason = CANCELLED): void {
  for (const no of [page.index_job, page.entity_job]) if (no !== null) silenceJob(transaction, no, at, reason);
  removePageEntities(transaction, page.no);
  forgetMembership(transaction, page.no);
  transaction.pages.remove(page);
  transaction.tombstones.put(newTombstone(page, at));
}

/** Delete what remains of an erased page or a replaced content, except query log entries, which are searched for in bulk. */
export function purgeErased({ vectors, refusedTexts, models, backfills }: Transaction, pageNo: number): void {
  for (const { space } of models.all()) {
    vectors.remove(space, pageNo);
    refusedTexts.remove(space, pageNo);
    backfills.closeGap(space, pageNo);
  }
}

/** Cancel a job of a forgotten page and clear its errors, which may contain a URL. */
function silenceJob(transaction: Transaction, no: number, at: number, reason: string): void {
  const job = transaction.jobs.get(no);
  const cancelled = job && moveJob(transaction, job, { type: 'cancel', at, reason });
  if (job !== undefined && cancelled === null) moveJob(transaction, job, { type: 'silence', at, message: reason });
}
