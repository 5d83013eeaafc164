/** Every service of a library with its dependencies. To add one, see CONTRIBUTING.md. */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { clustersService } from '../actors/clusters/clusters.ts';
import { entitiesService } from '../actors/entities/entities.ts';
import { forgettingService } from '../actors/forgetting/forgetting.ts';
import { indexesService } from '../actors/indexes/indexes.ts';
import { importsService } from '../actors/ingest/imports.ts';
import { type PageIndexer, pageIndexer } from '../actors/ingest/index-page.ts';
import { intakeService } from '../actors/ingest/intake.ts';
import { queriesService } from '../actors/jobs/queries.ts';
import { schedulerService } from '../actors/jobs/scheduler.ts';
import { journalService } from '../actors/journal/journal.ts';
import { QueryLogQueue } from '../actors/journal/query-log-queue.ts';
import { floorCalibrator } from '../actors/models/calibrate-outside.ts';
import { type ModelEmbedder, modelEmbedder } from '../actors/models/model-embedder.ts';
import { modelsService } from '../actors/models/models.ts';
import { openOutsideReranker } from '../actors/search/outside-reranker.ts';
import { queryVectorAsker } from '../actors/search/query-vector.ts';
import { retrieverService } from '../actors/search/retriever.ts';
import { eventsService } from '../actors/system/events.ts';
import { metricsService } from '../actors/system/metrics.ts';
import { type OldBefore, openRetention } from '../actors/system/retention.ts';
import type { ServiceStarts } from '../actors/system/services.ts';
import { type CommitCommand, commitThrough, type SystemAsk } from '../actors/system/system-messages.ts';
import { writerService } from '../actors/system/writer.ts';
import { watchesService } from '../actors/watches/watches.ts';
import { dayMs } from '../domain/durations.ts';
import { isKnownProvider } from '../providers/provider-settings.ts';
import { diskUsage } from '../store/disk-usage.ts';
import { jobHandlersOf, type Parts } from './job-handlers.ts';
import { capacityOf, heldByNetwork, limitsOf } from './job-limits.ts';
import { temporaryFolder } from './open-outside.ts';

interface ServiceParts extends Parts {
  ask: SystemAsk;
  commit: CommitCommand;
  embedder: ModelEmbedder;
  index: PageIndexer;
  queryLogQueue: QueryLogQueue;
  oldBefore: (keepDays: number) => ReturnType<OldBefore>;
}

export function servicesOf(parts: Parts): (ask: SystemAsk) => ServiceStarts {
  const { outside, metrics, threads, store } = parts;
  const queryLogQueue = new QueryLogQueue(() => metrics.queryLogDropped.inc());

  return (ask) => {
    const commit = commitThrough(ask);
    const embedder = modelEmbedder({
      embedders: outside.embedders,
      calibrateOutside: floorCalibrator({ embedders: outside.embedders, reader: store.reader, commit }),
    });
    const index = pageIndexer({
      ask,
      reader: store.reader,
      prepare: (pages, signal) => threads.work.run('preparePages', pages, { signal }),
      threads: threads.workers,
      embedders: outside.embedders,
    });
    const oldBefore = openRetention({ ...parts, reader: store.reader, commit });
    const serviceParts = { ...parts, ask, commit, embedder, index, queryLogQueue, oldBefore };
    return {
      ...foundation(serviceParts),
      ...collection(serviceParts),
      ...searching(serviceParts),
      ...telling(serviceParts),
      scheduler: scheduler(serviceParts),
    };
  };
}

function foundation({
  settings,
  log,
  metrics,
  path,
  store,
  feed,
  threads,
  outside,
  monotonic,
  history,
  recoveryWaitMs,
  aroundRecovery,
}: ServiceParts) {
  const { reader } = store;
  return {
    writer: writerService({ store, feed, log, flushTimeoutMs: settings.storage.flush_timeout_s * 1000 }),
    indexes: indexesService({
      dir: join(path, 'index'),
      storeId: store.storeId,
      reader,
      feed,
      work: threads.work,
      askQueryVector: queryVectorAsker({
        embedders: outside.embedders,
        deadlineMs: settings.search.embed_deadline_s * 1000,
        onDegraded: () => metrics.denseDegraded.inc(),
        log,
      }),
      threads: threads.index,
      searchData: { wordList: threads.wordList },
      log,
      monotonic,
      history,
      recoveryWaitMs,
      aroundRecovery,
    }),
  };
}

