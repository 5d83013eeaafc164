/**
 * The pinned threads of the index: searchers, which hold the segments and the language model, and shards, which hold vectors. The host
 * opens them once; each index has them in a namespace of its own, new at each opening, and releases it when it is closed.
 */

import { programFile } from '../files/program-files.ts';
import { openThreadPool, type SharedPool } from '../threads/thread-pool.ts';
import type { SearchThreadData } from './analyze-query.ts';
import type { SearcherPool } from './searchers.ts';
import type { ShardPool } from './vectors/space-shards.ts';

/** The pool that chunks, embeds, builds and merges segments: shared with the jobs, so opened in src/composition/open-threads.ts. */
export type WorkPool = SharedPool<typeof import('../threads/work-thread.ts')>;

export interface IndexThreadsOptions {
  /** Threads that answer searches. */
  searchers: number;
  /** Threads that each hold a shard of every vector space. */
  shards: number;
  /** What the searcher threads are given. */
  searchData: SearchThreadData;
}

/** The threads as one index has them. */
export interface IndexThreads {
  /** Names what is this index's on the threads. */
  namespace: string;
  searchers: readonly SearcherPool[];
  shards: readonly ShardPool[];
  /** Forget the namespace. */
  release(): Promise<void>;
}

/** Tasks that may wait for a searcher or a shard, of each namespace: some seconds of work. */
const maxQueue = 1024;
/** A search leaves some 10 KB of short-lived objects: V8 would let tens of MB of them pile up in each thread. */
const maxYoungMb = 8;

export function openIndexThreads(options: IndexThreadsOptions) {
  const searchers = Array.from({ length: options.searchers }, (_, number) =>
    openThreadPool<typeof import('../threads/search-thread.ts')>({
      entry: programFile('threads/search-thread'),
      name: `searcher-${number}`,
      threads: 1,
      maxQueue,
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
