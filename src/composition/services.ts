/** Every service of a library with its dependencies. To add one, see CONTRIBUTING.md. */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { clusterPagesHandler } from '../actors/clusters/cluster-pages.ts';
import { clustersService } from '../actors/clusters/clusters.ts';
import { labelClustersHandler } from '../actors/clusters/label-clusters.ts';
import { canonicalizeEntitiesHandler } from '../actors/entities/canonicalize-entities.ts';
import { entitiesService } from '../actors/entities/entities.ts';
import { extractEntitiesHandler } from '../actors/entities/extract-entities.ts';
import { textReaders } from '../actors/fetching/content-readers.ts';
import { fetchAndIndexHandler } from '../actors/fetching/fetch-and-index.ts';
import { episodeReader } from '../actors/fetching/read-episode.ts';
import { purgeVectorsHandler } from '../actors/forgetting/file-rewrite.ts';
import { forgettingService } from '../actors/forgetting/forgetting.ts';
import { indexesService } from '../actors/indexes/indexes.ts';
import { importsService } from '../actors/ingest/imports.ts';
import { indexPageHandler, type PageIndexer, pageIndexer } from '../actors/ingest/index-page.ts';
import { intakeService, overQuota } from '../actors/ingest/intake.ts';
import { backfillHandler } from '../actors/models/backfill-model.ts';
import { encoderTurns } from '../actors/models/fill-built-in.ts';
import { type CalibrateOutside, floorCalibrator } from '../actors/models/model-embedder.ts';
import { modelsService } from '../actors/models/models.ts';
import { journalService } from '../actors/search/journal.ts';
import { openOutsideReranker } from '../actors/search/outside-reranker.ts';
import { QueryLogQueue } from '../actors/search/query-log-queue.ts';
import { queryVectorAsker } from '../actors/search/query-vector.ts';
import { replayHandler } from '../actors/search/replay-queries.ts';
import { retrieverService } from '../actors/search/retriever.ts';
import { eventsService } from '../actors/system/events.ts';
import type { JobHandler } from '../actors/system/job-actor.ts';
import { metricsService } from '../actors/system/metrics.ts';
import { queriesService } from '../actors/system/queries.ts';
import { type OldBefore, openRetention } from '../actors/system/retention.ts';
import { schedulerService } from '../actors/system/scheduler.ts';
import { type CommitFeed, commitThrough, type LibraryParts, type SystemAsk } from '../actors/system/service.ts';
import type { ServiceStarts } from '../actors/system/services.ts';
import { writerService } from '../actors/system/writer.ts';
import { pollWatchHandler } from '../actors/watches/poll-watch.ts';
import { watchesService } from '../actors/watches/watches.ts';
import { dayMs } from '../domain/durations.ts';
import type { JobKind } from '../domain/job.ts';
import type { ChunkedText } from '../engine/prepare-page.ts';
import { isKnownProvider } from '../providers/provider-settings.ts';
import { diskUsage } from '../store/disk-usage.ts';
import type { Store } from '../store/store.ts';
import type { CommitHistory } from '../store/stored-rows.ts';
import type { LibraryMetrics } from '../telemetry/metrics.ts';
import { capacityOf, heldByNetwork, limitsOf } from './job-limits.ts';
import { type Host, temporaryFolder } from './open-host.ts';
import type { Threads } from './open-threads.ts';