function collection(parts: ServiceParts) {
  const { settings, log, metrics, path, store, feed, threads, outside, ask, commit, index, oldBefore, now, monotonic } =
    parts;
  const { reader } = store;
  const maxAttempts = settings.jobs.max_attempts;
  return {
    intake: intakeService({
      ask,
      reader,
      feed,
      index,
      log,
      commit,
      extract: threads.extractor.extract,
      canonicalize: settings.canonicalize,
      maxAttempts,
      quotaBytes: settings.storage.max_bytes,
      usedBytes: () => store.usedBytes(),
      metrics,
      now,
    }),
    imports: importsService({
      reader,
      storeId: store.storeId,
      commit,
      dir: join(temporaryFolder(path), 'imports'),
      extract: threads.extractor.extract,
      canonicalize: settings.canonicalize,
      maxAttempts,
      quotaBytes: settings.storage.max_bytes,
      usedBytes: () => store.usedBytes(),
      metrics,
      log,
      now,
    }),
    queries: queriesService({
      reader,
      commit,
      writeTrouble: () => ask('store.trouble', {}),
      indexState: () => ask('index.state', {}),
      held: () => heldByNetwork(outside.networkBreaker),
      canonicalize: settings.canonicalize,
      oldBefore: () => oldBefore(settings.jobs.keep_days),
      log,
      now,
    }),
    watches: watchesService({
      reader,
      commit,
      pollers: outside.pollers,
      canonicalize: settings.canonicalize,
      defaultIntervalHours: settings.watch.default_interval_hours,
      tickEnabled: settings.watch.poll_tick_enabled,
      maxDuePerTick: settings.watch.max_due_per_tick,
      maxAttempts,
      log,
      now,
    }),
    clusters: clustersService({
      ask,
      reader,
      feed,
      settings: settings.cluster,
      pooling: settings.indexing.page_vector_pooling,
      maxAttempts,
      log,
      now,
    }),
    entities: entitiesService({
      reader,
      commit,
      languageOfPage: (page, signal) => threads.work.run('languageOfPage', page, { signal }),
      maxAttempts,
      enabled: settings.entity.enabled,
      thresholds: settings.entity,
      log,
      now,
    }),
    forgetting: forgettingService({
      ask,
      reader,
      feed,
      canonicalize: settings.canonicalize,
      maxAttempts,
      compactAfterMs: settings.forget.compact_after_s * 1000,
      log,
      now,
      monotonic,
    }),
  };
}

function searching(parts: ServiceParts) {
  const { settings, log, metrics, store, outside, encoder, ask, commit, embedder, now, monotonic } = parts;
  const { queryLogQueue: queue, oldBefore } = parts;
  const { reader } = store;
  const maxAttempts = settings.jobs.max_attempts;
  return {
    models: modelsService({
      ask,
      reader,
      embedder,
      isKnownProvider: (provider) => isKnownProvider(provider, settings),
      chunkBudget: settings.chunking.hard_max_tokens,
      prices: settings.embedder.prices,
      maxAttempts,
      encoderRuntime: () => encoder.state.unusable ?? encoder.state.runtime,
      log,
      now,
      monotonic,
    }),
    retriever: retrieverService({
      ask,
      reader,
      canonicalize: settings.canonicalize,
      queue,
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
      now,
      monotonic,
    }),
    journal: journalService({
      reader,
      commit,
      queue,
      oldBefore: () => oldBefore(settings.query_log.keep_days),
      maxAttempts,
      log,
      now,
    }),
  };
}

function telling({
  settings,
  log,
  metrics,
  path,
  store,
  feed,
  outside,
  commit,
  oldBefore,
  isShared,
  now,
  monotonic,
}: ServiceParts) {
  const { reader } = store;
  return {
    events: eventsService({
      reader,
      feed,
      maxSubscribers: settings.events.max_subscribers,
      queueSize: settings.events.queue_size,
      monotonic,
      onSubscribers: (count) => metrics.eventSubscribers.set(count),
      onEnd: (reason) => {
        metrics.eventSubscriptionsEnded.inc({ reason });
        if (reason === 'stalled') log.info({}, 'a subscriber of the event stream that took nothing was ended');
      },
    }),
    metrics: metricsService({
      reader,
      commit,
      feed,
      metrics,
      ownOnly: isShared,
      breakerStates: outside.breakers.states,
      disk: async () => ({
        dir: path,
        ...(await diskUsage(path)),
        store_used_bytes: store.usedBytes(),
        store_max_bytes: settings.storage.max_bytes,
      }),
      snapshotEveryMs: settings.observability.metrics_snapshot_interval_s * 1000,
      oldBefore: () => oldBefore(settings.metrics.keep_days),
      log,
      now,
    }),
  };
}

function scheduler(parts: ServiceParts) {
  const { settings, log, feed, threads, outside, ask, commit, embedder, index, oldBefore, now, random } = parts;
  return schedulerService({
    commit,
    feed,
    handlers: jobHandlersOf(parts, ask, embedder, index, () => oldBefore(settings.cluster.keep_days)),
    limits: limitsOf(settings),
    capacity: capacityOf(settings, threads.cores),
    held: () => heldByNetwork(outside.networkBreaker),
    incarnation: randomUUID(),
    now,
    random,
    log,
  });
}
