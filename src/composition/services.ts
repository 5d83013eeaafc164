/** Every service of a library with its dependencies. To add one, see CONTRIBUTING.md. */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { clustersService } from '../actors/clusters/clusters.ts';
import { entitiesService } from '../actors/entities/entities.ts';
import { forgettingService } from '../actors/forgetting/forgetting.ts';
import { indexesService } from '../actors/indexes/indexes.ts';
import { importsService } from '../actors/ingest/imports.ts';
import { pageIndexer } from '../actors/ingest/index-page.ts';
import { intakeService } from '../actors/ingest/intake.ts';
import { floorCalibrator } from '../actors/models/model-embedder.ts';
import { modelsService } from '../actors/models/models.ts';
import { journalService } from '../actors/search/journal.ts';
import { openOutsideReranker } from '../actors/search/outside-reranker.ts';
import { QueryLogQueue } from '../actors/search/query-log-queue.ts';
import { queryVectorAsker } from '../actors/search/query-vector.ts';
import { retrieverService } from '../actors/search/retriever.ts';
import { eventsService } from '../actors/system/events.ts';
import { metricsService } from '../actors/system/metrics.ts';
import { queriesService } from '../actors/system/queries.ts';
import { openRetention } from '../actors/system/retention.ts';
import { schedulerService } from '../actors/system/scheduler.ts';
import { commitThrough, type LibraryParts, type SystemAsk } from '../actors/system/service.ts';
import type { ServiceStarts } from '../actors/system/services.ts';
import { writerService } from '../actors/system/writer.ts';
import { watchesService } from '../actors/watches/watches.ts';
import { dayMs } from '../domain/durations.ts';
import { isKnownProvider } from '../providers/provider-settings.ts';
import { diskUsage } from '../store/disk-usage.ts';
import { jobHandlersOf, type Parts } from './job-handlers.ts';
import { capacityOf, heldByNetwork, limitsOf } from './job-limits.ts';
import { temporaryFolder } from './open-host.ts';

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
        // So that an answer comes within the deadline, search included.
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
          if (reason === 'stalled') log.info({}, 'a subscriber of the event stream that took nothing was ended');
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
