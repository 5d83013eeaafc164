/**
 * The composition root: from settings to a running system. Parts are made in the order of their dependence and disposed of in
 * the reverse order. It listens on no port; `src/main.ts` does.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { backfillHandler } from './actors/backfill-model.ts';
import { type Breakers, createBreakers } from './actors/breakers.ts';
import { floorCalibrator } from './actors/calibrate-outside.ts';
import { canonicalizeEntitiesHandler } from './actors/canonicalize-entities.ts';
import { type ClusterPool, clusterPagesHandler } from './actors/cluster-pages.ts';
import { clustersLogic } from './actors/clusters.ts';
import { CommitFeed } from './actors/commit-feed.ts';
import { textReaders } from './actors/content-readers.ts';
import { entitiesLogic } from './actors/entities.ts';
import { requireEntityCapability } from './actors/entity-capability.ts';
import { eventsLogic } from './actors/events.ts';
import { extractEntitiesHandler } from './actors/extract-entities.ts';
import { openExtractor } from './actors/extract-page.ts';
import { withFeedContent } from './actors/feed-content.ts';
import { openFeedReader } from './actors/feed-reader.ts';
import { fetchAndIndexHandler } from './actors/fetch-and-index.ts';
import { forgettingLogic } from './actors/forgetting.ts';
import { indexPageHandler } from './actors/index-page.ts';
import { indexesLogic, type WorkPool } from './actors/indexes.ts';
import { intakeLogic, overQuota } from './actors/intake.ts';
import type { JobHandler } from './actors/job-actor.ts';
import { journalLogic } from './actors/journal.ts';
import { labelClustersHandler } from './actors/label-clusters.ts';
import { meterLogic } from './actors/meter.ts';
import { modelEmbedder } from './actors/model-embedder.ts';
import { modelsLogic } from './actors/models.ts';
import { openOutsideReranker } from './actors/outside-reranker.ts';
import { feedPoller } from './actors/poll-feed.ts';
import { podcastPoller, podcastsUnavailable } from './actors/poll-podcast.ts';
import { videoPoller } from './actors/poll-videos.ts';
import { type Pollers, pollWatchHandler } from './actors/poll-watch.ts';
import { purgeVectorsHandler } from './actors/purge-vectors.ts';
import { QueryLogQueue } from './actors/query-log-queue.ts';
import { queryVectorAsker } from './actors/query-vector.ts';
import { episodeReader } from './actors/read-episode.ts';
import { openPdfReader } from './actors/read-pdf.ts';
import { recordingReader } from './actors/read-recording.ts';
import { openVideoReader } from './actors/read-video.ts';
import { recordsLogic } from './actors/records.ts';
import { replayHandler } from './actors/replay-queries.ts';
import { retrieverLogic } from './actors/retriever.ts';
import { schedulerLogic } from './actors/scheduler.ts';
import { type Supervisor, startSupervisor } from './actors/supervisor.ts';
import { commitThrough } from './actors/system-messages.ts';
import { transformerThreads } from './actors/transformer-threads.ts';
import { watchesLogic } from './actors/watches.ts';
import { writerLogic } from './actors/writer.ts';
import type { StartBackfill } from './commands/backfill-model.ts';
import { installModel } from './commands/install-model.ts';
import { renewOutdatedModels } from './commands/renew-models.ts';
import { traitsOf } from './compute/local-model.ts';
import type { Capabilities } from './domain/capabilities.ts';
import { type EmbeddingModel, localProvider, modelIdOf } from './domain/model.ts';
import type { ChatClient } from './providers/chat-client.ts';
import { systemClock } from './providers/clock.ts';
import { openEmbedders } from './providers/embedders.ts';
import { chatClientOf, endpointRecognizerOf, rerankerOf } from './providers/open-from-settings.ts';
import { isKnownProvider } from './providers/provider-settings.ts';
import { openRecordingFolder } from './providers/recording-folder.ts';
import { openTranscription } from './providers/transcription.ts';
import { transformersPackage } from './providers/transformers-embedder.ts';
import { createWebFetch } from './providers/web-fetch.ts';
import { loadWordVectors, type WordVectorsProgress } from './providers/word-vectors-cache.ts';
import { openYtDlp } from './providers/yt-dlp.ts';
import type { Settings } from './settings/read-settings.ts';
import { type DataFolder, openDataFolder } from './store/data-folder.ts';
import { proveStore } from './store/look-apart.ts';
import { type Command, Store } from './store/store.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { openThreadPool } from './threads/thread-pool.ts';

export interface AppOptions {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  onModelProgress?: (progress: WordVectorsProgress) => void;
  /** Clocks and chance, replaced in tests. */
  now?: () => number;
  monotonic?: () => number;
  random?: () => number;
  /** URL of the main file of @huggingface/transformers, where it is not installed beside the service. */
  transformersModule?: string;
  /** Put around the handler of `index_page` jobs: where tests plant their faults. */
  aroundIndexPage?: (handler: JobHandler) => JobHandler;
}

