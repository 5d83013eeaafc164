/** The thread pools of work that keeps no state; those of the index are the index's own (src/actors/indexes/index-threads.ts). */
import { availableParallelism } from 'node:os';
import type { ClusterPool } from '../actors/clusters/hand-over-pages.ts';
import { type Extractor, openExtractor } from '../actors/fetching/extract-page.ts';
import { openPdfReader, type PdfReader } from '../actors/fetching/read-pdf.ts';
import type { WorkPool } from '../actors/indexes/index-threads.ts';
import { type FeedReader, openFeedReader } from '../actors/watches/feed-reader.ts';
import { programFile } from '../files/program-files.ts';
import type { Settings } from '../settings/read-settings.ts';
import { openThreadPool, type ThreadPool } from '../threads/thread-pool.ts';

export interface Threads {
  cores: number;
  /** Chunking, embedding, modelling segments. */
  work: WorkPool;
  /** Threads of `work`. */
  workers: number;
  extractor: Extractor;
  pdfs: PdfReader;
  feeds: FeedReader;
  entities: ThreadPool<typeof import('../threads/entity-thread.ts')>;
  clusters: ClusterPool;
  close(): Promise<void>;
}

/** Pages that may wait for a work thread. */
const maxWorkQueue = 2048;
/** Pages read for entities at once, one thread reading while the other is stored, and a comparison of names. */
const maxEntityQueue = 16;
/** The language model and its caches take 150 MB, a text of 16 MB analysed some hundred. */
const maxWorkHeapMb = 1024;
/** One run at a time, which hands over piece by piece. */
const maxClusterQueue = 64;
const maxClusterHeapMb = 2048;
/** Measured: 20 MB less resident memory a thread than by default, and not slower. */
const maxWorkYoungMb = 24;

export function openThreads(settings: Settings, wordVectors: SharedArrayBuffer | null): Threads {
  const cores = availableParallelism();
  const workers = Math.max(2, cores);
  const work: WorkPool = openThreadPool({
    entry: programFile('threads/work-thread'),
    name: 'work',
    threads: workers,
    lazy: true,
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
    lazy: true,
    nice: 19,
    data: { wordVectors },
  });
  const clusters: ClusterPool = openThreadPool({
    entry: programFile('threads/cluster-thread'),
    name: 'clusters',
    threads: 1,
    maxQueue: maxClusterQueue,
    maxHeapMb: maxClusterHeapMb,
    lazy: true,
    nice: 10,
  });
  const all = [work, extractor, pdfs, feeds, entities, clusters];
  return {
    cores,
    work,
    workers,
    extractor,
    pdfs,
    feeds,
    entities,
    clusters,
    close: async () => {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}
