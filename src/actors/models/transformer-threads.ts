/** The thread of transformer models: started when the first one is asked for, kept with what it has loaded. */
import { programFile } from '../../files/program-files.ts';
import type { RunTransformer } from '../../providers/transformers-embedder.ts';
import { openThreadPool, type ThreadPool } from '../../threads/thread-pool.ts';
import type { TransformerThreadData } from '../../threads/transformer-thread.ts';

type Tasks = typeof import('../../threads/transformer-thread.ts');

/** Batches that may wait for the thread. */
const maxQueue = 256;

export interface TransformerThreads {
  run: RunTransformer;
  close(): Promise<void>;
}

export function transformerThreads(data: TransformerThreadData): TransformerThreads {
  let pool: ThreadPool<Tasks> | undefined;
  return {
    run(request, signal) {
      pool ??= openThreadPool<Tasks>({
        entry: programFile('threads/transformer-thread'),
        name: 'transformers',
        threads: 1,
        maxQueue,
        uninterrupted: true,
        nice: 10,
        data,
      });
      return pool.run('embedTexts', request, { signal });
    },
    close: async () => pool?.close(),
  };
}
