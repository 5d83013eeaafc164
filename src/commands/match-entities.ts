/**
 * When names are looked through for entities that are one: after so many new entities, or when nothing else is to be done; and how far
 * they have been looked through.
 */
import type { MergeThresholds } from '../compute/entities/find-merges.ts';
import { isInFlight } from '../domain/job.ts';
import type { EntityReader } from '../store/entities.ts';
import type { Command, Transaction } from '../store/store.ts';
import { createJob, type JobPolicy } from './move-job.ts';

/** New entities after which names are compared, at least. */
export const newEntitiesPerMatching = 50;
/**
 * The same as a share of all that are known: a comparison goes through all names once, so over an import, with each a tenth larger than
 * the last, comparing takes as long as going through all of them eleven times.
 */
const newSharePerMatching = 0.1;

/** Count new entities, and queue the job when there are enough. */
export function noteNewEntities(transaction: Transaction, count: number, policy: JobPolicy): void {
  if (count === 0) return;
  const { entities } = transaction;
  entities.setState('unmatched', entities.state('unmatched') + count);
  queueIfEnough(transaction, policy);
}

function queueIfEnough(transaction: Transaction, policy: JobPolicy): void {
  const { entities } = transaction;
  const enough = Math.max(newEntitiesPerMatching, entities.count() * newSharePerMatching);
  if (entities.state('unmatched') >= enough) queueMatching(policy)(transaction);
}

/** Queue the job if there is anything new and none is in flight. */
export function queueMatching(policy: JobPolicy): Command<boolean> {
  return (transaction) => {
    const { entities, jobs } = transaction;
    if (entities.state('unmatched') === 0) return false;
    if (isInFlight(jobs.get(entities.state('matching_job')))) return false;
    const job = createJob(transaction, { kind: 'canonicalize_entities', page_no: null, ...policy });
    entities.setState('matching_job', job.no);
    entities.setState('unmatched', 0);
    entities.setState('alone_from', 0);
    return true;
  };
}

/** The last entity that was compared with all before it, by these thresholds: those behind it are new. */
export function matchedTo(entities: EntityReader, { cosine, editDistance }: MergeThresholds): number {
  const isSame =
    entities.state('matched_cosine') === cosine && entities.state('matched_edit_distance') === editDistance;
  return isSame ? entities.state('matched_to') : 0;
}

/**
 * Note that all entities up to this one were compared, and queue the next comparison if as many came meanwhile. Those that stand alone
 * since it was queued may not have been among them: they stay new.
 */
export function noteMatched(
  transaction: Transaction,
  to: number,
  { cosine, editDistance }: MergeThresholds,
  policy: JobPolicy,
): void {
  const { entities } = transaction;
  const alone = entities.state('alone_from');
  entities.setState('matched_to', alone === 0 ? to : Math.min(to, alone - 1));
  entities.setState('matched_cosine', cosine);
  entities.setState('matched_edit_distance', editDistance);
  if (alone === 0) entities.setState('unmatched', Math.max(0, entities.lastNumber() - to));
  entities.setState('alone_from', 0);
  queueIfEnough(transaction, policy);
}

/** Entities that stand for themselves again, because what they were merged into is gone, are as new. */
export function noteStandingAlone({ entities }: Transaction, numbers: readonly number[]): void {
  if (numbers.length === 0) return;
  const lowest = numbers.reduce((least, no) => Math.min(least, no));
  entities.setState('unmatched', entities.state('unmatched') + numbers.length);
  entities.setState('matched_to', Math.min(entities.state('matched_to'), lowest - 1));
  entities.setState('alone_from', Math.min(entities.state('alone_from') || lowest, lowest));
}
