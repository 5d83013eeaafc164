/** Reads an import file on its own thread, which bounds the memory of a hostile or huge file. */
import type { ImportFormat } from '../../domain/import.ts';
import { programFile } from '../../files/program-files.ts';
import { ImportError } from '../../importers/item-parts.ts';
import type { ImportSource } from '../../importers/open-source.ts';
import { openThreadPool } from '../../threads/thread-pool.ts';
import { ranOutOfMemory } from '../fetching/parser-pool.ts';

/** 64 MB of JSON read whole take some 600 MB. */
const maxHeapMb = 1024;

/**
 * Open a file; its items can be read once. `signal` aborts reading.
 * Errors, also of the items: ImportError for an unreadable, unknown or too large file; the signal's reason.
 */
export async function openImportReader(
  file: { path: string; name: string; format: ImportFormat | null },
  signal: AbortSignal,
) {
  const pool = openThreadPool<typeof import('../../threads/import-thread.ts')>({
    entry: programFile('threads/import-thread'),
    name: 'import',
    threads: 1,
    maxQueue: 1,
    maxHeapMb,
    nice: 10,
  });
  const asFault = (error: unknown): never => {
    signal.throwIfAborted();
    throw ranOutOfMemory(error) ? new ImportError(`${file.name} takes too much memory to read`) : error;
  };
  async function* items() {
    for (;;) {
      const piece = await pool.run('nextItems', undefined, { signal }).catch(asFault);
      yield* piece.items;
      if (piece.fault !== null) throw new ImportError(piece.fault);
      if (piece.isLast) return;
    }
  }
  try {
    const opened = await pool.run('openFile', file, { signal }).catch(asFault);
    if ('refused' in opened) throw new ImportError(opened.refused);
    const { leftOut, ...source } = opened;
    const read: ImportSource = { ...source, items, leftOut: async () => leftOut };
    return { source: read, close: () => pool.close() };
  } catch (error) {
    await pool.close();
    throw error;
  }
}
