/** In quiet times small segments are brought together, what is worth it is saved, and threads let go of what they need no more. */
import type { Logger } from 'pino';
import type { SparseIndex } from '../../engine/words/sparse-index.ts';
import type { ModelSpaces } from '../../index/model-spaces.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background } from '../system/background.ts';
import { type IdleDetector, idleMs } from './idle-detector.ts';

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
