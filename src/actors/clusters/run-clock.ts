/**
 * Says when a run of clustering is due: after a quiet time in which pages came, or by `cron`. It looks at the wall clock and keeps when
 * it last looked, when pages last came, and when `cron` comes next.
 */
import { Cron } from 'croner';
import { isRunInFlight } from '../../commands/cluster-runs.ts';
import type { ClusterTrigger } from '../../domain/cluster.ts';
import type { StoreReader } from '../../store/store.ts';
import { clusterCensus } from './cluster-census.ts';

export interface RunClockSettings {
  min_pages: number;
  min_new_pages: number;
  idle_default_minutes: number;
  cron: string | null;
}

export interface RunClockDependencies {
  reader: StoreReader;
  settings: RunClockSettings;
  /** Of the active model, or null. */
  activeSpace: () => number | null;
  /** Wall clock, ms. */
  now: () => number;
}

const minuteMs = 60_000;
/** Of all pages. While more of them wait for vectors no run is due: it would make topics of the others only, and drop those of the rest. */
const mostWaiting = 0.1;

export class RunClock {
  readonly #dependencies: RunClockDependencies;
  #activeAt: number;
  #lastLookAt: number;
  #cronAt: number | null;

  constructor(dependencies: RunClockDependencies) {
    const { reader, now } = dependencies;
    this.#dependencies = dependencies;
    this.#activeAt = now();
    this.#lastLookAt = now();
    const lastCron = reader.clusters.runs(Number.MAX_SAFE_INTEGER).find(({ trigger }) => trigger === 'cron');
    this.#cronAt = this.#cronTimeAfter(Math.min(lastCron?.started_at ?? this.#lastLookAt, this.#lastLookAt));
  }

  pagesCame(): void {
    this.#activeAt = this.#dependencies.now();
  }

  /** What a run is to be started for now, or null. */
  async dueRun(): Promise<Extract<ClusterTrigger, 'cron' | 'idle'> | null> {
    const { reader, settings, activeSpace, now } = this.#dependencies;
    const at = now();
    if (at < this.#lastLookAt) {
      // The clock was set back: nothing waits until it has caught up.
      this.#activeAt = Math.min(this.#activeAt, at);
      this.#cronAt = this.#cronTimeAfter(at);
    }
    this.#lastLookAt = at;
    if (isRunInFlight(reader)) return null;
    const isCronDue = this.#cronAt !== null && at >= this.#cronAt;
    const { idle_default_minutes: idleMinutes, min_pages: minPages, min_new_pages: minNewPages } = settings;
    // What a run since then has not put anywhere has no vector, or the run failed for good: neither is a reason for another one.
    const ranAt = reader.clusters.latestRun()?.started_at ?? 0;
    const isSettled = ranAt >= this.#activeAt && ranAt <= at;
    if (!isCronDue && (isSettled || at - this.#activeAt < idleMinutes * minuteMs)) return null;
    const space = activeSpace();
    if (space !== null && reader.backfills.pending(space).pages > mostWaiting * reader.pages.count()) return null;
    if (isCronDue) this.#cronAt = this.#cronTimeAfter(at);
    const { pages, newPages } = await clusterCensus(reader, space);
    if (isCronDue && pages >= minPages) return 'cron';
    const isQuiet = at - this.#activeAt >= idleMinutes * minuteMs;
    return isQuiet && pages >= minPages && newPages >= minNewPages ? 'idle' : null;
  }

  /** Null where the expression names no time that comes. Errors: throws for one that cannot be read. */
  #cronTimeAfter(from: number): number | null {
    const { cron } = this.#dependencies.settings;
    return cron === null ? null : (new Cron(cron, { paused: true }).nextRun(new Date(from))?.getTime() ?? null);
  }
}
