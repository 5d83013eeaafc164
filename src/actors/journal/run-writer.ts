/** Takes runs from their queue into the query log, some in each commit, a little after the first of them came. */
import type { Logger } from 'pino';
import { appendRuns } from '../../commands/log-queries.ts';
import type { CommitCommand } from '../system/system-messages.ts';
import { type QueryLogQueue, queryRunOf } from './query-log-queue.ts';

export interface RunWriter {
  /** Resolves when everything offered so far is written or given up. */
  flush(): Promise<void>;
  /** The same; what is offered later stays in the queue. */
  close(): Promise<void>;
}

/** A run waits this long for others to share its commit, ms. */
const gatherMs = 100;
/** Runs of one commit: a few ms of encoding. */
const runsPerCommit = 32;

export function openRunWriter(parts: { queue: QueryLogQueue; commit: CommitCommand; log: Logger }): RunWriter {
  const { queue, commit, log } = parts;
  /** Runs taken from the queue and written or given up. */
  let settled = queue.offered - queue.waiting;
  let writing: Promise<void> | undefined;
  let gathering: NodeJS.Timeout | undefined;
  let closing = false;

  const gather = () => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      void flush();
    }, gatherMs);
  };
  const writeSome = async () => {
    const runs = queue.take(runsPerCommit);
    try {
      if (runs.length > 0) await commit(appendRuns(runs.map(queryRunOf)));
    } catch (error) {
      queue.drop(runs.length);
      log.warn({ err: error, runs: runs.length }, 'runs could not be written to the query log');
    }
    settled += runs.length;
  };
  const flush = async () => {
    const upTo = queue.offered;
    while (settled < upTo) {
      writing ??= writeSome().finally(() => {
        writing = undefined;
      });
      await writing;
    }
    // The queue tells of the first run that waits only: when it was never empty meanwhile, nobody else would come for these.
    if (queue.waiting > 0 && !closing) gather();
  };
  const unlisten = queue.listen(gather);

  return {
    flush,
    async close() {
      closing = true;
      unlisten();
      clearTimeout(gathering);
      await flush();
    },
  };
}
