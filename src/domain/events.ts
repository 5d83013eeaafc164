/** The event stream of the job ledger: contract "Events". */
import { z } from 'zod';
import { type JobListResponse, jobResponse } from './job.ts';

/** The data of a `job` event: the job as its status has just become, and the page that it works on, if any. */
const jobEventData = jobResponse.extend({ page_id: z.string().optional() });
export type JobEventData = z.infer<typeof jobEventData>;

/** Why a subscription ended. */
export type SubscriptionEnd = 'left' | 'stalled' | 'stopping';

/** One subscriber's place in the stream. Whoever subscribes must `leave`, or take until the end. */
export interface EventSubscription {
  /** The newest jobs as they were when the subscription began; every later change follows as an event. */
  snapshot: JobListResponse;
  /**
   * The next events as text of the stream, at once where some wait, else when they come. An empty text: none came within
   * `idleMs`. Null: the subscription has ended. One call at a time.
   */
  take(idleMs: number): Promise<string | null>;
  leave(): void;
  /** Resolves when the subscription ends, with the reason. */
  ended: Promise<SubscriptionEnd>;
}
