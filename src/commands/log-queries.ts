/**
 * What happens to the query log: runs are appended and judged, old ones deleted, and what a forgotten page left is taken out.
 * The last two go in slices, so that each transaction stays short.
 */
import { numberOf } from '../domain/ids.ts';
import type { FeedbackRequest, QueryRun } from '../domain/query-log.ts';
import { withoutPages } from '../store/query-log.ts';
import type { Command } from '../store/store.ts';

/** Runs looked at in one transaction: some ms. */
const sliceRuns = 200;

/** Append runs, oldest first. Pages that were forgotten since the run are not written down. */
export function appendRuns(runs: readonly QueryRun[]): Command<void> {
  return ({ queryLog, pages, counters }) => {
    const first = counters.take('query', runs.length);
    /** Whether a page is there, looked up once: a run names each of its pages several times, and so do runs like it. */
    const there = new Map<number, boolean>();
    const stays = (no: number) => {
      const known = there.get(no) ?? pages.has(no);
      there.set(no, known);
      return known;
    };
    for (const [i, run] of runs.entries()) queryLog.append(first + i, withoutPages(run, stays) ?? run);
  };
}

/**
 * Note whether a page was relevant to a logged query; the id of a comparison stands for all its arms. A later word replaces
 * an earlier one. Unknown queries and pages are nothing to note (contract: they are accepted). Gives the number of runs marked.
 */
export function giveFeedback({ query_id, page_id, relevant }: FeedbackRequest): Command<number> {
  return ({ queryLog, pages }) => {
    const pageNo = numberOf('page', page_id);
    if (pageNo === null || !pages.has(pageNo)) return 0;
    const numbers = queryLog.numbersOf(query_id);
    for (const no of numbers) queryLog.mark(no, pageNo, relevant);
    return numbers.length;
  };
}

/** Delete a slice of the runs from before this time, ms; true when there are more. */
export function purgeRunsBefore(before: number): Command<boolean> {
  return ({ queryLog }) => queryLog.removeBefore(before, sliceRuns) === sliceRuns;
}

/**
 * Take what forgotten pages left in a slice of the log, the runs behind `after`, out of it: their hits, their places among the results,
 * their feedback. Gives the last run looked at, or null at the end.
 */
export function purgeFromLog(pageNos: ReadonlySet<number>, after: number): Command<number | null> {
  return ({ queryLog }) => queryLog.removePages(pageNos, after, sliceRuns);
}