export interface App {
  ask: Supervisor['ask'];
  ended: Supervisor['ended'];
  /** The language model of `llm.*`, or null where none is set. */
  chat: ChatClient | null;
  /** Programs beside the service that it can use, with their versions; null for one that is not there or does not work. */
  capabilities(): Promise<Capabilities>;
  /** Every outside provider that was called, and whether it is called now. */
  breakerStates: Breakers['states'];
  /** Stop in order and let go of the data folder. */
  close(): Promise<void>;
}

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

/** Pages that may wait for a work thread. */
const maxWorkQueue = 2048;
/** Pages read for entities at once, one thread reading while the other is stored, and a comparison of names. */
const maxEntityQueue = 16;
/** The language model and its caches take 150 MB, a text of 16 MB analysed some hundred. */
const maxWorkHeapMb = 1024;
/** One run at a time, which hands over piece by piece. */
const maxClusterQueue = 64;
const maxClusterHeapMb = 2048;
/** Measured: 20 MB less resident memory a thread than by default, and not slower (docs/benchmarks.md, "Indexing"). */
const maxWorkYoungMb = 24;
/** Running jobs are stopped this long after the scheduler was asked to stop: the whole process is to end within 10 s. */
const drainGraceMs = 4000;
/** An attempt's time limit, as a share of its lease, when none is set: a handler ends before its lease does. */
const timeoutShareOfLease = 0.9;

