/**
 * The journal: logs searches, accepts feedback, answers from the query log. Runs come by a queue, off the search's path; it is flushed
 * before a read or feedback, so that a known query id is found. Old runs are deleted in slices, at start and periodically.
 */
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { appendRuns, giveFeedback, purgeRunsBefore } from '../../commands/log-queries.ts';
import { unknownId } from '../../domain/errors.ts';
import type { MessageName } from '../../domain/messages.ts';
import type { LoggedHit, LoggedHits, QueryLogRunResponse } from '../../domain/query-log.ts';
import { idOf, instantOf, isoOf } from '../../domain/values.ts';
import { type NumberedRun, withoutPages } from '../../store/query-log.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background } from '../system/background.ts';
import type { OldBefore } from '../system/retention.ts';
import type { Handlers, StartService } from '../system/service.ts';
import { type EvaluationDependencies, evaluation } from './evaluation.ts';
import { type FreshRun, type QueryLogQueue, queryRunOf } from './query-log-queue.ts';

export interface JournalDependencies extends EvaluationDependencies {
  queue: QueryLogQueue;
  oldBefore: OldBefore;
  log: Logger;
}

type JournalMessages = Extract<MessageName, `queryLog.${string}` | `eval.${string}`> | 'feedback.give';

const purgeEveryMs = 3_600_000;
/** How long a run waits for others to share its commit, ms. */
const gatherMs = 100;
/** A few ms of encoding. */
const runsPerCommit = 32;
const oldRunsStay = 'old runs could not be deleted from the query log';

export function journalService(dependencies: JournalDependencies): StartService<JournalMessages> {
  const { reader, commit, queue, oldBefore, log } = dependencies;
  const { score, start: startReplay, result: replayResult, list: listReplays } = evaluation(dependencies);

  const start = async () => {
    const background = new Background(log);
    const write = async (runs: readonly FreshRun[]) => {
      try {
        await commit(appendRuns(runs.map(queryRunOf)));
      } catch (error) {
        queue.drop(runs.length);
        log.warn({ err: error, runs: runs.length }, 'runs could not be written to the query log');
      }
    };
    const inTurn = pLimit(1);
    /** Resolves when all runs offered so far are written or dropped. */
    const flush = () =>
      inTurn(async () => {
        for (let left = queue.waiting; left > 0; left -= runsPerCommit) await write(queue.take(runsPerCommit));
        // The queue only signals the first waiting run.
        if (queue.waiting > 0 && !background.isStopping) gather();
      });
    let gathering: NodeJS.Timeout | undefined;
    const gather = () => {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        void flush();
      }, gatherMs);
    };
    const unlisten = queue.listen(gather);
    const purge = async () => {
      const before = await oldBefore();
      if (before === null) return;
      await background.slices(true, async () => (await commit(purgeRunsBefore(before))) || null);
    };
    background.soon(oldRunsStay, purge);
    background.every(purgeEveryMs, oldRunsStay, purge);

    async function* runsOf(numbers: readonly number[]): AsyncGenerator<QueryLogRunResponse> {
      for (const no of numbers) {
        const run = reader.queryLog.get(no);
        if (run !== undefined) yield runResponseOf(run, reader);
      }
    }

    const handlers: Handlers<JournalMessages> = {
      'queryLog.list': async ({ since, limit, kind }) => {
        await flush();
        const numbers = reader.queryLog.numbers({
          since: since === undefined ? undefined : instantOf(since),
          kind,
          limit,
        });
        return { runs: runsOf(numbers) };
      },
      'queryLog.get': async ({ query_id }) => {
        await flush();
        for (const no of reader.queryLog.numbersOf(query_id)) {
          const run = reader.queryLog.get(no);
          if (run?.query_id === query_id) return runResponseOf(run, reader);
        }
        throw unknownId('query', query_id);
      },
      'feedback.give': async (feedback) => {
        await flush();
        await commit(giveFeedback(feedback));
        return { status: 'accepted' };
      },
      'eval.score': async (request) => {
        await flush();
        return score(request);
      },
      'eval.startReplay': async (request) => {
        await flush();
        return startReplay(request);
      },
      'eval.replay': replayResult,
      'eval.replays': listReplays,
    };
    return {
      handlers,
      stop: async () => {
        unlisten();
        clearTimeout(gathering);
        await Promise.all([background.stop(), flush()]);
      },
    };
  };
  return start;
}

function runResponseOf(logged: NumberedRun, reader: StoreReader): QueryLogRunResponse {
  const stays = (pageNo: number) => reader.pages.has(pageNo); // a forgotten page is taken out of the log a little later
  const run = { ...logged, ...withoutPages(logged, stays) };
  const { no, ts, candidate_set, dense_hits, sparse_hits, final_pages, ...rest } = run;
  return {
    ...rest,
    ts: isoOf(ts),
    candidate_set: hitsOf(candidate_set),
    dense_hits: hitsOf(dense_hits),
    sparse_hits: hitsOf(sparse_hits),
    final_pages: final_pages.map(({ page_no, score, rank }) => ({ page_id: idOf('page', page_no), score, rank })),
    feedback: Object.fromEntries(
      [...reader.queryLog.feedback(no)]
        .filter(([pageNo]) => stays(pageNo))
        .map(([pageNo, relevant]) => [idOf('page', pageNo), relevant]),
    ),
  };
}

function hitsOf({ labels, page_nos, scores }: LoggedHits): LoggedHit[] {
  return Array.from(labels, (label, i) => ({
    chunk_id: idOf('chunk', label),
    page_id: idOf('page', page_nos[i]),
    score: scores[i],
  }));
}
