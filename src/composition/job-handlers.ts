/** What does the work of each kind of job. What else a new kind takes: CONTRIBUTING.md. */
import { clusterPagesHandler } from '../actors/clusters/cluster-pages.ts';
import { labelClustersHandler } from '../actors/clusters/label-clusters.ts';
import { canonicalizeEntitiesHandler } from '../actors/entities/canonicalize-entities.ts';
import { extractEntitiesHandler } from '../actors/entities/extract-entities.ts';
import { textReaders } from '../actors/fetching/content-readers.ts';
import { withFeedContent } from '../actors/fetching/feed-content.ts';
import { fetchAndIndexHandler } from '../actors/fetching/fetch-and-index.ts';
import { episodeReader } from '../actors/fetching/read-episode.ts';
import { purgeVectorsHandler } from '../actors/forgetting/purge-vectors.ts';
import { indexPageHandler, type PageIndexer } from '../actors/ingest/index-page.ts';
import { overQuota } from '../actors/ingest/intake.ts';
import type { JobHandler } from '../actors/jobs/job-actor.ts';
import { replayHandler } from '../actors/journal/replay-queries.ts';
import { backfillHandler } from '../actors/models/backfill-model.ts';
import type { ModelEmbedder } from '../actors/models/model-embedder.ts';
import { commitThrough, type SystemAsk } from '../actors/system/system-messages.ts';
import { pollWatchHandler } from '../actors/watches/poll-watch.ts';
import type { JobKind } from '../domain/job.ts';
import type { Parts } from './parts.ts';

export function jobHandlersOf(
  { settings, metrics, store, threads, outside, aroundIndexPage, now, monotonic }: Parts,
  ask: SystemAsk,
  embedder: ModelEmbedder,
  index: PageIndexer,
): Record<JobKind, JobHandler> {
  const { reader } = store;
  const commit = commitThrough(ask);
  const indexPage = aroundIndexPage(indexPageHandler({ reader, index, readEntities: settings.entity.enabled }));
  return {
    index_page: indexPage,
    poll_watch: pollWatchHandler({
      reader,
      commit,
      pollers: outside.pollers,
      canonicalize: settings.canonicalize,
      maxAttempts: settings.jobs.max_attempts,
      maxItemsPerPoll: settings.watch.max_items_per_poll,
      overQuota: () => overQuota(settings.storage.max_bytes, () => store.usedBytes()),
      metrics,
      now,
    }),
    cluster: clusterPagesHandler({
      reader,
      commit,
      pool: threads.clusters,
      resolution: settings.cluster.leiden_resolution,
      keepDays: settings.cluster.keep_days,
      labels: outside.chat !== null,
      maxAttempts: settings.jobs.max_attempts,
      now,
    }),
    label_clusters: labelClustersHandler({ reader, commit, pool: threads.clusters, chat: outside.chat }),
    purge_vectors: purgeVectorsHandler({ reader, commit }),
    backfill_model: backfillHandler({
      ask,
      reader,
      embedder,
      width: threads.workers + 1,
      now,
      monotonic,
    }),
    extract_entities: extractEntitiesHandler({ reader, pool: threads.entities, now }),
    canonicalize_entities: canonicalizeEntitiesHandler({
      reader,
      commit,
      pool: threads.entities,
      thresholds: {
        cosine: settings.entity.cosine_threshold,
        editDistance: settings.entity.edit_distance_threshold,
      },
      now,
    }),
    eval_replay: replayHandler({
      ask,
      reader,
      embedders: outside.embedders,
      prices: settings.embedder.prices,
      monotonic,
    }),
    fetch_and_index: withFeedContent(
      fetchAndIndexHandler({
        reader,
        commit,
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
        indexPage,
        canonicalize: settings.canonicalize,
      }),
      { reader, commit, extract: threads.extractor.extract, indexPage },
    ),
  };
}
