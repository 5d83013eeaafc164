/** The index's threads: searchers, and one that builds graphs. Each opening has a namespace until it closes. */
import { availableParallelism } from 'node:os';
import { programFile } from '../files/program-files.ts';
import { openThreadPool, type SharedPool, statelessIdleMs } from '../threads/thread-pool.ts';
import type { SearchThreadData } from './analyze-query.ts';
import { MAX_READERS } from './vectors/vector-rows.ts';

/** Chunks, embeds, builds and merges segments; shared with the jobs, so opened in src/composition/open-threads.ts. */
export type WorkPool = SharedPool<typeof import('../threads/work-thread.ts')>;
export type TextPool = SharedPool<typeof import('../threads/text-thread.ts')>;

export interface IndexThreadsOptions {
  /** Number of searchers: by default one per two cores, limited by the number of possible readers of the rows. */
  searchers?: number;
  searchData: SearchThreadData;
  /** Min live rows of a vector space with a graph; null: never. */
  graphFrom: number | null;
}

/** The threads as one index sees them. */
export type IndexThreads = ReturnType<ReturnType<typeof openIndexThreads>['of']>;

/** Queue limit per namespace: some seconds of work. */
const maxQueue = 1024;
/** Max searches per thread that wait for their query's vector, while the thread works on others. */
const waitingSearches = 128;
/** A search leaves some 10 KB of short-lived objects. Without a limit, V8 would accumulate tens of MB per thread. */
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
