/**
 * Clusters: answers what there is, starts runs (asked for, and those that the run clock says are due), has pages that come between runs
 * put to the nearest cluster, and renames clusters that lost pages to a forget. The rows are the truth; what is kept here is what
 * waits for the next step.
 */

import { Cron } from 'croner';
import { isRunInFlight, queueNamingOfStale, startRun } from '../../commands/cluster-runs.ts';
import type { ClusterRun, ClusterTrigger } from '../../domain/cluster.ts';
import { DomainError } from '../../domain/errors.ts';
import { Background, type Every } from '../system/background.ts';
import {
  commitThrough,
  type Handlers,
  type LibraryParts,
  type StartService,
  type SystemMessageName,
} from '../system/service.ts';
import { clusterCensus } from './cluster-census.ts';
import { pagePlacement } from './page-placement.ts';
import { showClusters } from './show-clusters.ts';

interface ClustersDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'feed' | 'maxAttempts' | 'log' | 'now'> {
  settings: RunClockSettings & { leiden_resolution: number };
  /** `indexing.page_vector_pooling`, told with each run. */
  pooling: string;
  every?: Every;
}

type ClusterMessages = Extract<SystemMessageName, `cluster.${string}`>;

const tickMs = 60_000;
/** Pages wait so long for others before they are put somewhere, ms. */
const gatherMs = 500;

export function clustersService(dependencies: ClustersDependencies): StartService<ClusterMessages> {
  const { ask, reader, feed, settings, pooling, maxAttempts, log, now, every } = dependencies;
  const commit = commitThrough(ask);

  const activeSpace = (): number | null => reader.models.activeModel()?.space ?? null;
  const begin = (trigger: ClusterTrigger): Promise<ClusterRun | null> => {
    const { leiden_resolution: resolution, min_pages } = settings;
    const params = { resolution, min_pages, pooling };
    return commit(startRun({ trigger, params, at: now(), max_attempts: maxAttempts }));
  };

  const start = async () => {
    const background = new Background(log, every);
    const placement = pagePlacement({ ask, commit, reader, activeSpace, isStopping: () => background.isStopping });
    const clock = new RunClock({ reader, settings, activeSpace, now });
    let gathering: NodeJS.Timeout | undefined;
    const nameStale = async () => {
      if (reader.clusters.anyStale()) await commit(queueNamingOfStale(now(), maxAttempts));
    };
    const put = (step: () => Promise<void>) => {
      background.soon('putting pages to clusters failed: tried again', step);
      background.soon('naming clusters failed: tried again', nameStale);
    };
    const takeUp = () => put(() => placement.takeUp());
    const gather = () => {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        put(() => placement.placeAll());
      }, gatherMs);
    };

    const unsubscribe = feed.subscribe('durable', ({ pages, jobs, tombstones }) => {
      if (pages.length > 0) clock.pagesCame();
      for (const { no, status } of pages) if (status === 'indexed') placement.waiting.add(no);
      // Pages that came during the run.
      if (jobs.some(({ kind, status }) => kind === 'cluster' && status === 'done')) takeUp();
      if (placement.waiting.size > 0 || tombstones.length > 0) gather();
    });
    takeUp();
    background.every(tickMs, 'looking whether to cluster failed: tried again', async () => {
      const trigger = await clock.dueRun();
      if (trigger !== null) await begin(trigger);
    });

    const pagesNow = async () => (await clusterCensus(reader, activeSpace())).pages;
    const handlers: Handlers<ClusterMessages> = {
      ...showClusters(reader, pagesNow, settings.min_pages),
      'cluster.recompute': async () => {
        if (activeSpace() === null) return { accepted: false, detail: 'no active embedding model' };
        const pages = await pagesNow();
        if (isRunInFlight(reader)) throw new DomainError('conflict', 'a run is in flight');
        if (pages < settings.min_pages) {
          return { accepted: false, detail: `${pages} pages have vectors; clustering needs ${settings.min_pages}` };
        }
        if ((await begin('manual')) === null) throw new DomainError('conflict', 'a run is in flight');
        return { accepted: true, detail: null };
      },
      'cluster.place': ({ page_nos }) => {
        clock.pagesCame();
        for (const no of page_nos) placement.waiting.add(no);
        gather();
        return undefined;
      },
    };
    return {
      handlers,
      stop: async () => {
        clearTimeout(gathering);
        unsubscribe();
        await background.stop();
      },
    };
  };
  return start;
}

/*
 * Says when a run of clustering is due: after a quiet time in which pages came, or by `cron`. It looks at the wall clock and keeps when
 * it last looked, when pages last came, and when `cron` comes next.
 */

interface RunClockSettings {
  min_pages: number;
  min_new_pages: number;
  idle_default_minutes: number;
  cron: string | null;
}

interface RunClockDependencies extends Pick<LibraryParts, 'reader' | 'now'> {
  settings: RunClockSettings;
  /** Of the active model, or null. */
  activeSpace: () => number | null;
}

const minuteMs = 60_000;
/** Of all pages. While more of them wait for vectors no run is due: it would make topics of the others only, and drop those of the rest. */
const mostWaiting = 0.1;

class RunClock {
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
