/**
 * The pinned threads of the index: searchers (segments, language model) and shards (vectors). Opened once; each index uses a new
 * namespace per opening and releases it on close.
 */

import { programFile } from '../files/program-files.ts';
import { openThreadPool, type SharedPool } from '../threads/thread-pool.ts';
import type { SearchThreadData } from './analyze-query.ts';
import type { SearcherPool } from './searchers.ts';
import type { ShardPool } from './vectors/space-shards.ts';

/** Chunks, embeds, builds and merges segments; shared with the jobs, so opened in src/composition/open-threads.ts. */
export type WorkPool = SharedPool<typeof import('../threads/work-thread.ts')>;

export interface IndexThreadsOptions {
  searchers: number;
  /** Threads, each with one shard of every vector space. */
  shards: number;
  searchData: SearchThreadData;
}

/** One index's view of the threads. */
export interface IndexThreads {
  namespace: string;
  searchers: readonly SearcherPool[];
  shards: readonly ShardPool[];
  release(): Promise<void>;
}

/** Queue limit per namespace: some seconds of work. */
const maxQueue = 1024;
/** A search leaves some 10 KB of short-lived objects: V8 would let tens of MB accumulate per thread. */
const maxYoungMb = 8;

export function openIndexThreads(options: IndexThreadsOptions) {
  const searchers = Array.from({ length: options.searchers }, (_, number) =>
    openThreadPool<typeof import('../threads/search-thread.ts')>({
      entry: programFile('threads/search-thread'),
      name: `searcher-${number}`,
      threads: 1,
      maxQueue,
      uninterrupted: true,
      maxYoungMb,
      data: options.searchData,
    }),
  );
  const shards = Array.from({ length: options.shards }, (_, number) =>
    openThreadPool<typeof import('../threads/shard-thread.ts')>({
      entry: programFile('threads/shard-thread'),
      name: `shard-${number}`,
      threads: 1,
      maxQueue,
      uninterrupted: true,
      maxYoungMb,
    }),
  );
  return {
    of(namespace: string): IndexThreads {
      const own = {
        searchers: searchers.map((pool) => pool.of(namespace)),
        shards: shards.map((pool) => pool.of(namespace)),
      };
      return {
        namespace,
        ...own,
        async release() {
          await Promise.all([
            ...own.searchers.map((pool) => pool.run('release', { namespace })),
            ...own.shards.map((pool) => pool.run('releaseNamespace', { namespace })),
          ]);
        },
      };
    },
    close: () => Promise.all([...searchers, ...shards].map((pool) => pool.close())),
  };
}
