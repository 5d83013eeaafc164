/**
 * The pinned threads of the index, which search segments and vectors. Opened once; each index uses a new namespace per opening and
 * releases it on close.
 */

import { programFile } from '../files/program-files.ts';
import { openThreadPool, type SharedPool } from '../threads/thread-pool.ts';
import type { SearchThreadData } from './analyze-query.ts';
import type { SearcherPool } from './searchers.ts';
import { MAX_READERS } from './vectors/vector-rows.ts';

/** Chunks, embeds, builds and merges segments; shared with the jobs, so opened in src/composition/open-threads.ts. */
export type WorkPool = SharedPool<typeof import('../threads/work-thread.ts')>;

export interface IndexThreadsOptions {
  searchers: number;
  searchData: SearchThreadData;
}

/** One index's view of the threads. */
export interface IndexThreads {
  namespace: string;
  searchers: readonly SearcherPool[];
  release(): Promise<void>;
}

/** Queue limit per namespace: some seconds of work. */
const maxQueue = 1024;
/** Searches of one thread that may wait for their query's vector while it works on others. */
const waitingSearches = 128;
/** A search leaves some 10 KB of short-lived objects: V8 would let tens of MB accumulate per thread. */
const maxYoungMb = 8;

/** One for two cores, at most as many as can read the rows. */
export function searchersFor(cores: number): number {
  return Math.min(MAX_READERS - 1, Math.max(1, Math.floor(cores / 2)));
}

export function openIndexThreads(options: IndexThreadsOptions) {
  const searchers = Array.from({ length: options.searchers }, (_, number) =>
    openThreadPool<typeof import('../threads/search-thread.ts')>({
      entry: programFile('threads/search-thread'),
      name: `searcher-${number}`,
      threads: 1,
      tasksPerThread: waitingSearches,
      maxQueue,
      uninterrupted: true,
      maxYoungMb,
      data: options.searchData,
    }),
  );
  return {
    of(namespace: string): IndexThreads {
      const own = searchers.map((pool) => pool.of(namespace));
      return {
        namespace,
        searchers: own,
        async release() {
          await Promise.all(own.map((pool) => pool.run('release', { namespace })));
        },
      };
    },
    close: () => Promise.all(searchers.map((pool) => pool.close())),
  };
}
