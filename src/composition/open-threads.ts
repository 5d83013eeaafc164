/** Opens the host's threads and each library's share. Tasks of different libraries take turns. */
import { availableParallelism } from 'node:os';
import { openExtractor, openPdfReader } from '../actors/fetching/extract-page.ts';
import { openMediaReader } from '../actors/fetching/parser-pool.ts';
import { graphFrom } from '../domain/model.ts';
import { openIndexThreads } from '../engine/index-threads.ts';
import { loadWordList } from '../engine/words/word-list.ts';
import { programFile } from '../files/program-files.ts';
import type { Settings } from '../settings/read-settings.ts';
import { openThreadPool, statelessIdleMs } from '../threads/thread-pool.ts';

export type HostThreads = ReturnType<typeof openThreads>;
export type Threads = ReturnType<HostThreads['of']>;

const maxWorkQueue = 2048;
/** The language detection model and caches take 150 MB, the analysis of a 16 MB text some hundred more. */
const maxWorkHeapMb = 1024;
/** Max waiting tasks: one run per library, which sends one piece at a time. */
const maxClusterQueue = 64;
const maxClusterHeapMb = 2048;
/** Measured: 20 MB less resident memory per thread than by default, without loss of speed. */
const maxWorkYoungMb = 24;

/** Errors: OperatorError `word_list`. */
export function openThreads(settings: Pick<Settings, 'chunking' | 'pdf' | 'indexing'>) {
  const wordList = loadWordList();
  const cores = availableParallelism();
  const workers = Math.max(2, cores);
  const limits = {
    threads: workers,
    idleMs: statelessIdleMs,
    maxQueue: maxWorkQueue,
    maxHeapMb: maxWorkHeapMb,
    maxYoungMb: maxWorkYoungMb,
    nice: 10,
  };
  const texts = openThreadPool<typeof import('../threads/text-thread.ts')>({
    ...limits,
    entry: programFile('threads/text-thread'),
    name: 'texts',
    data: { chunking: settings.chunking },
  });
  const work = openThreadPool<typeof import('../threads/work-thread.ts')>({
    ...limits,
    entry: programFile('threads/work-thread'),
    name: 'work',
  });
  const extractor = openExtractor(workers);
  const pdfs = openPdfReader(settings.pdf);
  const media = openMediaReader();
  const clusters = openThreadPool<typeof import('../threads/cluster-thread.ts')>({
    entry: programFile('threads/cluster-thread'),
    name: 'clusters',
    threads: 1,
    maxQueue: maxClusterQueue,
    maxHeapMb: maxClusterHeapMb,
    idleMs: statelessIdleMs,
    nice: 10,
  });
  const index = openIndexThreads({ searchData: { wordList }, graphFrom: graphsFrom(settings.indexing.vector_index) });
  const all = [texts, work, index, extractor, pdfs, media, clusters];
  return {
    media,
    /** `library`: a name that no earlier opening used. */
    of: (library: string) => ({
      cores,
      workers,
      texts: texts.of(library),
      work: work.of(library),
      index: index.of(library),
      extractor: extractor.of(library),
      pdfs: pdfs.of(library),
      clusters: clusters.of(library),
    }),
    close: async (): Promise<void> => {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}

/** Min live rows of a space with a graph; null: never. */
function graphsFrom(index: Settings['indexing']['vector_index']): number | null {
  return index === 'exact' ? null : index === 'hnsw' ? 1 : graphFrom;
}