/** Open the data folder and start everything. Errors: those of the folder, the store (StoreDamagedError above all), the word vectors, and of any child at its start. */
export async function startApp(options: AppOptions): Promise<App> {
  const { settings, log, metrics, now = Date.now, monotonic = () => performance.now(), random = Math.random } = options;
  requireEntityCapability();
  const folder = openDataFolder(settings.data_dir, randomUUID());
  const undo: (() => unknown)[] = [() => folder.release()];
  try {
    return await startIn(folder, undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }

  async function startIn(folder: DataFolder, undo: (() => unknown)[]): Promise<App> {
    await proveStore(folder.path, { beside: false, wasUsed: folder.wasUsed });
    const store = Store.open(folder.path, randomUUID);
    undo.push(() => store.close());
    await renewModels(store, { at: now(), max_attempts: settings.jobs.max_attempts }, log);
    const model = await activeModel(store, settings, { now, log });
    const wordVectors = await embeddedVectors(store, model, options);
    const cores = availableParallelism();
    const threads = Math.max(2, cores);
    const work: WorkPool = openThreadPool({
      entry: new URL('./threads/work-thread', import.meta.url),
      name: 'work',
      threads,
      maxQueue: maxWorkQueue,
      maxHeapMb: maxWorkHeapMb,
      maxYoungMb: maxWorkYoungMb,
      nice: 10,
      data: { chunking: settings.chunking, wordVectors },
    });
    undo.push(() => work.close());
    const extractor = openExtractor(threads);
    undo.push(() => extractor.close());
    const pdfs = openPdfReader(settings.pdf);
    undo.push(() => pdfs.close());
    const entityPool = openThreadPool<typeof import('./threads/entity-thread.ts')>({
      entry: new URL('./threads/entity-thread', import.meta.url),
      name: 'entities',
      threads: 1,
      maxQueue: maxEntityQueue,
      maxHeapMb: maxWorkHeapMb,
      lazy: true,
      nice: 19,
      data: { wordVectors },
    });
    undo.push(() => entityPool.close());
    const fetch = createWebFetch({
      allowPrivateHosts: settings.fetch.allow_private_hosts,
      perHostGapMs: settings.fetch.per_host_gap_ms,
      timeoutMs: settings.fetch.timeout_s * 1000,
      maxBytes: settings.fetch.max_bytes,
      userAgent: `Mozilla/5.0 (compatible; readback/${version})`,
    });
    const ytDlp = openYtDlp({
      searchPath: settings.program_path,
      tempDir: join(folder.path, 'tmp', 'yt-dlp'),
      allowPrivateHosts: settings.fetch.allow_private_hosts,
      perHostGapMs: settings.fetch.per_host_gap_ms,
      timeoutMs: settings.fetch.video_timeout_s * 1000,
    });
    const videos = openVideoReader({
      ytDlp,
      fetch,
      hosts: settings.fetch.video_hosts,
      readsCaptions: settings.fetch.video_captions,
      wishes: {
        langs: settings.fetch.video_caption_langs,
        order: settings.fetch.video_caption_order,
        allowAutomatic: settings.fetch.video_allow_auto_captions,
      },
      now,
    });
    undo.push(() => videos.close());
    const feeds = openFeedReader();
    undo.push(() => feeds.close());
    const { resilience } = settings;
    const breakers = createBreakers({
      policy: {
        failureThreshold: resilience.breaker_failure_threshold,
        cooldownMs: resilience.breaker_cooldown_s * 1000,
      },
      monotonic,
      log,
    });
    const surroundings = { breakers, clock: { ...systemClock, monotonic, wall: now }, random };
    const transcription = openTranscription(settings, endpointRecognizerOf(settings, surroundings));
    const recordings = recordingReader({
      transcription,
      folder: openRecordingFolder(join(folder.path, 'tmp', 'recordings')),
      maxBytes: settings.fetch.audio_max_bytes,
      timeoutMs: settings.fetch.audio_timeout_s * 1000,
      reads: { audio: settings.fetch.audio_transcripts, podcasts: settings.fetch.podcast_transcripts },
      random,
    });
    /** One for each kind of watch; a kind without one cannot be watched. */
    const pollers: Pollers = {
      rss: feedPoller({ fetch, read: feeds.read }),
      podcast: podcastPoller({
        fetch,
        readEpisodes: feeds.readEpisodes,
        unavailable: podcastsUnavailable(settings, transcription.found),
      }),
      video: videoPoller({ videos, maxEntries: settings.watch.video_max_entries }),
    };

    const transformers = transformerThreads({
      module: options.transformersModule ?? transformersPackage,
      cacheDir: settings.cache_dir,
    });
    undo.push(() => transformers.close());
    const embedders = openEmbedders({
      settings,
      runTransformer: transformers.run,
      ...surroundings,
      onError: (provider) => metrics.embeddingErrors.inc({ provider }),
    });

    const outsideReranker =
      settings.reranker.kind === 'api'
        ? openOutsideReranker({
            ...rerankerOf(settings, surroundings),
            reader: store.reader,
            deadlineMs: settings.search.rerank_deadline_s * 1000,
            log,
          })
        : null;
    const chat = chatClientOf(settings, surroundings);
    const clusterPool: ClusterPool = openThreadPool({
      entry: new URL('./threads/cluster-thread', import.meta.url),
      name: 'clusters',
      threads: 1,
      maxQueue: maxClusterQueue,
      maxHeapMb: maxClusterHeapMb,
      lazy: true,
      nice: 10,
    });
    undo.push(() => clusterPool.close());

    const feed = new CommitFeed();
    const queue = new QueryLogQueue(() => metrics.queryLogDropped.inc());
    const leaseMs = settings.jobs.lease_minutes * 60_000;
    const supervisor = startSupervisor((ask) => {
      const commit = commitThrough(ask);
      const embedder = modelEmbedder({
        embedLocally: (pages, dim, signal) => work.run('embedChunkedTexts', { pages, dim }, { signal }),
        embedders,
        calibrateOutside: floorCalibrator({ embedders, reader: store.reader, commit }),
      });
      const indexPage = (options.aroundIndexPage ?? ((handler) => handler))(
        indexPageHandler({
          ask,
          reader: store.reader,
          prepare: (pages, dims, signal) => work.run('preparePages', { pages, dims }, { signal }),
          threads,
          embedders,
          readEntities: settings.entity.enabled,
        }),
      );
      return {
        breakers: breakers.logic,
        writer: writerLogic({ store, feed, log, flushTimeoutMs: settings.storage.flush_timeout_s * 1000 }),
        indexes: indexesLogic({
          dir: join(folder.path, 'index'),
          storeId: store.storeId,
          reader: store.reader,
          feed,
          work,
          askQueryVector: queryVectorAsker({
            embedders,
            deadlineMs: settings.search.embed_deadline_s * 1000,
            onDegraded: () => metrics.denseDegraded.inc(),
            log,
          }),
          searchData: { wordVectors },
          searchers: Math.max(1, Math.floor(cores / 2)),
          shards: cores,
          log,
          monotonic,
        }),
        intake: intakeLogic({
          commit,
          extract: extractor.extract,
          canonicalize: settings.canonicalize,
          maxAttempts: settings.jobs.max_attempts,
          quotaBytes: settings.storage.max_bytes,
          usedBytes: () => store.usedBytes(),
          metrics,
          now,
        }),
        models: modelsLogic({
          ask,
          reader: store.reader,
          embedder,
          isKnownProvider: (provider) => isKnownProvider(provider, settings),
          hasLocalModel: wordVectors !== null,
          chunkBudget: settings.chunking.hard_max_tokens,
          prices: settings.embedder.prices,
          maxAttempts: settings.jobs.max_attempts,
          log,
          now,
          monotonic,
        }),
        records: recordsLogic({
          reader: store.reader,
          commit,
          writeTrouble: () => ask('store.trouble', {}),
          log,
          now,
        }),
        journal: journalLogic({
          reader: store.reader,
          commit,
          queue,
          keepDays: settings.query_log.keep_days,
          maxAttempts: settings.jobs.max_attempts,
          log,
          now,
        }),
        watches: watchesLogic({
          reader: store.reader,
          commit,
          pollers,
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
          reader: store.reader,
          feed,
          settings: settings.cluster,
          pooling: settings.indexing.page_vector_pooling,
          maxAttempts: settings.jobs.max_attempts,
          log,
          now,
        }),
        forgetting: forgettingLogic({
          ask,
          reader: store.reader,
          feed,
          canonicalize: settings.canonicalize,
          maxAttempts: settings.jobs.max_attempts,
          compactAfterMs: settings.forget.compact_after_s * 1000,
          log,
          now,
          monotonic,
        }),
        events: eventsLogic({
          reader: store.reader,
          feed,
          maxSubscribers: settings.events.max_subscribers,
          queueSize: settings.events.queue_size,
          monotonic,
          onSubscribers: (count) => metrics.eventSubscribers.set(count),
          onEnd: (reason) => metrics.eventSubscriptionsEnded.inc({ reason }),
        }),
        meter: meterLogic({
          reader: store.reader,
          commit,
          feed,
          metrics,
          breakerStates: breakers.states,
          snapshotEveryMs: settings.observability.metrics_snapshot_interval_s * 1000,
          keepDays: settings.metrics.keep_days,
          log,
          now,
        }),
        entities: entitiesLogic({
          reader: store.reader,
          commit,
          maxAttempts: settings.jobs.max_attempts,
          enabled: settings.entity.enabled,
          log,
          now,
        }),
        retriever: retrieverLogic({
          ask,
          reader: store.reader,
          canonicalize: settings.canonicalize,
          queue,
          localReranker: settings.reranker.kind === 'local',
          outsideReranker,
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
          handlers: {
            index_page: indexPage,
            poll_watch: pollWatchHandler({
              reader: store.reader,
              commit,
              pollers,
              canonicalize: settings.canonicalize,
              maxAttempts: settings.jobs.max_attempts,
              maxItemsPerPoll: settings.watch.max_items_per_poll,
              overQuota: () => overQuota(settings.storage.max_bytes, () => store.usedBytes()),
              metrics,
              now,
            }),
            cluster: clusterPagesHandler({
              reader: store.reader,
              commit,
              pool: clusterPool,
              resolution: settings.cluster.leiden_resolution,
              keepDays: settings.cluster.keep_days,
              labels: chat !== null,
              maxAttempts: settings.jobs.max_attempts,
              now,
            }),
            label_clusters: labelClustersHandler({ reader: store.reader, commit, pool: clusterPool, chat }),
            purge_vectors: purgeVectorsHandler({ reader: store.reader, commit }),
            backfill_model: backfillHandler({
              ask,
              reader: store.reader,
              embedder,
              width: threads + 1,
              now,
              monotonic,
            }),
            extract_entities: extractEntitiesHandler({ reader: store.reader, pool: entityPool, now }),
            canonicalize_entities: canonicalizeEntitiesHandler({
              reader: store.reader,
              commit,
              pool: entityPool,
              thresholds: {
                cosine: settings.entity.cosine_threshold,
                editDistance: settings.entity.edit_distance_threshold,
              },
              now,
            }),
            eval_replay: replayHandler({ ask, reader: store.reader }),
            fetch_and_index: withFeedContent(
              fetchAndIndexHandler({
                reader: store.reader,
                commit,
                fetch,
                readers: { ...textReaders(extractor.readFetched), ...pdfs.readers },
                readVideo: videos.read,
                episodes: episodeReader({
                  fetch,
                  readTranscript: extractor.readTranscript,
                  blacklist: store.reader.blacklist,
                  canonicalize: settings.canonicalize,
                }),
                recordings,
                indexPage,
                canonicalize: settings.canonicalize,
              }),
              { reader: store.reader, commit, extract: extractor.extract, indexPage },
            ),
          },
          limits: {
            leaseMs,
            timeoutMs: (settings.jobs.handler_timeout_s ?? (leaseMs / 1000) * timeoutShareOfLease) * 1000,
            backoffBaseMs: settings.jobs.backoff_base_s * 1000,
            graceMs: drainGraceMs,
          },
          capacity: {
            suspect: 1,
            index: 16 * cores,
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
    }, log);
    undo.push(() => supervisor.stop());
    await supervisor.ready;
    const stopping = new AbortController();
    const capabilities = async (): Promise<Capabilities> => ({
      yt_dlp: await ytDlp.version(stopping.signal).catch((error: unknown) => {
        if (!stopping.signal.aborted) log.warn({ err: error }, 'yt-dlp does not work');
        return null;
      }),
      transcription: transcription.found,
    });
    log.info({ yt_dlp: ytDlp.missing() ?? 'found', transcription: transcription.found }, 'programs beside the service');
    return {
      ask: supervisor.ask,
      ended: supervisor.ended,
      chat,
      capabilities,
      breakerStates: breakers.states,
      close: async () => {
        stopping.abort(new Error('the service stops'));
        supervisor.stop();
        await supervisor.ended;
        await Promise.all([
          work.close(),
          extractor.close(),
          pdfs.close(),
          videos.close(),
          feeds.close(),
          clusterPool.close(),
          transformers.close(),
          entityPool.close(),
        ]);
        folder.release();
      },
    };
  }
}

/** The store's active model; where it has none, as at the first start, the one that the settings name. */
async function activeModel(
  store: Store,
  { embedder, jobs }: Settings,
  { now, log }: { now: () => number; log: Logger },
): Promise<EmbeddingModel | null> {
  const activeId = store.reader.models.activeId();
  const active = activeId === null ? undefined : store.reader.models.get(activeId);
  if (active !== undefined) return active;
  if (embedder.provider === 'none') return null;
  if (embedder.provider !== localProvider && embedder.model === 'wink') {
    log.warn(
      { provider: embedder.provider },
      'embedder.model is not set: the provider is asked for a model called wink',
    );
  }
  const named = { provider: embedder.provider, model_name: embedder.model, dim: embedder.dim };
  return run(
    store,
    installModel(
      {
        id: modelIdOf(named),
        ...named,
        max_input_tokens: embedder.max_input_tokens,
        ...traitsOf(embedder),
      },
      { at: now(), max_attempts: jobs.max_attempts },
    ),
  );
}

/** Models whose stored vectors another version of the embedded model made are filled again. */
async function renewModels(store: Store, options: StartBackfill, log: Logger): Promise<void> {
  const models = await run(store, renewOutdatedModels(options));
  if (models.length > 0) log.warn({ models }, 'vectors of another version of the embedded model are made anew');
}

/** One command before there is a writer. */
async function run<Reply>(store: Store, command: Command<Reply>): Promise<Reply> {
  const { results, flushed } = await store.transact([command]);
  await flushed;
  const [result] = results;
  if (!result.ok) throw result.error;
  return result.reply as Reply;
}

/**
 * What the threads make the embedded models' vectors of, compiled at the very first start. Not loaded where the settings want no
 * model and the store has none.
 */
async function embeddedVectors(store: Store, active: EmbeddingModel | null, { settings, onModelProgress }: AppOptions) {
  if (active === null && store.reader.models.all().length === 0) return null;
  return loadWordVectors({
    cacheDir: settings.cache_dir,
    ...(onModelProgress === undefined ? {} : { onProgress: onModelProgress }),
  });
}
