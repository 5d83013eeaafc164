/** When names are looked through for entities that are one: after so many new entities, or when nothing else is to be done. */
import type { JobStatus } from '../domain/job.ts';
import type { Command, Transaction } from '../store/store.ts';
import { createJob } from './move-job.ts';

/** Contract "Entities": new entities after which a `canonicalize_entities` job is queued. */
export const newEntitiesPerMatching = 50;

interface JobPolicy {
  at: number;
  max_attempts: number;
}

/** Count new entities, and queue the job when there are enough. */
export function noteNewEntities(transaction: Transaction, count: number, policy: JobPolicy): void {
  if (count === 0) return;
  const { entities } = transaction;
  entities.setState('unmatched', entities.state('unmatched') + count);
  if (entities.state('unmatched') >= newEntitiesPerMatching) queueMatching(policy)(transaction);
}

/** Queue the job if there is anything new and none is in flight. */
export function queueMatching(policy: JobPolicy): Command<boolean> {
  return (transaction) => {
    const { entities, jobs } = transaction;
    if (entities.state('unmatched') === 0) return false;
    const latest = jobs.get(entities.state('matching_job'));
    if (latest !== undefined && unfinished.has(latest.status)) return false;
    const job = createJob(transaction, { kind: 'canonicalize_entities', page_no: null, ...policy });
    entities.setState('matching_job', job.no);
    entities.setState('unmatched', 0);
    return true;
  };
}

const unfinished: ReadonlySet<JobStatus> = new Set(['pending', 'running', 'failed']);
