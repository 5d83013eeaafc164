/** When entity names are compared: after enough new entities, or when idle. */
import { isInFlight } from '../domain/job.ts';
import type { Command, Transaction } from '../store/store.ts';
import { createJob, type JobPolicy } from './move-job.ts';

/** Min new entities per comparison. */
export const newEntitiesPerMatching = 50;
/** Min share of new entities. A comparison reads all names; at a half, an import costs three passes. Quiet times compare the rest. */
const newSharePerMatching = 0.5;

export function noteNewEntities(transaction: Transaction, count: number, policy: JobPolicy): void {
  if (count === 0) return;
  const { entities } = transaction;
  entities.setState('unmatched', entities.state('unmatched') + count);
  queueIfEnough(transaction, policy);
}

export function queueIfEnough(transaction: Transaction, policy: JobPolicy): void {
  const { entities } = transaction;
  const enough = Math.max(newEntitiesPerMatching, entities.count() * newSharePerMatching);
  if (entities.state('unmatched') >= enough) queueMatching(policy)(transaction);
}

export function queueMatching(policy: JobPolicy): Command<boolean> {
  return (transaction) => {
    const { entities, jobs } = transaction;
    if (entities.state('unmatched') === 0) return false;
    if (isInFlight(jobs.get(entities.state('matching_job')))) return false;
    const job = createJob(transaction, { kind: 'canonicalize_entities', page_no: null, ...policy });
    entities.setState('matching_job', job.no);
    entities.setState('unmatched', 0);
    return true;
  };
}
