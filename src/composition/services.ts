/** Every child of the supervisor, with what it depends on. A new service is a line here and one in src/machines/supervisor.ts; which messages it answers is in src/actors/system/supervisor.ts. */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { clustersLogic } from '../actors/clusters/clusters.ts';
import { entitiesLogic } from '../actors/entities/entities.ts';
import { forgettingLogic } from '../actors/forgetting/forgetting.ts';
import { indexesLogic } from '../actors/indexes/indexes.ts';
import { intakeLogic } from '../actors/ingest/intake.ts';
import { recordsLogic } from '../actors/jobs/records.ts';
import { schedulerLogic } from '../actors/jobs/scheduler.ts';
import { journalLogic } from '../actors/journal/journal.ts';
import { QueryLogQueue } from '../actors/journal/query-log-queue.ts';
import { floorCalibrator } from '../actors/models/calibrate-outside.ts';
import { modelEmbedder } from '../actors/models/model-embedder.ts';
import { modelsLogic } from '../actors/models/models.ts';
import { queryVectorAsker } from '../actors/search/query-vector.ts';
import { retrieverLogic } from '../actors/search/retriever.ts';
import { eventsLogic } from '../actors/system/events.ts';
import { meterLogic } from '../actors/system/meter.ts';
import type { ChildLogics } from '../actors/system/supervisor.ts';
import { commitThrough, type SystemAsk } from '../actors/system/system-messages.ts';
import { writerLogic } from '../actors/system/writer.ts';
import { watchesLogic } from '../actors/watches/watches.ts';
import { isKnownProvider } from '../providers/provider-settings.ts';
import { jobHandlersOf } from './job-handlers.ts';
import type { Parts } from './parts.ts';

/** Running jobs are stopped this long after the scheduler was asked to stop: the whole process is to end within 10 s. */
const drainGraceMs = 4000;
/** An attempt's time limit, as a share of its lease, when none is set: a handler ends before its lease does. */
const timeoutShareOfLease = 0.9;

export function servicesOf(parts: Parts): (ask: SystemAsk) => ChildLogics {
  const { settings, log, metrics, path, store, feed, threads, outside, wordVectors, now, monotonic, random } = parts;
  const { reader } = store;
  const queue = new QueryLogQueue(() => metrics.queryLogDropped.inc());
  const leaseMs = settings.jobs.lease_minutes * 60_000;

  return (ask) => {
    const commit = commitThrough(ask);
    const embedder = modelEmbedder({
      embedLocally: (pages, dim, signal) => threads.work.run('embedChunkedTexts', { pages, dim }, { signal }),
      embedders: outside.embedders,
      calibrateOutside: floorCalibrator({ embedders: outside.embedders, reader, commit }),
    });
    return {
      breakers: outside.breakers.logic,
      writer: writerLogic({ store, feed, log, flushTimeoutMs: settings.storage.flush_timeout_s * 1000 }),
      indexes: indexesLogic({
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
        searchData: { wordVectors },
        searchers: Math.max(1, Math.floor(threads.cores / 2)),
        shards: threads.cores,
        log,
        monotonic,
      }),
      intake: intakeLogic({
        commit,
        extract: threads.extractor.extract,
        canonicalize: settings.canonicalize,
        maxAttempts: settings.jobs.max_attempts,
        quotaBytes: settings.storage.max_bytes,
        usedBytes: () => store.usedBytes(),
        metrics,
        now,
      }),
      models: modelsLogic({
        ask,
        reader,
        embedder,
        isKnownProvider: (provider) => isKnownProvider(provider, settings),
        hasLocalModel: wordVectors !== null,
        workers: threads.workers,
        chunkBudget: settings.chunking.hard_max_tokens,
        prices: settings.embedder.prices,
        maxAttempts: settings.jobs.max_attempts,
        log,
        now,
        monotonic,
      }),
      records: recordsLogic({
        reader,
        commit,
        writeTrouble: () => ask('store.trouble', {}),
        keepDays: settings.jobs.keep_days,
        log,
        now,
      }),
      journal: journalLogic({
        reader,
        commit,
        queue,
        keepDays: settings.query_log.keep_days,
        maxAttempts: settings.jobs.max_attempts,
        log,
        now,
      }),
      watches: watchesLogic({
        reader,
        commit,
        pollers: outside.pollers,
        canonicalize: settings.canonicalize,
        defaultIntervalHours: settings.watch.default_interval_hours,
        tickEnabled: settings.watch.poll_tick_enabled,
        maxDuePerTick: settings.watch.max_due_per_tick,
        maxAttempts: settings.jobs.max_attempts,
        log,
        now,
      }),
      clusters: clustersLogic({
        ask,
        reader,
        feed,
        settings: settings.cluster,
        pooling: settings.indexing.page_vector_pooling,
        maxAttempts: settings.jobs.max_attempts,
        log,
        now,
      }),
      forgetting: forgettingLogic({
        ask,
        reader,
        feed,
        canonicalize: settings.canonicalize,
        maxAttempts: settings.jobs.max_attempts,
        compactAfterMs: settings.forget.compact_after_s * 1000,
        log,
        now,
        monotonic,
      }),
      events: eventsLogic({
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
      meter: meterLogic({
        reader,
        commit,
        feed,
        metrics,
        breakerStates: outside.breakers.states,
        snapshotEveryMs: settings.observability.metrics_snapshot_interval_s * 1000,
        keepDays: settings.metrics.keep_days,
        log,
        now,
      }),
      entities: entitiesLogic({
        reader,
        commit,
        maxAttempts: settings.jobs.max_attempts,
        enabled: settings.entity.enabled,
        log,
        now,
      }),
      retriever: retrieverLogic({
        ask,
        reader,
        canonicalize: settings.canonicalize,
        queue,
        localReranker: settings.reranker.kind === 'local',
        outsideReranker: outside.reranker,
        onRerankDegraded: () => metrics.rerankDegraded.inc(),
        recencyHalfLifeDays: settings.search.recency_half_life_days,
        newQueryId: () => `qr_${randomBytes(12).toString('hex')}`,
        newCompareId: () => `cp_${randomBytes(12).toString('hex')}`,
        now,
        monotonic,
      }),
      scheduler: schedulerLogic({
        commit,
        feed,
        handlers: jobHandlersOf(parts, ask, embedder),
        limits: {
          leaseMs,
          timeoutMs: (settings.jobs.handler_timeout_s ?? (leaseMs / 1000) * timeoutShareOfLease) * 1000,
          backoffBaseMs: settings.jobs.backoff_base_s * 1000,
          graceMs: drainGraceMs,
        },
        capacity: {
          suspect: 1,
          index: 16 * threads.cores,
          fetch: 8,
          poll: 4,
          purge: 1,
          background: 1,
          backfill: 1,
          entities: settings.entity.enabled ? 2 : 0,
        },
        incarnation: randomUUID(),
        now,
        random,
        log,
      }),
    };
  };
}
