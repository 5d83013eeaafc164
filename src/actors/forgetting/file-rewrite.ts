/**
 * Rewrites all files without forgotten data (docs/forgetting.md, step 5). Unverified tombstones record what is due.
 * States: resting; due, until nothing was forgotten for `afterMs` and topics are renamed; rewriting (index files, the
 * store, then the check); due again after a failure.
 */
import { markDeleted, markVerified, purgeSlice } from '../../commands/forget.ts';
import { purgeFromLog } from '../../commands/log-queries.ts';
import { maxTimerMs } from '../../domain/durations.ts';
import { inFlightStatuses } from '../../domain/job.ts';
import { type JobHandler, takenOver } from '../system/job-actor.ts';
import { type LibraryParts, maxBatch } from '../system/service.ts';

interface FileRewriteDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'commit' | 'log'> {
  afterMs: number;
}

/** Per transaction: some ms. */
const sliceTombstones = 500;

export type FileRewrite = ReturnType<typeof fileRewrite>;

export function fileRewrite({ ask, reader, commit, afterMs, log }: FileRewriteDependencies) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  /** Whether files may contain forgotten data without tombstones. */
  let isUntracked = false;
  let isStopped = false;

  /** Something may have been forgotten: restart the wait of `afterMs`. */
  const due = (): void => {
    clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(
      () => {
        running = running.then(rewrite);
      },
      Math.min(maxTimerMs, afterMs),
    );
  };
  /** As `due`, for data without tombstones: older files, or data that was never a page. */
  const dueUntracked = (): void => {
    isUntracked = true;
    due();
  };

  const rewrite = async (): Promise<void> => {
    const pageNos = reader.tombstones.pageNumbers('deleted');
    const wasUntracked = isUntracked;
    if (isStopped || (pageNos.length === 0 && !wasUntracked)) return;
    if (namesWait()) return due();
    isUntracked = false; // data forgotten during this rewrite is left to the next one
    try {
      if (await rewriteWithout(pageNos)) return;
    } catch (err) {
      if (isStopped) return;
      log.warn({ err, pages: pageNos.length }, 'files with forgotten text could not be rewritten: trying again');
    }
    isUntracked ||= wasUntracked;
    due();
  };

  /** Rewrite every file. Verify the pages if nothing was indexed meanwhile. Returns whether they are verified. */
  const rewriteWithout = async (pageNos: readonly number[]): Promise<boolean> => {
    const { clean } = await ask('index.purge', {});
    const sizes = await ask('store.compact', {});
    if (!clean) return false;
    for (let at = 0; at < pageNos.length; at += sliceTombstones) {
      await commit(markVerified(pageNos.slice(at, at + sliceTombstones)), maxBatch);
    }
    log.info({ pages: pageNos.length, ...sizes }, 'all files are rewritten without forgotten data');
    return true;
  };

  /** Whether names of topics still contain words of lost pages. A job will rename them. */
  const namesWait = (): boolean =>
    reader.clusters.anyStale() &&
    inFlightStatuses.some((status) => reader.jobs.list({ status, kind: 'label_clusters', limit: 1 }).length > 0);

  const stop = async (): Promise<void> => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };

  return { due, dueUntracked, stop };
}

type PurgeDependencies = Pick<LibraryParts, 'reader' | 'commit'>;

/** Per transaction: some ms. */
const slicePages = 100;

export function purgeVectorsHandler({ reader, commit }: PurgeDependencies): JobHandler {
  /** Pages already removed from the log. */
  let unlogged: ReadonlySet<number> = new Set();

  return async (job, { attempt, signal }) => {
    const pageNos = reader.tombstones.pageNumbers('pending', { job_no: job.no });
    for (let at = 0; at < pageNos.length; at += slicePages) {
      signal.throwIfAborted();
      const owned = await commit(purgeSlice(attempt, pageNos.slice(at, at + slicePages)));
      if (!owned) throw takenOver();
    }
    if (pageNos.some((no) => !unlogged.has(no))) {
      const waiting = new Set(reader.tombstones.pageNumbers('pending'));
      for (let after: number | null = 0; after !== null; ) {
        signal.throwIfAborted();
        after = await commit(purgeFromLog(waiting, after));
      }
      unlogged = waiting;
    }
    return (transaction) => markDeleted(transaction, job.no);
  };
}
