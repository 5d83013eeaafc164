/**
 * The threads of transformer models: one for embedding models and one for a reranker, so that no search waits behind the vectors of pages. Each is
 * started when it is first asked, and keeps what it has loaded; that of the reranker ends when it has not been asked for a while.
 */
import { programFile } from '../../files/program-files.ts';
import type { RunTransformer } from '../../providers/transformers-embedder.ts';
import type { ScorePairs } from '../../providers/transformers-reranker.ts';
import { openThreadPool, type ThreadPool, type ThreadPoolOptions } from '../../threads/thread-pool.ts';
import type { TransformerThreadData } from '../../threads/transformer-thread.ts';

type Tasks = typeof import('../../threads/transformer-thread.ts');

/** Batches that may wait for a thread. */
const maxQueue = 256;
/** As long as spaces of models that are not active stay in memory. */
const rerankerIdleMs = 600_000;

export interface TransformerThreads {
  run: RunTransformer;
  score: ScorePairs;
  close(): Promise<void>;
}

export function transformerThreads(data: TransformerThreadData, idleMs = rerankerIdleMs): TransformerThreads {
  const pools = new Map<string, ThreadPool<Tasks>>();
  const pool = (name: string, options: Pick<ThreadPoolOptions, 'nice' | 'idleMs'>) => {
    const entry = programFile('threads/transformer-thread');
    const opened =
      pools.get(name) ??
      openThreadPool<Tasks>({ entry, name, threads: 1, maxQueue, uninterrupted: true, data, ...options });
    pools.set(name, opened);
    return opened;
  };
  return {
    run: (request, signal) => pool('transformers', { nice: 10 }).run('embedTexts', request, { signal }),
    score: (request, signal) => pool('transformers-rerank', { idleMs }).run('scorePairs', request, { signal }),
    close: async () => {
      await Promise.all([...pools.values()].map((each) => each.close()));
    },
  };
}