export function servicesOf(parts: Parts): (ask: SystemAsk) => ServiceStarts {
  const { settings, log, metrics, path, store, feed, threads, outside, encoder, now, monotonic, random } = parts;
  const { reader } = store;
  const { embedders } = outside;
  const queue = new QueryLogQueue(() => metrics.queryLogDropped.inc());
  const usedBytes = () => store.usedBytes();
  const quotaBytes = settings.storage.max_bytes;
  const held = () => heldByNetwork(outside.networkBreaker);

  return (ask) => {
    const commit = commitThrough(ask);
    const common: LibraryParts = {
      ...{ ask, reader, commit, feed, metrics, log, now, monotonic },
      canonicalize: settings.canonicalize,
      maxAttempts: settings.jobs.max_attempts,
    };
    const oldBefore = openRetention(common);
    const calibrate = floorCalibrator({ embedders, reader, commit });
    const index = pageIndexer({
      ...common,
      prepare: (pages, signal) => threads.texts.run('preparePages', pages, { signal }),
      threads: threads.workers,
      embedders,
      calibrate,
    });
    const submissions = { ...common, extract: threads.extractor.extract, quotaBytes, usedBytes };
    return {
      writer: writerService({ ...common, store, flushTimeoutMs: settings.storage.flush_timeout_s * 1000 }),
      indexes: indexesService({
        ...common,
        dir: join(path, 'index'),
        storeId: store.storeId,
        texts: threads.texts,
        work: threads.work,
        askQueryVector: queryVectorAsker({
          embedders,
          deadlineMs: settings.search.embed_deadline_s * 1000,
          onDegraded: () => metrics.denseDegraded.inc(),
          log,
        }),
        threads: threads.index,
        history: parts.history,
        recoveryWaitMs: parts.recoveryWaitMs,
        aroundRecovery: parts.aroundRecovery,
      }),
      intake: intakeService({ ...submissions, index }),
      imports: importsService({
        ...submissions,
        pdfs: threads.pdfs,
        storeId: store.storeId,
        dir: join(temporaryFolder(path), 'imports'),
      }),
      queries: queriesService({
        ...common,
        writeTrouble: () => ask('store.trouble', {}),
        indexState: () => ask('index.state', {}),
        held,
        oldBefore: () => oldBefore(settings.jobs.keep_days),
      }),
      watches: watchesService({
        ...common,
        pollers: outside.pollers,
        defaultIntervalHours: settings.watch.default_interval_hours,
        tickEnabled: settings.watch.poll_tick_enabled,
        maxDuePerTick: settings.watch.max_due_per_tick,
      }),
      clusters: clustersService({
        ...common,
        settings: settings.cluster,
        pooling: settings.indexing.page_vector_pooling,
      }),
      entities: entitiesService({
        ...common,
        enabled: settings.entity.enabled,
        thresholds: settings.entity,
      }),
      forgetting: forgettingService({ ...common, compactAfterMs: settings.forget.compact_after_s * 1000 }),
      models: modelsService({
        ...common,
        isKnownProvider: (provider) => isKnownProvider(provider, settings),
        chunkBudget: settings.chunking.hard_max_tokens,
        prices: settings.embedder.prices,
        encoderRuntime: () => encoder.state.unusable ?? encoder.state.runtime,
      }),
      retriever: retrieverService({
        ...common,
        ...{ queue, embedders, chat: outside.chat, llm: settings.llm },
        // So that an answer comes within the deadline, including its search.
        compareMs: settings.search.embed_deadline_s * 600,
        localReranker: settings.reranker.kind !== 'none',
        outsideReranker:
          outside.reranker === null
            ? null
            : openOutsideReranker({
                ...outside.reranker,
                reader,
                maxCandidates: settings.reranker.max_candidates,
                deadlineMs: settings.search.rerank_deadline_s * 1000,
                onScored: (scored, late) => {
                  metrics.rerankCandidates.inc({ outcome: 'scored' }, scored);
                  metrics.rerankCandidates.inc({ outcome: 'unscored' }, late);
                },
                log,
              }),
        onRerankDegraded: () => metrics.rerankDegraded.inc(),
        recencyHalfLifeDays: settings.search.recency_half_life_days,
        keepQueriesMs: settings.query_log.keep_days * dayMs,
        newQueryId: () => `qr_${randomBytes(12).toString('hex')}`,
        newCompareId: () => `cp_${randomBytes(12).toString('hex')}`,
      }),
      journal: journalService({ ...common, queue, oldBefore: () => oldBefore(settings.query_log.keep_days) }),
      events: eventsService({
        ...common,
        maxSubscribers: settings.events.max_subscribers,
        queueSize: settings.events.queue_size,
        onSubscribers: (count) => metrics.eventSubscribers.set(count),
        onEnd: (reason) => {
          metrics.eventSubscriptionsEnded.inc({ reason });
          if (reason === 'stalled') log.info({}, 'a stalled subscriber of the event stream was disconnected');
        },
      }),
      metrics: metricsService({
        ...common,
        ownOnly: parts.isShared,
        breakerStates: outside.breakers.states,
        disk: async () => ({
          dir: path,
          ...(await diskUsage(path)),
          store_used_bytes: usedBytes(),
          store_max_bytes: quotaBytes,
        }),
        snapshotEveryMs: settings.observability.metrics_snapshot_interval_s * 1000,
        oldBefore: () => oldBefore(settings.metrics.keep_days),
      }),
      scheduler: schedulerService({
        ...common,
        handlers: jobHandlersOf(parts, { ...common, index, calibrate }, () => oldBefore(settings.cluster.keep_days)),
        limits: limitsOf(settings),
        capacity: capacityOf(settings, threads.cores),
        held,
        incarnation: randomUUID(),
        random,
      }),
    };
  };
}

