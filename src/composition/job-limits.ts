/** How long attempts of jobs may take, and how many jobs run at once. */
import type { JobLimits } from '../actors/jobs/job-actor.ts';
import type { HeldLane } from '../actors/jobs/scheduler.ts';
import type { Lane } from '../domain/lane.ts';
import type { ProviderBreaker } from '../providers/provider-settings.ts';
import type { Settings } from '../settings/read-settings.ts';

/** Running jobs are stopped this long after the scheduler was asked to stop: the whole process is to end within 10 s. */
const drainGraceMs = 4000;
/** An attempt's time limit, as a share of its lease, when none is set: a handler ends before its lease does. */
const timeoutShareOfLease = 0.9;

export function limitsOf({ jobs }: Pick<Settings, 'jobs'>): JobLimits {
  const leaseMs = jobs.lease_minutes * 60_000;
  return {
    leaseMs,
    timeoutMs: (jobs.handler_timeout_s ?? (leaseMs / 1000) * timeoutShareOfLease) * 1000,
    backoffBaseMs: jobs.backoff_base_s * 1000,
    graceMs: drainGraceMs,
  };
}

/** Jobs that may run at once in each lane, on so many cores. */
export function capacityOf({ entity }: Pick<Settings, 'entity'>, cores: number): Record<Lane, number> {
  return {
    suspect: 1,
    index: 16 * cores,
    fetch: 8,
    poll: 4,
    purge: 1,
    background: 1,
    backfill: 1,
    entities: entity.enabled ? 2 : 0,
  };
}

/** While there is no network no page is fetched but one after each cooldown of its breaker, so that all others stay as they are, in order. */
export function heldByNetwork(breaker: ProviderBreaker): HeldLane | null {
  if (breaker.state() === 'closed') return null;
  const forMs = breaker.waitMs();
  return { lane: 'fetch', places: forMs > 0 ? 0 : 1, forMs };
}
