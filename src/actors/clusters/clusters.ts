/** Clusters: answers queries, starts runs, assigns pages that arrive between runs, renames topics after a forget. */

import { Cron } from 'croner';
import { assignPages, isRunInFlight, queueNamingOfStale, startRun } from '../../commands/cluster-runs.ts';
import { domainMatches } from '../../compute/web/domain-match.ts';
import type { ClusterPoint, ClusterRun, ClusterTrigger } from '../../domain/cluster.ts';
import { demoDomain } from '../../domain/demo.ts';
import { DomainError } from '../../domain/errors.ts';
import type { NearPage } from '../indexes/page-space.ts';
import { Background, type Every } from '../system/background.ts';
import type { Handlers, LibraryParts, StartService, SystemMessageName } from '../system/service.ts';
import { clusterCensus } from './cluster-census.ts';
import { showClusters } from './show-clusters.ts';

interface ClustersDependencies
  extends Pick<LibraryParts, 'ask' | 'reader' | 'commit' | 'feed' | 'maxAttempts' | 'log' | 'now'> {
  settings: RunClockSettings & { leiden_resolution: number };
  /** `indexing.page_vector_pooling`, stored with each run. */
  pooling: string;
  every?: Every;
}

type ClusterMessages = Extract<SystemMessageName, `cluster.${string}`>;

const tickMs = 60_000;
/** How long a new page waits for others, to be assigned together with them, ms. */
const gatherMs = 500;

