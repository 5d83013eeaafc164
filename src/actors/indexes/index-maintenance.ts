/**
 * Maintains the index some seconds after its last change: merges small segments, saves if worthwhile, frees threads' memory. Not during
 * searches, which would share the processor and load the new segments' words; a user who just saved pages often searches next. Waiting
 * costs little: a few more small segments per search, and more to recover after a crash.
 */
import type { Logger } from 'pino';
import type { Searchers } from '../../engine/searchers.ts';
import type { SparseIndex } from '../../engine/words/sparse-index.ts';
import type { ModelSpaces } from '../../index/model-spaces.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background } from '../system/background.ts';

/** Quiet time without changes and searches, ms. */
const idleMs = 5000;
/** Searches delay it at most this long after the first change, ms. */
const patienceMs = 60_000;

export type IdleDetector = ReturnType<typeof idleDetector>;

/** `monotonic`: ms. */
export function idleDetector(monotonic: () => number) {
  /** First and last change since maintenance; null: none. */
  let dueSince: number | null = null;
  let changedAt = 0;
  let searchedAt = Number.NEGATIVE_INFINITY;
  return {
    changed(): void {
      changedAt = monotonic();
      dueSince ??= changedAt;
    },
    searched(): void {
      searchedAt = monotonic();
    },
    /** Whether it is due; then not until the next change. */
    take(): boolean {
      if (dueSince === null || monotonic() - changedAt < idleMs) return false;
      if (monotonic() - searchedAt < idleMs && monotonic() - dueSince < patienceMs) return false;
      dueSince = null;
      return true;
    },
    /** Due again after another quiet time. */
    again(): void {
      if (dueSince === null) this.changed();
    },
  };
}

export interface IndexMaintenanceOptions {
  sparse: SparseIndex;
  searchers: Searchers;
  spaces: ModelSpaces;
  reader: StoreReader;
  idle: IdleDetector;
  log: Logger;
}

export function maintainIndex({ sparse, searchers, spaces, reader, idle, log }: IndexMaintenanceOptions): Background {
  const save = async () => {
    try {
      await Promise.all([sparse.consolidate(), spaces.saveIfWorthIt()]);
    } catch (error) {
      log.error({ err: error }, 'the index could not be saved: it is tried again');
      idle.again();
    }
  };
  const releaseMemory = async () => {
    try {
      // Idle work threads end by themselves.
      await searchers.releaseMemory();
    } catch (error) {
      log.warn({ err: error }, 'the memory of a thread could not be released');
    }
  };
  const background = new Background(log);
  // If the store is unreadable, the library is being closed.
  background.every(idleMs, 'the index could not be maintained', async () => {
    spaces.closeIdle(reader.models.activeModel()?.space ?? null);
    if (!idle.take()) return;
    await save();
    await releaseMemory();
  });
  return background;
}
