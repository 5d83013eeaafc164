/** The event stream of jobs: contract "Events". */
import { z } from 'zod';
import { type JobListResponse, jobResponse } from './job.ts';

/** The data of a `job` event: the job with its new status, and its page. */
const jobEventData = jobResponse.extend({ page_id: z.string().optional() });
export type JobEventData = z.infer<typeof jobEventData>;

export type SubscriptionEnd = 'left' | 'stalled' | 'stopping';

/** A subscription. The subscriber must `leave`, or take until the end. */
export interface EventSubscription {
  /** The newest jobs at the start; later changes follow as events. */
  snapshot: JobListResponse;
  /** The next events as stream text. Empty: none within `idleMs`. Null: the subscription has ended. One call at a time. */
  take(idleMs: number): Promise<string | null>;
  leave(): void;
  /** Resolves with the reason when the subscription ends. */
  ended: Promise<SubscriptionEnd>;
}