function jobHandlersOf(
  { settings, store, threads, outside, encoderPlace, path, aroundIndexPage }: Parts,
  library: LibraryParts & { calibrate: CalibrateOutside; index: PageIndexer },
  oldRunsBefore: OldBefore,
): Record<JobKind, JobHandler> {
  const common = { ...library, embedders: outside.embedders };
  const { reader, monotonic } = common;
  const readEntities = settings.entity.enabled;
  const segmentOfChunks = (text: ChunkedText, signal: AbortSignal) =>
    threads.texts.run('segmentOfChunks', text, { signal });
  const indexPage = aroundIndexPage(indexPageHandler({ ...common, segmentOfChunks, readEntities }));
  const takeTurn = encoderTurns({
    place: encoderPlace,
    library: path,
    pace: settings.encoder.pace,
    monotonic,
    after: (ms, run) => void setTimeout(run, ms).unref(),
  });
  return {
    index_page: indexPage,
    poll_watch: pollWatchHandler({
      ...common,
      pollers: outside.pollers,
      maxItemsPerPoll: settings.watch.max_items_per_poll,
      overQuota: () => overQuota({ quotaBytes: settings.storage.max_bytes, usedBytes: () => store.usedBytes() }),
    }),
    cluster: clusterPagesHandler({
      ...common,
      pool: threads.clusters,
      resolution: settings.cluster.leiden_resolution,
      oldBefore: oldRunsBefore,
      labels: outside.chat !== null,
    }),
    label_clusters: labelClustersHandler({
      ...common,
      pool: threads.clusters,
      chat: outside.chat,
      exclude: settings.llm.exclude,
    }),
    purge_vectors: purgeVectorsHandler(common),
    backfill_model: backfillHandler({ ...common, width: threads.workers + 1, takeTurn, readNames: readEntities }),
    extract_entities: extractEntitiesHandler({ ...common, takeTurn }),
    canonicalize_entities: canonicalizeEntitiesHandler(common),
    eval_replay: replayHandler({ ...common, prices: settings.embedder.prices }),
    fetch_and_index: fetchAndIndexHandler({
      ...common,
      fetch: outside.fetch,
      readers: { ...textReaders(threads.extractor.readFetched), ...threads.pdfs },
      readVideo: outside.videos.read,
      episodes: episodeReader({
        fetch: outside.fetch,
        readTranscript: threads.extractor.readTranscript,
        blacklist: reader.blacklist,
        canonicalize: settings.canonicalize,
      }),
      recordings: outside.recordings,
      extract: threads.extractor.extract,
      indexPage,
      readEntities,
    }),
  };
}

interface Parts extends Omit<Host, 'close' | 'metrics' | 'opening' | 'bringingUp' | 'threads'> {
  path: string;
  metrics: LibraryMetrics;
  threads: Threads;
  store: Store;
  feed: CommitFeed;
  /** Whether the library belongs to a cluster and moves between hosts. */
  isShared: boolean;
  /** History of its commits, for a library of a cluster. */
  history: CommitHistory | null;
  /** Max wait for missing index entries on opening, ms; undefined: until the index is complete. */
  recoveryWaitMs: number | undefined;
}
