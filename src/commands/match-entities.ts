/** When entity names are compared: after enough new entities, or when idle; and how far they have been compared. */
import { variantRule } from '../compute/text/name-variants.ts';
import { isInFlight } from '../domain/job.ts';
import type { EntityReader } from '../store/entities.ts';
import type { Command, Transaction } from '../store/store.ts';
import { createJob, type JobPolicy } from './move-job.ts';

/** Minimum of new entities per comparison. */
export const newEntitiesPerMatching = 50;
/**
 * The same as a share of all entities. Each comparison goes through all names; growing by a tenth each time, an import costs eleven
 * passes in total.
 */
const newSharePerMatching = 0.1;

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

/** Queue the job if there are new entities and none is in flight. */
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

/** The last entity compared with all before it, by today's rule. */
export function matchedTo(entities: EntityReader): number {
  return entities.state('matched_rule') === variantRule ? entities.state('matched_to') : 0;
}

/**
 * Record that all entities up to `to` were compared, and queue the next comparison if enough came meanwhile. Entities separated since
 * the job was queued may have been missed and stay new.
 */
export function noteMatched(transaction: Transaction, to: number, policy: JobPolicy): void {
  const { entities } = transaction;
  const alone = entities.state('alone_from');
  entities.setState('matched_to', alone === 0 ? to : Math.min(to, alone - 1));
  entities.setState('matched_rule', variantRule);
  if (alone === 0) entities.setState('unmatched', Math.max(0, entities.lastNumber() - to));
  entities.setState('alone_from', 0);
  queueIfEnough(transaction, policy);
}

/** Entities whose parent was deleted count as new. */
export function noteStandingAlone({ entities }: Transaction, numbers: readonly number[]): void {
  if (numbers.length === 0) return;
  const lowest = numbers.reduce((least, no) => Math.min(least, no));
  entities.setState('unmatched', entities.state('unmatched') + numbers.length);
  entities.setState('matched_to', Math.min(entities.state('matched_to'), lowest - 1));
  entities.setState('alone_from', Math.min(entities.state('alone_from') || lowest, lowest));
}
