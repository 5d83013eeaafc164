/**
 * The journal: writes down what was searched, takes feedback, and answers what is in the query log. Runs come from a queue, off
 * the search's way; before anything is read or judged the queue is emptied, so that whoever has a query id finds its run.
 * Runs older than `keepDays` are deleted, at the start and from time to time, in slices.
 */
import type { Logger } from 'pino';
import { giveFeedback, purgeRunsBefore } from '../../commands/log-queries.ts';
import { dayMs } from '../../domain/durations.ts';
import { unknownId } from '../../domain/errors.ts';
import { idOf, instantOf, isoOf } from '../../domain/ids.ts';
import type { LoggedHit, LoggedHits, QueryLogRunResponse } from '../../domain/query-log.ts';
import { type NumberedRun, withoutPages } from '../../store/query-log.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background } from '../system/background.ts';
import type { Handlers, StartService } from '../system/service.ts';
import { type EvaluationDependencies, evaluation } from './evaluation.ts';
import type { QueryLogQueue } from './query-log-queue.ts';
import { openRunWriter } from './run-writer.ts';

export interface JournalDependencies extends EvaluationDependencies {
  queue: QueryLogQueue;
  keepDays: number;
  log: Logger;
}

type JournalMessages =
  | 'queryLog.list'
  | 'queryLog.get'
  | 'feedback.give'
  | 'eval.score'
  | 'eval.startReplay'
  | 'eval.replay'
  | 'eval.replays';

/** Between two looks for old runs, ms. */
const purgeEveryMs = 3_600_000;
const oldRunsStay = 'old runs could not be deleted from the query log';

export function journalService(dependencies: JournalDependencies): StartService<JournalMessages> {
  const { reader, commit, queue, keepDays, log, now } = dependencies;
  const { score, start: startReplay, result: replayResult, list: listReplays } = evaluation(dependencies);

  const start = async () => {
    const writer = openRunWriter({ queue, commit, log });
    const { flush } = writer;
    const background = new Background(log);
    const purge = () => {
      const before = now() - keepDays * dayMs;
      return background.slices(true, async () => (await commit(purgeRunsBefore(before))) || null);
    };
    background.soon(oldRunsStay, purge);
    background.every(purgeEveryMs, oldRunsStay, purge);

    /** Each is read when it is asked for. */
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
        await Promise.all([writer.close(), background.stop()]);
      },
    };
  };
  return start;
}

/** The contract's view of a run. */
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
