import type { JobLimits } from '../actors/system/job-actor.ts';
import type { LaneLimit } from '../actors/system/scheduler.ts';
import type { Lane } from '../domain/job.ts';
import type { ProviderBreaker } from '../providers/provider-settings.ts';
import type { Settings } from '../settings/read-settings.ts';

/** Time between the stop request and the abort of running jobs: the process must end within 10 s. */
const drainGraceMs = 4000;
/** The default time limit as a share of the lease: a handler ends before its lease. */
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

/** A text that hangs twice is reported before its job's time limit. Loading takes 1 s, longer with little memory. */
export function encoderHangMs(settings: Pick<Settings, 'jobs'>): number {
  return Math.min(120_000, Math.max(5000, limitsOf(settings).timeoutMs / 4));
}

export function capacityOf({ entity }: Pick<Settings, 'entity'>, cores: number): Record<Lane, number> {
  return {
    suspect: 1,
    index: 16 * cores,
    fetch: 8,
    poll: 4,
    purge: 1,
    background: 1,
    // One of the two places stays free for the built-in model while a provider waits.
    backfill: 2,
    entities: entity.enabled ? 2 : 0,
  };
}

/** Without a network, one page per cooldown of the breaker is fetched. All others keep their state and order. */
export function heldByNetwork(breaker: ProviderBreaker): LaneLimit | null {
  if (breaker.state() === 'closed') return null;
  const forMs = breaker.waitMs();
  return { lane: 'fetch', places: forMs > 0 ? 0 : 1, forMs };
}
