/** The index's threads: searchers, and one that builds graphs. Each opening has a new namespace, released on close. */
import { availableParallelism } from 'node:os';
import { programFile } from '../files/program-files.ts';
import { openThreadPool, type SharedPool, statelessIdleMs } from '../threads/thread-pool.ts';
import type { SearchThreadData } from './analyze-query.ts';
import { MAX_READERS } from './vectors/vector-rows.ts';

/** Chunks, embeds, builds and merges segments; shared with the jobs, so opened in src/composition/open-threads.ts. */
export type WorkPool = SharedPool<typeof import('../threads/work-thread.ts')>;
export type TextPool = SharedPool<typeof import('../threads/text-thread.ts')>;

export interface IndexThreadsOptions {
  /** By default one for two cores, at most as many as can read the rows. */
  searchers?: number;
  searchData: SearchThreadData;
  /** Live rows from which on a vector space has a graph; null: never. */
  graphFrom: number | null;
}

/** One index's view of the threads. */
export type IndexThreads = ReturnType<ReturnType<typeof openIndexThreads>['of']>;

/** Queue limit per namespace: some seconds of work. */
const maxQueue = 1024;
/** Searches of one thread that may wait for their query's vector while it works on others. */
const waitingSearches = 128;
/** A search leaves some 10 KB of short-lived objects: V8 would let tens of MB accumulate per thread. */
const maxYoungMb = 8;

export function openIndexThreads({ searchers: count, searchData, graphFrom }: IndexThreadsOptions) {
  const half = Math.max(1, Math.floor(availableParallelism() / 2));
  const searchers = Array.from({ length: Math.min(MAX_READERS - 1, count ?? half) }, (_, number) =>
    openThreadPool<typeof import('../threads/search-thread.ts')>({
      entry: programFile('threads/search-thread'),
      name: `searcher-${number}`,
      threads: 1,
      tasksPerThread: waitingSearches,
      maxQueue,
      uninterrupted: true,
      maxYoungMb,
      data: searchData,
    }),
  );
  const graphs = openThreadPool<typeof import('../threads/graph-thread.ts')>({
    entry: programFile('threads/graph-thread'),
    name: 'graphs',
    threads: 1,
    maxQueue,
    idleMs: statelessIdleMs,
    nice: 10,
    uninterrupted: true,
  });
  return {
    of(namespace: string) {
      const own = searchers.map((pool) => pool.of(namespace));
      return {
        namespace,
        searchers: own,
        graphs: graphFrom === null ? null : { pool: graphs.of(namespace), from: graphFrom },
        async release() {
          await Promise.all(own.map((pool) => pool.run('release', { namespace })));
        },
      };
    },
    close: () => Promise.all([...searchers, graphs].map((pool) => pool.close())),
  };
}
