/**
 * Clusters: answers what there is, starts runs (asked for, after a quiet time, by the clock), puts pages that come between runs to the
 * nearest cluster, and has clusters named anew whose pages were forgotten. The rows are the truth; what is kept here is when pages
 * last came and which ones wait to be put somewhere.
 */
import type { Logger } from 'pino';
import { assignPages, isRunInFlight, startRun } from '../../commands/cluster-runs.ts';
import { queueNamingOfStale } from '../../commands/name-clusters.ts';
import type { ClusterPoint, ClusterRun, ClusterTrigger } from '../../domain/cluster.ts';
import { DomainError } from '../../domain/errors.ts';
import type { MessageName } from '../../domain/messages.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitFeed } from '../system/commit-feed.ts';
import { type Every, everyMs } from '../system/every.ts';
import { type Handlers, serviceLogic } from '../system/service.ts';
import { commitThrough, type SystemAsk } from '../system/system-messages.ts';
import { clusterCensus } from './cluster-census.ts';
import { isIdleRunDue, nextCronTime } from './cluster-schedule.ts';
import { nearestCluster, voters } from './nearest-cluster.ts';
import { showClusters } from './show-clusters.ts';

export interface ClustersDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  feed: CommitFeed;
  settings: {
    min_pages: number;
    min_new_pages: number;
    idle_default_minutes: number;
    leiden_resolution: number;
    cron: string | null;
  };
  /** `indexing.page_vector_pooling`, told with each run. */
  pooling: string;
  maxAttempts: number;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
  /** Run something every so many ms; gives how to stop it. */
  every?: Every;
}

type ClusterMessages = Extract<MessageName, `cluster.${string}`>;

const tickMs = 60_000;
/** Pages wait so long for others before they are put somewhere, ms. */
const gatherMs = 500;
/** Pages put somewhere in one commit. */
const pagesPerCommit = 32;
export function clustersLogic(dependencies: ClustersDependencies) {
  const { ask, reader, feed, settings, pooling, maxAttempts, log, now, every = everyMs } = dependencies;
  const commit = commitThrough(ask);

  const activeSpace = (): number | null => reader.models.activeModel()?.space ?? null;
  const begin = (trigger: ClusterTrigger): Promise<ClusterRun | null> => {
    const { leiden_resolution: resolution, min_pages } = settings;
    const params = { resolution, min_pages, pooling };
    return commit(startRun({ trigger, params, at: now(), max_attempts: maxAttempts }));
  };

  const start = async () => {
    let stopping = false;
    let activeAt = now();
    const waiting = new Set<number>();
    let gathering: NodeJS.Timeout | undefined;
    let work: Promise<void> = Promise.resolve();
    /** One after the other; what fails is told, and tried again by the next tick. */
    const soon = (what: string, step: () => Promise<void>) => {
      work = work.then(async () => {
        if (stopping) return;
        try {
          await step();
        } catch (error) {
          if (!stopping) log.warn({ err: error }, `${what} failed: tried again`);
        }
      });
    };

    const assignWaiting = async () => {
      while (waiting.size > 0 && !stopping) {
        const run = reader.clusters.currentRun();
        const some = [...waiting].slice(0, pagesPerCommit);
        const points: ClusterPoint[] = [];
        for (const no of run === 0 ? [] : some) {
          if (reader.pages.get(no)?.status !== 'indexed' || reader.clusters.point(run, no) !== undefined) continue;
          const filters = { domain: null, after: null, before: null, pages: null };
          const near = await ask('index.nearPages', { model: null, page_nos: [no], k: voters, except: [], filters });
          points.push(nearestCluster(no, near, (page) => reader.clusters.point(run, page)));
        }
        if (points.length > 0) await commit(assignPages(points));
        for (const no of some) waiting.delete(no);
      }
    };
    const takeUp = async () => {
      if (reader.clusters.currentRun() === 0) return;
      for (const no of (await clusterCensus(reader, activeSpace())).unknown) waiting.add(no);
      await assignWaiting();
    };
    const nameStale = async () => {
      if (reader.clusters.anyStale()) await commit(queueNamingOfStale(now(), maxAttempts));
    };

    const unsubscribe = feed.subscribe('durable', ({ pages, jobs, tombstones }) => {
      if (pages.length > 0) activeAt = now();
      for (const { no, status } of pages) if (status === 'indexed') waiting.add(no);
      if (jobs.some(({ kind, status }) => kind === 'cluster' && status === 'done')) {
        soon('putting pages to clusters', takeUp);
        soon('naming clusters', nameStale);
      }
      if (waiting.size === 0 && tombstones.length === 0) return;
      gathering ??= setTimeout(() => {
        gathering = undefined;
        soon('putting pages to clusters', assignWaiting);
        soon('naming clusters', nameStale);
      }, gatherMs);
    });

    const lastCron = reader.clusters.runs(Number.MAX_SAFE_INTEGER).find(({ trigger }) => trigger === 'cron');
    const cronTimeAfter = (from: number) => (settings.cron === null ? null : nextCronTime(settings.cron, from));
    let lastTickAt = now();
    let cronAt = cronTimeAfter(Math.min(lastCron?.started_at ?? lastTickAt, lastTickAt));
    const tick = async () => {
      const at = now();
      if (at < lastTickAt) {
        // The clock was set back: nothing waits until it has caught up.
        activeAt = Math.min(activeAt, at);
        cronAt = cronTimeAfter(at);
      }
      lastTickAt = at;
      if (isRunInFlight(reader)) return;
      const isCronDue = cronAt !== null && at >= cronAt;
      if (isCronDue) cronAt = cronTimeAfter(at);
      const idleMinutes = settings.idle_default_minutes;
      // What a run since then has not put anywhere has no vector, or the run failed for good: neither is a reason for another one.
      const ranAt = reader.clusters.latestRun()?.started_at ?? 0;
      const isSettled = ranAt >= activeAt && ranAt <= at;
      if (!isCronDue && (isSettled || at - activeAt < idleMinutes * tickMs)) return;
      const { pages, newPages } = await clusterCensus(reader, activeSpace());
      const { min_pages: minPages, min_new_pages: minNewPages } = settings;
      if (isCronDue && pages >= minPages) await begin('cron');
      else if (isIdleRunDue({ now: at, activeAt, pages, newPages }, { idleMinutes, minPages, minNewPages })) {
        await begin('idle');
      }
    };
    soon('putting pages to clusters', takeUp);
    soon('naming clusters', nameStale);
    const stopTicks = every(tickMs, () => soon('looking whether to cluster', tick));

    const handlers: Handlers<ClusterMessages> = {
      ...showClusters(reader),
      'cluster.recompute': async () => {
        const space = activeSpace();
        if (space === null) return { accepted: false, detail: 'no active embedding model' };
        if (isRunInFlight(reader)) throw new DomainError('conflict', 'a run is in flight');
        const pages = reader.vectors.count(space);
        if (pages < settings.min_pages) {
          return { accepted: false, detail: `${pages} pages are indexed; clustering needs ${settings.min_pages}` };
        }
        if ((await begin('manual')) === null) throw new DomainError('conflict', 'a run is in flight');
        return { accepted: true, detail: null };
      },
    };
    return {
      handlers,
      stop: async () => {
        stopping = true;
        stopTicks();
        clearTimeout(gathering);
        unsubscribe();
        await work;
      },
    };
  };
  return serviceLogic<ClusterMessages>('clusters', start);
}
