/** Append, judge and delete logged queries, and remove forgotten pages from them. The last two work in slices, to keep transactions short. */

import type { Replay, ReplayedQuery } from '../domain/evaluation.ts';
import type { Job } from '../domain/job.ts';
import type { FeedbackRequest, QueryRun } from '../domain/query-log.ts';
import { withoutPages } from '../store/query-log.ts';
import type { Command, Transaction } from '../store/store.ts';
import { type Attempt, createJob, type JobPolicy, ownsJob } from './move-job.ts';

/** Runs per transaction: some ms. */
const sliceRuns = 200;

export function appendRuns(runs: readonly QueryRun[]): Command<void> {
  return ({ queryLog, pages, counters }) => {
    const first = counters.take('query', runs.length);
    /** A cache, because runs name each page several times. */
    const there = new Map<number, boolean>();
    const stays = (no: number) => {
      const known = there.get(no) ?? pages.has(no);
      there.set(no, known);
      return known;
    };
    for (const [i, run] of runs.entries()) queryLog.append(first + i, withoutPages(run, stays) ?? run);
  };
}

/** Marks the runs of a query or comparison; returns their number. Accepts unknown queries and pages (contract). */
export function giveFeedback({ query_id, page_id, relevant }: FeedbackRequest): Command<number> {
  return ({ queryLog, pages }) => {
    const pageNo = pages.numberOfId(page_id);
    if (pageNo === null || !pages.has(pageNo)) return 0;
    const numbers = queryLog.numbersOf(query_id);
    for (const no of numbers) queryLog.mark(no, pageNo, relevant);
    return numbers.length;
  };
}

export function purgeRunsBefore(before: number): Command<boolean> {
  return ({ queryLog }) => queryLog.removeBefore(before, sliceRuns) === sliceRuns;
}

/** Moves results of a merged page to its new page. Returns the last run examined, or null at the end. */
export function purgeFromLog(pageNos: ReadonlySet<number>, after: number): Command<number | null> {
  return ({ queryLog, pages }) =>
    queryLog.removePages(pageNos, after, sliceRuns, (no) => {
      const became = pages.becameOf(no);
      return became === undefined || pageNos.has(became) || !pages.has(became) ? undefined : became;
    });
}

export function startReplay(replay: Omit<Replay, 'plan' | 'report'>, { at, max_attempts }: JobPolicy): Command<Job> {
  return (transaction) => {
    const job = createJob(transaction, { kind: 'eval_replay', page_no: null, max_attempts, at });
    transaction.replays.put(job.no, { ...replay, plan: null, report: null });
    return job;
  };
}

/** False if the attempt no longer owns the job. */
export function planReplay(attempt: Attempt, plan: number[][]): Command<boolean> {
  return (transaction) => {
    const replay = owned(transaction, attempt);
    if (replay === undefined) return false;
    transaction.replays.put(attempt.job_no, { ...replay, plan });
    return true;
  };
}

/** False if the attempt no longer owns the job. */
export function saveReplayed(
  attempt: Attempt,
  from: number,
  results: readonly (ReplayedQuery | null)[],
): Command<boolean> {
  return (transaction) => {
    if (owned(transaction, attempt) === undefined) return false;
    transaction.replays.putResults(attempt.job_no, from, results);
    return true;
  };
}

function owned(transaction: Transaction, attempt: Attempt): Replay | undefined {
  return ownsJob(transaction, attempt) ? transaction.replays.get(attempt.job_no) : undefined;
}
