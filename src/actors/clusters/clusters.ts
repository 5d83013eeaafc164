/**
 * Clusters: answers what there is, starts runs (asked for, after a quiet time, by the clock), puts pages that come between runs to the
 * nearest cluster, and has clusters named anew whose pages were forgotten. The rows are the truth; what is kept here is when pages
 * last came and which ones wait to be put somewhere.
 */
import type { Logger } from 'pino';
import { assignPages, isRunInFlight, startRun } from '../../commands/cluster-runs.ts';
import { queueNaming } from '../../commands/name-clusters.ts';
import type {
  Cluster,
  ClusterPoint,
  ClusterRun,
  ClusterRunResponse,
  ClusterSummary,
  ClusterTrigger,
} from '../../domain/cluster.ts';
import { DomainError, unknownId } from '../../domain/errors.ts';
import { idOf, isoOf, numberOf } from '../../domain/ids.ts';
import type { MessageName } from '../../domain/messages.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitFeed } from '../system/commit-feed.ts';
import { type Every, everyMs } from '../system/every.ts';
import { type Handlers, serviceLogic } from '../system/service.ts';
import { commitThrough, type SystemAsk } from '../system/system-messages.ts';
import { isIdleRunDue, nextCronTime } from './cluster-schedule.ts';
import { nearestCluster, voters } from './nearest-cluster.ts';

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
const sliceNumbers = 1000;
const blocksPerTurn = 16;

const turn = () => new Promise(setImmediate);

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

    /** Pages with vectors, those that the current run does not know, and how many came since it. */
    const census = async () => {
      const run = reader.clusters.currentRun();
      const known = new Set<number>();
      let since = 0;
      for (const [i, block] of reader.clusters.blockNumbers(run).entries()) {
        for (const point of reader.clusters.pointsOfBlock(run, block)) {
          known.add(point.page_no);
          if (point.since) since++;
        }
        if (i % blocksPerTurn === 0) await turn();
      }
      const unknown: number[] = [];
      const space = activeSpace();
      let pages = 0;
      for (let after = 0; space !== null; ) {
        const slice = reader.vectors.pageNumbersAfter(space, after, sliceNumbers);
        if (slice.length === 0) break;
        pages += slice.length;
        for (const no of slice) if (!known.has(no)) unknown.push(no);
        after = slice[slice.length - 1];
        await turn();
      }
      return { pages, unknown, newPages: unknown.length + since };
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
      for (const no of (await census()).unknown) waiting.add(no);
      await assignWaiting();
    };
    const nameStale = async () => {
      if (reader.clusters.all().some(({ stale, tombstoned }) => stale && !tombstoned)) {
        await commit(queueNaming(now(), maxAttempts));
      }
    };

    const unsubscribe = feed.subscribe(({ pages, jobs, tombstones }) => {
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
    let cronAt = settings.cron === null ? null : nextCronTime(settings.cron, lastCron?.started_at ?? now());
    const tick = async () => {
      if (isRunInFlight(reader)) return;
      const at = now();
      const isCronDue = cronAt !== null && at >= cronAt;
      if (isCronDue && settings.cron !== null) cronAt = nextCronTime(settings.cron, at);
      const idleMinutes = settings.idle_default_minutes;
      // What a run since then has not put anywhere has no vector, or the run failed for good: neither is a reason for another one.
      const isSettled = (reader.clusters.latestRun()?.started_at ?? 0) >= activeAt;
      if (!isCronDue && (isSettled || at - activeAt < idleMinutes * tickMs)) return;
      const { pages, newPages } = await census();
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
      'cluster.list': ({ include_tombstoned }) => ({
        clusters: reader.clusters
          .all()
          .filter(({ tombstoned }) => include_tombstoned || !tombstoned)
          .sort((a, b) => Number(a.tombstoned) - Number(b.tombstoned) || b.size - a.size || a.no - b.no)
          .map(summaryOf),
      }),
      'cluster.runs': ({ limit }) => ({ runs: reader.clusters.runs(limit).map(runResponseOf) }),
      'cluster.get': async ({ cluster_id }) => {
        const cluster = reader.clusters.get(numberOf('cluster', cluster_id) ?? 0);
        if (cluster === undefined) {
          throw unknownId('cluster', cluster_id);
        }
        const run = reader.clusters.currentRun();
        const pages: { page_id: string; canonical_url: string; title: string | null; probability: number | null }[] =
          [];
        const members = cluster.tombstoned ? [] : reader.clusters.pagesOf(cluster.no);
        for (const [i, no] of members.entries()) {
          if (i % sliceNumbers === sliceNumbers - 1) await turn();
          const page = reader.pages.get(no);
          const point = reader.clusters.point(run, no);
          if (page === undefined || point?.cluster_no !== cluster.no) continue;
          const { canonical_url, title } = page;
          pages.push({ page_id: idOf('page', no), canonical_url, title, probability: rounded(point.probability) });
        }
        pages.sort((a, b) => (b.probability ?? 0) - (a.probability ?? 0));
        return { cluster: summaryOf(cluster), pages };
      },
      'cluster.projection': async ({ run_id }) => {
        const no = numberOf('cluster_run', run_id) ?? 0;
        if (reader.clusters.run(no)?.finished_at == null) {
          throw new DomainError('not_found', `unknown or unfinished run: ${run_id.slice(0, 64)}`);
        }
        const points: { page_id: string; x: number; y: number; cluster_id: string | null }[] = [];
        for (const [i, block] of reader.clusters.blockNumbers(no).entries()) {
          for (const { page_no, cluster_no, x, y } of reader.clusters.pointsOfBlock(no, block)) {
            if (Number.isNaN(x)) continue; // nothing near it is on the map
            const cluster_id = cluster_no === 0 ? null : idOf('cluster', cluster_no);
            points.push({ page_id: idOf('page', page_no), x: rounded(x), y: rounded(y), cluster_id });
          }
          if (i % blocksPerTurn === 0) await turn();
        }
        return { run_id, points };
      },
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

function summaryOf({ no, label, keywords, size, tombstoned, x, y }: Cluster): ClusterSummary {
  return {
    id: idOf('cluster', no),
    label,
    keywords,
    size,
    tombstoned,
    projection_x: x === null ? null : rounded(x),
    projection_y: y === null ? null : rounded(y),
  };
}

function runResponseOf({ no, trigger, params, started_at, finished_at, ...run }: ClusterRun): ClusterRunResponse {
  return {
    id: idOf('cluster_run', no),
    trigger,
    algorithm: 'leiden',
    params,
    started_at: isoOf(started_at),
    finished_at: finished_at === null ? null : isoOf(finished_at),
    duration_ms: finished_at === null ? null : finished_at - started_at,
    n_pages: run.n_pages,
    n_clusters: run.n_clusters,
    n_noise: run.n_noise,
  };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
