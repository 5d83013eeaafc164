/**
 * Clusters: answers what there is, starts runs (asked for, and those that the run clock says are due), has pages that come between runs
 * put to the nearest cluster, and renames clusters that lost pages to a forget. The rows are the truth; what is kept here is what
 * waits for the next step.
 */
import type { Logger } from 'pino';
import { isRunInFlight, startRun } from '../../commands/cluster-runs.ts';
import { queueNamingOfStale } from '../../commands/name-clusters.ts';
import type { ClusterRun, ClusterTrigger } from '../../domain/cluster.ts';
import { DomainError } from '../../domain/errors.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background, type Every } from '../system/background.ts';
import type { CommitFeed } from '../system/commit-feed.ts';
import type { Handlers, StartService } from '../system/service.ts';
import { commitThrough, type SystemAsk, type SystemMessageName } from '../system/system-messages.ts';
import { clusterCensus } from './cluster-census.ts';
import { PagePlacement } from './page-placement.ts';
import { RunClock, type RunClockSettings } from './run-clock.ts';
import { showClusters } from './show-clusters.ts';

export interface ClustersDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  feed: CommitFeed;
  settings: RunClockSettings & { leiden_resolution: number };
  /** `indexing.page_vector_pooling`, told with each run. */
  pooling: string;
  maxAttempts: number;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
  /** Run something every so many ms; gives how to stop it. */
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
    const placement = new PagePlacement({ ask, commit, reader, activeSpace, isStopping: () => background.isStopping });
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
      for (const { no, status } of pages) if (status === 'indexed') placement.add(no);
      // Pages that came during the run.
      if (jobs.some(({ kind, status }) => kind === 'cluster' && status === 'done')) takeUp();
      if (!placement.isEmpty || tombstones.length > 0) gather();
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
        for (const no of page_nos) placement.add(no);
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