export function clustersService(dependencies: ClustersDependencies): StartService<ClusterMessages> {
  const { ask, reader, commit, feed, settings, pooling, maxAttempts, log, now, every } = dependencies;

  const activeSpace = (): number | null => reader.models.activeModel()?.space ?? null;
  const begin = (trigger: ClusterTrigger): Promise<ClusterRun | null> => {
    const { leiden_resolution: resolution, min_pages } = settings;
    const params = { resolution, min_pages, pooling };
    return commit(startRun({ trigger, params, at: now(), max_attempts: maxAttempts }));
  };

  const start = async () => {
    const background = new Background(log, every);
    const placement = pagePlacement({ ask, commit, reader, activeSpace, isStopping: () => background.isStopping });
    const clock = runClock({ reader, settings, activeSpace, now });
    let gathering: NodeJS.Timeout | undefined;
    const nameStale = async () => {
      if (reader.clusters.anyStale()) await commit(queueNamingOfStale(now(), maxAttempts));
    };
    const put = (step: () => Promise<void>) => {
      background.soon('pages could not be assigned to clusters: trying again', step);
      background.soon('clusters could not be named: trying again', nameStale);
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
      // Pages that arrived during the run.
      if (jobs.some(({ kind, status }) => kind === 'cluster' && status === 'done')) takeUp();
      if (placement.waiting.size > 0 || tombstones.length > 0) gather();
    });
    takeUp();
    background.every(tickMs, 'the check for a due clustering run failed: trying again', async () => {
      const trigger = await clock.dueRun();
      if (trigger !== null) await begin(trigger);
    });

    const pagesNow = async () => (await clusterCensus(reader, activeSpace())).pages;
    const handlers: Handlers<ClusterMessages> = {
      ...showClusters(reader, pagesNow, settings.min_pages),
      'cluster.recompute': async () => {
        if (activeSpace() === null) return { accepted: false, detail: 'no active embedding model' };
        const pages = await pagesNow();
        if (isRunInFlight(reader)) throw new DomainError('conflict', 'a run is in progress');
        if (pages < settings.min_pages) {
          return { accepted: false, detail: `${pages} pages have vectors; clustering needs ${settings.min_pages}` };
        }
        if ((await begin('manual')) === null) throw new DomainError('conflict', 'a run is in progress');
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

/* Decides when a run is due: after a quiet time in which pages arrived, or by `cron`. Uses the wall clock. */

interface RunClockSettings {
  min_pages: number;
  min_new_pages: number;
  idle_default_minutes: number;
  cron: string | null;
}

interface RunClockDependencies extends Pick<LibraryParts, 'reader' | 'now'> {
  settings: RunClockSettings;
  activeSpace: () => number | null;
}

const minuteMs = 60_000;
/** Max share of pages that may wait for vectors. Above it no run is due, because a run would drop their topics. */
const mostWaiting = 0.1;

/** Topics of demo pages do not wait for a quiet time. */
function isDemoIndexed({ pages, jobs }: LibraryParts['reader']): boolean {
  const [newest] = pages.headsBelow(Number.MAX_SAFE_INTEGER, 1);
  return newest !== undefined && domainMatches(newest.domain, demoDomain) && jobs.countIndexing(1) === 0;
}

function runClock({ reader, settings, activeSpace, now }: RunClockDependencies) {
  const { cron, idle_default_minutes: idleMinutes, min_pages: minPages, min_new_pages: minNewPages } = settings;
  let activeAt = now();
  let lastLookAt = now();
  /** Null if the expression names no future time. Throws if it is invalid. */
  const cronTimeAfter = (from: number): number | null =>
    cron === null ? null : (new Cron(cron, { paused: true }).nextRun(new Date(from))?.getTime() ?? null);
  const lastCron = reader.clusters.runs(Number.MAX_SAFE_INTEGER).find(({ trigger }) => trigger === 'cron');
  let cronAt = cronTimeAfter(Math.min(lastCron?.started_at ?? lastLookAt, lastLookAt));

  return {
    pagesCame(): void {
      activeAt = now();
    },
    /** Why a run is due now, or null. */
    async dueRun(): Promise<Extract<ClusterTrigger, 'cron' | 'idle'> | null> {
      const at = now();
      if (at < lastLookAt) {
        // The clock was set back: do not wait until it has caught up.
        activeAt = Math.min(activeAt, at);
        cronAt = cronTimeAfter(at);
      }
      lastLookAt = at;
      if (isRunInFlight(reader)) return null;
      const isCronDue = cronAt !== null && at >= cronAt;
      // Pages that a later run left out have no vector, or that run failed for good: neither justifies another run.
      const ranAt = reader.clusters.latestRun()?.started_at ?? 0;
      const isSettled = ranAt >= activeAt && ranAt <= at;
      const isQuiet = isDemoIndexed(reader) || at - activeAt >= idleMinutes * minuteMs;
      if (!isCronDue && (isSettled || !isQuiet)) return null;
      const space = activeSpace();
      if (space !== null && reader.backfills.pending(space).pages > mostWaiting * reader.pages.count()) return null;
      if (isCronDue) cronAt = cronTimeAfter(at);
      const { pages, newPages } = await clusterCensus(reader, space);
      if (isCronDue && pages >= minPages) return 'cron';
      return isQuiet && pages >= minPages && newPages >= minNewPages ? 'idle' : null;
    },
  };
}

interface PagePlacementDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'commit'> {
  activeSpace: () => number | null;
  /** When true, running work stops after its current commit. */
  isStopping: () => boolean;
}

/** The nearest pages, which vote. */
const voters = 15;
/** Min share of the votes for membership. */
const leastShare = 0.4;
const pagesPerCommit = 32;

export function pagePlacement({ ask, commit, reader, activeSpace, isStopping }: PagePlacementDependencies) {
  const waiting = new Set<number>();

  /** Assign all waiting pages. Without a run, just clear the list. */
  const placeAll = async (): Promise<void> => {
    while (waiting.size > 0 && !isStopping()) {
      const some = [...waiting].slice(0, pagesPerCommit);
      // Cleared before the assignment, so that a page that gets its vectors meanwhile is added again.
      for (const no of some) waiting.delete(no);
      try {
        await place(some);
      } catch (error) {
        for (const no of some) waiting.add(no);
        throw error;
      }
    }
  };

  const place = async (pageNos: readonly number[]): Promise<void> => {
    const hasVectors = (no: number) => {
      const space = activeSpace() ?? 0;
      return reader.vectors.has(space, no) && !reader.backfills.isBegun(space, no);
    };
    const run = reader.clusters.currentRun();
    const points: ClusterPoint[] = [];
    for (const no of run === 0 ? [] : pageNos) {
      if (reader.pages.head(no)?.status !== 'indexed' || reader.clusters.point(run, no) !== undefined) continue;
      // `cluster.place` is sent when the page has its vectors.
      if (!hasVectors(no)) continue;
      const filters = { domain: null, after: null, before: null, pages: null };
      const near = await ask('index.nearPages', { model: null, page_nos: [no], k: voters, except: [], filters });
      points.push(nearestCluster(no, near, (page) => reader.clusters.point(run, page)));
    }
    if (points.length > 0) await commit(assignPages(points));
  };

  /** Assign all pages that the current run does not know. */
  const takeUp = async (): Promise<void> => {
    if (reader.clusters.currentRun() === 0) return;
    for (const no of (await clusterCensus(reader, activeSpace())).unknown) waiting.add(no);
    await placeAll();
  };

  return { waiting, placeAll, takeUp };
}

/** A page's cluster and position by the votes of its nearest pages; NaN without any. `pointOf`: points of the run. */
function nearestCluster(
  page_no: number,
  near: readonly NearPage[],
  pointOf: (pageNo: number) => ClusterPoint | undefined,
): ClusterPoint {
  const votes = new Map<number, { share: number; x: number; y: number }>();
  let all = 0;
  for (const { page_no: neighbour, score } of near) {
    const point = pointOf(neighbour);
    if (point === undefined || Number.isNaN(point.x) || score <= 0) continue;
    all += score;
    const vote = votes.get(point.cluster_no) ?? { share: 0, x: 0, y: 0 };
    vote.share += score;
    vote.x += score * point.x;
    vote.y += score * point.y;
    votes.set(point.cluster_no, vote);
  }
  const [best] = [...votes].sort(([a, x], [b, y]) => y.share - x.share || a - b);
  if (best === undefined) return { page_no, cluster_no: 0, probability: 0, x: Number.NaN, y: Number.NaN, since: true };
  const [cluster_no, { share, x, y }] = best;
  const place = { page_no, x: x / share, y: y / share, since: true };
  const isMember = cluster_no !== 0 && share / all >= leastShare;
  return { ...place, cluster_no: isMember ? cluster_no : 0, probability: isMember ? share / all : 0 };
}
