/** The threads of the host, and as each library has them: its tasks take turns with those of the others. */
import { availableParallelism } from 'node:os';
import type { ClusterPool } from '../actors/clusters/hand-over-pages.ts';
import { loadNameTagger } from '../actors/entities/load-name-tagger.ts';
import type { ContentReaders } from '../actors/fetching/content-readers.ts';
import { type Extractor, openExtractor } from '../actors/fetching/extract-page.ts';
import { openPdfReader } from '../actors/fetching/read-pdf.ts';
import { type FeedReader, openFeedReader } from '../actors/watches/feed-reader.ts';
import type { ExtractedPage } from '../compute/extraction/extract-html.ts';
import { type IndexThreads, openIndexThreads, type WorkPool } from '../engine/index-threads.ts';
import { loadWordVectors } from '../engine/load-word-vectors.ts';
import { programFile } from '../files/program-files.ts';
import type { Settings } from '../settings/read-settings.ts';
import { openThreadPool, type SharedPool, statelessIdleMs } from '../threads/thread-pool.ts';

export interface Threads {
  /** What they make the embedded models' vectors of. */
  wordVectors: SharedArrayBuffer;
  cores: number;
  /** Chunking, embedding, building segments. */
  work: WorkPool;
  /** Threads of `work`. */
  workers: number;
  index: IndexThreads;
  extractor: Extractor;
  pdfs: ContentReaders<ExtractedPage>;
  /** First come, first served: the largest feed takes a fifth of a second. */
  feeds: FeedReader;
  entities: SharedPool<typeof import('../threads/entity-thread.ts')>;
  clusters: ClusterPool;
}

export interface HostThreads extends Pick<Threads, 'feeds'> {
  /** For a library that is opened. `library`: its name on the threads, which no opening has had before. */
  of(library: string): Threads;
  close(): Promise<void>;
}

/** Pages that may wait for a work thread. */
const maxWorkQueue = 2048;
/** Pages read for entities at once, one thread reading while the other is stored, and a comparison of names. */
const maxEntityQueue = 16;
/** The language model and its caches take 150 MB, a text of 16 MB analysed some hundred. */
const maxWorkHeapMb = 1024;
/** A run for each library at a time, which hands over piece by piece. */
const maxClusterQueue = 64;
const maxClusterHeapMb = 2048;
/** Measured: 20 MB less resident memory a thread than by default, and not slower. */
const maxWorkYoungMb = 24;

/** Errors: OperatorError `word_vectors`, `name_tagger`. */
export function openThreads(settings: Pick<Settings, 'chunking' | 'pdf'>): HostThreads {
  const wordVectors = loadWordVectors();
  const nameTagger = loadNameTagger();
  const cores = availableParallelism();
  const workers = Math.max(2, cores);
  const work = openThreadPool<typeof import('../threads/work-thread.ts')>({
    entry: programFile('threads/work-thread'),
    name: 'work',
    threads: workers,
    idleMs: statelessIdleMs,
    maxQueue: maxWorkQueue,
    maxHeapMb: maxWorkHeapMb,
    maxYoungMb: maxWorkYoungMb,
    nice: 10,
    data: { chunking: settings.chunking, wordVectors },
  });
  const extractor = openExtractor(workers);
  const pdfs = openPdfReader(settings.pdf);
  const feeds = openFeedReader();
  const entities = openThreadPool<typeof import('../threads/entity-thread.ts')>({
    entry: programFile('threads/entity-thread'),
    name: 'entities',
    threads: 1,
    maxQueue: maxEntityQueue,
    maxHeapMb: maxWorkHeapMb,
    idleMs: statelessIdleMs,
    nice: 19,
    data: { wordVectors, nameTagger },
  });
  const clusters = openThreadPool<typeof import('../threads/cluster-thread.ts')>({
    entry: programFile('threads/cluster-thread'),
    name: 'clusters',
    threads: 1,
    maxQueue: maxClusterQueue,
    maxHeapMb: maxClusterHeapMb,
    idleMs: statelessIdleMs,
    nice: 10,
  });
  const index = openIndexThreads({
    searchers: Math.max(1, Math.floor(cores / 2)),
    shards: cores,
    searchData: { wordVectors },
  });
  const all = [work, index, extractor, pdfs, feeds, entities, clusters];
  return {
    feeds,
    of: (library) => ({
      wordVectors,
      cores,
      workers,
      work: work.of(library),
      index: index.of(library),
      extractor: extractor.of(library),
      pdfs: pdfs.of(library),
      feeds,
      entities: entities.of(library),
      clusters: clusters.of(library),
    }),
    close: async () => {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}
