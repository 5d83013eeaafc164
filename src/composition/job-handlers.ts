/** The handler of each kind of job. To add a kind, see CONTRIBUTING.md. */
import { clusterPagesHandler } from '../actors/clusters/cluster-pages.ts';
import { labelClustersHandler } from '../actors/clusters/label-clusters.ts';
import { canonicalizeEntitiesHandler } from '../actors/entities/canonicalize-entities.ts';
import { extractEntitiesHandler } from '../actors/entities/extract-entities.ts';
import { textReaders } from '../actors/fetching/content-readers.ts';
import { fetchAndIndexHandler } from '../actors/fetching/fetch-and-index.ts';
import { episodeReader } from '../actors/fetching/read-episode.ts';
import { purgeVectorsHandler } from '../actors/forgetting/file-rewrite.ts';
import { indexPageHandler, type PageIndexer } from '../actors/ingest/index-page.ts';
import { overQuota } from '../actors/ingest/intake.ts';
import { backfillHandler } from '../actors/models/backfill-model.ts';
import { encoderTurns } from '../actors/models/fill-built-in.ts';
import type { CalibrateOutside } from '../actors/models/model-embedder.ts';
import { replayHandler } from '../actors/search/replay-queries.ts';
import type { CommitFeed } from '../actors/system/commit-feed.ts';
import type { JobHandler } from '../actors/system/job-actor.ts';
import type { OldBefore } from '../actors/system/retention.ts';
import type { LibraryParts } from '../actors/system/service.ts';
import { pollWatchHandler } from '../actors/watches/poll-watch.ts';
import type { JobKind } from '../domain/job.ts';
import type { ChunkedText } from '../engine/prepare-page.ts';
import type { Store } from '../store/store.ts';
import type { CommitHistory } from '../store/stored-rows.ts';
import type { LibraryMetrics } from '../telemetry/metrics.ts';
import type { Host } from './open-host.ts';
import type { Threads } from './open-threads.ts';

export function jobHandlersOf(
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

export interface Parts extends Omit<Host, 'close' | 'metrics' | 'opening' | 'bringingUp' | 'threads'> {
  path: string;
  metrics: LibraryMetrics;
  threads: Threads;
  store: Store;
  feed: CommitFeed;
  /** Whether it is one of a cluster, which goes from host to host. */
  isShared: boolean;
  /** Of its commits, where it is one of a cluster. */
  history: CommitHistory | null;
  /** The opening waits so long for what the index lacks, ms; undefined: until it is whole. */
  recoveryWaitMs: number | undefined;
}
