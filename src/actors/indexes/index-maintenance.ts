/**
 * The index is maintained some seconds after its last change: small segments are brought together, what is worth it is saved, and threads
 * let go of what they need no more. Not beside searches, which would share the processor
 * with it and learn the words of the new segments anew. Who has just saved pages often searches next. What waits costs little:
 * searches look into some small segments more, and after a crash more is brought back from the store.
 */
import type { Logger } from 'pino';
import type { SparseIndex } from '../../engine/words/sparse-index.ts';
import type { ModelSpaces } from '../../index/model-spaces.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background } from '../system/background.ts';

/** Without a change and without a search for so long, ms. */
const idleMs = 5000;
/** Searches put it off for no longer than this after the first change, ms. */
const patienceMs = 60_000;

export type IdleDetector = ReturnType<typeof idleDetector>;

/** `monotonic`: ms. */
export function idleDetector(monotonic: () => number) {
  /** The first and the last change since the index was maintained; null: nothing has changed. */
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
    /** Whether it is time; after that, not until something changes. */
    take(): boolean {
      if (dueSince === null || monotonic() - changedAt < idleMs) return false;
      if (monotonic() - searchedAt < idleMs && monotonic() - dueSince < patienceMs) return false;
      dueSince = null;
      return true;
    },
    /** What was due has failed: it is due again after another quiet time. */
    again(): void {
      if (dueSince === null) this.changed();
    },
  };
}

export interface IndexMaintenanceOptions {
  sparse: SparseIndex;
  spaces: ModelSpaces;
  reader: StoreReader;
  idle: IdleDetector;
  log: Logger;
}

/** Maintain the index until what it gives is stopped. */
export function maintainIndex({ sparse, spaces, reader, idle, log }: IndexMaintenanceOptions): Background {
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
      // Work threads end by themselves.
      await sparse.searchers.releaseMemory();
    } catch (error) {
      log.warn({ err: error }, 'the memory of a thread could not be released');
    }
  };
  const background = new Background(log);
  // Where the store cannot be read it broke, and the library is being closed.
  background.every(idleMs, 'the index could not be maintained', async () => {
    spaces.closeIdle(reader.models.activeModel()?.space ?? null);
    if (!idle.take()) return;
    await save();
    await releaseMemory();
  });
  return background;
}
