/**
 * Rewrites all files without what was forgotten: step 5 of docs/forgetting.md. Unverified tombstones say what is due, so a crash loses
 * nothing.
 *
 * resting  nothing is due
 * due      a rewrite follows once nothing was forgotten for `afterMs` and topics are renamed
 * rewrite  index files, the store's file, then the check; after a failure (disk full) it is due again
 */
import { markDeleted, markVerified, purgeSlice } from '../../commands/forget.ts';
import { purgeFromLog } from '../../commands/log-queries.ts';
import { maxTimerMs } from '../../domain/durations.ts';
import { inFlightStatuses } from '../../domain/job.ts';
import { type JobHandler, takenOver } from '../jobs/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';
import { maxBatch } from '../system/system-messages.ts';

interface FileRewriteDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'commit' | 'log'> {
  afterMs: number;
}

/** Per transaction: some ms. */
const sliceTombstones = 500;

export class FileRewrite {
  readonly #dependencies: FileRewriteDependencies;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  /** Forgotten data without tombstones may be in files. */
  #untracked = false;
  #stopped = false;

  constructor(dependencies: FileRewriteDependencies) {
    this.#dependencies = dependencies;
  }

  /** Something may have been forgotten: restart the wait of `afterMs`. */
  due(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(
      () => {
        this.#running = this.#running.then(() => this.#rewrite());
      },
      Math.min(maxTimerMs, this.#dependencies.afterMs),
    );
  }

  /** As `due`, for data without tombstones: older files, or what never was a page. */
  dueUntracked(): void {
    this.#untracked = true;
    this.due();
  }

  /** Resolves when running work has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #rewrite(): Promise<void> {
    const pageNos = this.#dependencies.reader.tombstones.pageNumbers('deleted');
    const untracked = this.#untracked;
    if (this.#stopped || (pageNos.length === 0 && !untracked)) return;
    if (this.#namesWait()) return this.due();
    this.#untracked = false; // what comes while it is rewritten is for the next time
    try {
      if (await this.#rewriteWithout(pageNos)) return;
    } catch (error) {
      if (this.#stopped) return;
      this.#dependencies.log.warn(
        { err: error, pages: pageNos.length },
        'files that hold forgotten text could not be rewritten: tried again',
      );
    }
    this.#untracked ||= untracked;
    this.due();
  }

  /** Rewrite every file, and verify the pages if nothing was indexed meanwhile. Returns whether they are verified. */
  async #rewriteWithout(pageNos: readonly number[]): Promise<boolean> {
    const { ask, commit, log } = this.#dependencies;
    const { clean } = await ask('index.purge', {});
    const sizes = await ask('store.compact', {});
    if (!clean) return false;
    for (let at = 0; at < pageNos.length; at += sliceTombstones) {
      await commit(markVerified(pageNos.slice(at, at + sliceTombstones)), maxBatch);
    }
    log.info({ pages: pageNos.length, ...sizes }, 'what was forgotten is out of every file');
    return true;
  }

  /** Topics still have names with words of lost pages, and a job will rename them. */
  #namesWait(): boolean {
    const { clusters, jobs } = this.#dependencies.reader;
    return (
      clusters.anyStale() &&
      inFlightStatuses.some((status) => jobs.list({ status, kind: 'label_clusters', limit: 1 }).length > 0)
    );
  }
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
