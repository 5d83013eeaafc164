/**
 * What a page owns, in one place: whoever adds a record that belongs to a page, or that says something of it, adds its line to
 * one of the two functions here. The first runs while somebody waits for the answer to a forget, so it takes what can be read
 * through the API; the second runs in a job soon after and takes what is big and cannot.
 */
import type { Page } from '../domain/page.ts';
import { newTombstone } from '../machines/tombstone.ts';
import type { Transaction } from '../store/store.ts';
import { forgetMembership } from './cluster-runs.ts';
import { moveJob } from './move-job.ts';
import { removePageEntities } from './page-entities.ts';

/** The `last_error` of a job whose page was forgotten. */
const CANCELLED = 'cancelled: page forgotten';

/** Take a page out of everything that is answered. Its vectors and log entries are left for its tombstone's purge job. */
export function erasePage(transaction: Transaction, page: Page, at: number): void {
  for (const no of [page.index_job, page.entity_job]) if (no !== null) silenceJob(transaction, no, at);
  removePageEntities(transaction, page.no);
  forgetMembership(transaction, page.no);
  transaction.pages.remove(page);
  transaction.tombstones.put(newTombstone(page, at));
}

/**
 * Delete what is left in the store of an erased page, or of the content that a page had, but entries in the query log, which are looked
 * for together.
 */
export function purgeErased({ vectors, refusedTexts, models, backfills }: Transaction, pageNo: number): void {
  for (const { space } of models.all()) {
    vectors.remove(space, pageNo);
    refusedTexts.remove(space, pageNo);
    backfills.closeGap(space, pageNo);
  }
}

/** Cancel a job of a forgotten page; what a finished one said of its failures goes, for it may name a URL. */
function silenceJob(transaction: Transaction, no: number, at: number): void {
  const job = transaction.jobs.get(no);
  const cancelled = job && moveJob(transaction, job, { type: 'cancel', at, reason: CANCELLED });
  if (job !== undefined && cancelled === null) moveJob(transaction, job, { type: 'silence', at, message: CANCELLED });
}
