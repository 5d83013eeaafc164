/** Contract "Jobs", and the ledger's row. Times that the scheduler compares are ms since the epoch. */
import { z } from 'zod';
import { datetime, idText, queryBoolean, queryInteger } from './values.ts';

export const jobKinds = [
  'index_page',
  'fetch_and_index',
  'extract_entities',
  'backfill_model',
  'cluster',
  'label_clusters',
  'canonicalize_entities',
  'purge_vectors',
  'eval_replay',
  'poll_watch',
] as const;
const jobKind = z.enum(jobKinds);
export type JobKind = z.infer<typeof jobKind>;

export const jobStatuses = ['pending', 'running', 'done', 'failed', 'dead'] as const;
export const jobStatus = z.enum(jobStatuses);
export type JobStatus = z.infer<typeof jobStatus>;

/** Waiting, running, or failed with a retry left. */
export const inFlightStatuses = ['pending', 'running', 'failed'] as const satisfies readonly JobStatus[];

export function isInFlight(job: Pick<Job, 'status'> | undefined): boolean {
  return inFlightStatuses.some((status) => status === job?.status);
}

export interface Job extends Pick<JobResponse, 'status' | 'max_attempts' | 'last_error'> {
  no: number;
  kind: JobKind;
  /** Number of counted runs. A released run (crash with others, drain, open breaker, no network) does not count. */
  attempts: number;
  /** Consecutive tries that did not reach the host; they are not attempts. Absent in rows of earlier versions. */
  unreached?: number | undefined;
  created_at: number;
  updated_at: number;
  /** When a pending or failed job may be claimed, ms. */
  run_at: number;
  /** End of the running attempt's lease, ms; 0 without one. */
  lease_until: number;
  /** Number of the current or last claim, unique in the store: results of older claims are refused. */
  claim: number;
  incarnation: string;
  /** Released after a crash in which several jobs ran. It runs first, and alone. */
  suspect: boolean;
  page_no: number | null;
}

export const jobResponse = z.strictObject({
  job_id: z.string(),
  kind: z.string(),
  status: jobStatus,
  attempts: z.int(),
  max_attempts: z.int(),
  last_error: z.string().nullable(),
  created_at: datetime,
  updated_at: datetime,
});
export type JobResponse = z.infer<typeof jobResponse>;

const jobSubject = z.strictObject({ id: z.string(), url: z.string(), title: z.string().nullable() });
export type JobSubject = z.infer<typeof jobSubject>;

/** `subject` on request; null without an existing page or watch. */
const listedJob = jobResponse.extend({ subject: jobSubject.nullable().optional() });
export type ListedJob = z.infer<typeof listedJob>;

export const jobListResponse = z.strictObject({ jobs: z.array(listedJob) });
export type JobListResponse = z.infer<typeof jobListResponse>;

export const jobListQuery = z
  .object({
    status: jobStatus.optional(),
    status_filter: jobStatus.optional(),
    kind: jobKind.optional(),
    subject: queryBoolean({ byDefault: false }),
    limit: queryInteger({ min: 1, max: 1000, byDefault: 100 }),
  })
  .refine((query) => query.status === undefined || query.status_filter === undefined, {
    message: 'status and its deprecated alias status_filter must not be sent together',
    path: ['status_filter'],
  });
type ParsedJobListQuery = z.infer<typeof jobListQuery>;
export type JobListQuery = Omit<ParsedJobListQuery, 'subject'> & Partial<Pick<ParsedJobListQuery, 'subject'>>;

export const jobRetryBatchRequest = z.strictObject({
  status: z.literal('dead').default('dead'),
  job_ids: z.array(idText).max(500).nullable().optional(),
  kind: jobKind.nullable().optional(),
  /** With a selector: only jobs older than this one, for paging. */
  before: idText.nullable().optional(),
  limit: z.int().min(1).max(500).default(100),
});
export type JobRetryBatchRequest = z.infer<typeof jobRetryBatchRequest>;

const jobRetryResult = z.discriminatedUnion('outcome', [
  jobResponse.extend({ outcome: z.literal('retried') }),
  z.strictObject({ job_id: z.string(), status: jobStatus, outcome: z.literal('skipped'), detail: z.string() }),
  z.strictObject({ job_id: z.string(), outcome: z.literal('not_found') }),
]);
export const jobRetryBatchResponse = z.strictObject({
  requested: z.int(),
  retried: z.int(),
  results: z.array(jobRetryResult),
});
export type JobRetryBatchResponse = z.infer<typeof jobRetryBatchResponse>;

export const lanes = ['suspect', 'index', 'fetch', 'poll', 'purge', 'entities', 'background', 'backfill'] as const;
export type Lane = (typeof lanes)[number];

const laneOfKind: Readonly<Record<JobKind, Lane>> = {
  index_page: 'index',
  fetch_and_index: 'fetch',
  poll_watch: 'poll',
  purge_vectors: 'purge',
  // One job per page. Jobs that users start must not wait for them.
  extract_entities: 'entities',
  // Takes hours; no other work may wait for it.
  backfill_model: 'backfill',
  canonicalize_entities: 'background',
  cluster: 'background',
  label_clusters: 'background',
  eval_replay: 'background',
};

/** Suspects (released after a crash) have a lane of their own. A row of another version may have an unknown kind. */
export function laneOf({ kind, suspect }: Pick<Job, 'kind' | 'suspect'>): Lane {
  return suspect ? 'suspect' : (laneOfKind[kind] ?? 'background');
}

const jobEventData = jobResponse.extend({ page_id: z.string().optional() });
export type JobEventData = z.infer<typeof jobEventData>;

export type SubscriptionEnd = 'left' | 'stalled' | 'stopping';

/** A subscription. The subscriber must call `leave`, or `take` until the end. */
export interface EventSubscription {
  /** The newest jobs at the start; later changes follow as events. */
  snapshot: JobListResponse;
  /** The next events as stream text. Empty: none within `idleMs`. Null: the subscription has ended. One call at a time. */
  take(idleMs: number): Promise<string | null>;
  leave(): void;
  /** Resolves with the reason when the subscription ends. */
  ended: Promise<SubscriptionEnd>;
}
