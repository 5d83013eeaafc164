/**
 * Uploaded import files: spooled, read on their own thread, stored in batches. The same file resumes after a stop.
 * States: running → done, failed (file, disk or quota; earlier items stay), stopped (by a user, or with the service).
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { CanonicalizeSettings } from '../../compute/web/canonical-url.ts';
import { DomainError, errorCode, errorMessage, required } from '../../domain/errors.ts';
import type {
  FailedItem,
  ImportCheckpoint,
  ImportFormat,
  ImportPreviewResponse,
  ImportResponse,
} from '../../domain/import.ts';
import type { ImportUpload } from '../../domain/messages.ts';
import { isoOf } from '../../domain/values.ts';
import { programFile } from '../../files/program-files.ts';
import { ImportError } from '../../importers/item-parts.ts';
import type { ImportSource } from '../../importers/open-source.ts';
import { type ImportTarget, nothingRead, retried, runImport } from '../../importers/run-import.ts';
import type { StoreReader } from '../../store/store.ts';
import type { LibraryMetrics } from '../../telemetry/metrics.ts';
import { Semaphore } from '../../threads/semaphore.ts';
import { openThreadPool } from '../../threads/thread-pool.ts';
import { ranOutOfMemory } from '../fetching/parser-pool.ts';
import type { Handlers, LibraryParts, ServiceHooks, StartService } from '../system/service.ts';
import { importTarget } from './import-target.ts';
import { refuseOverQuota } from './intake.ts';
import { type PreparerDependencies, submissionPreparer } from './prepare-submission.ts';

interface ImportsDependencies extends PreparerDependencies, Pick<LibraryParts, 'commit' | 'log'> {
  reader: Pick<StoreReader, 'imports'>;
  pdfs: Parameters<typeof importTarget>[0]['pdfs'];
  storeId: string;
  /** Temporary folder, emptied at start. */
  dir: string;
  quotaBytes: number | null;
  usedBytes: () => number;
  metrics: Pick<LibraryMetrics, 'ingestPages'>;
  mostKept?: number;
}

type ImportMessages = 'import.begin' | 'import.preview' | 'import.list' | 'import.get' | 'import.stop';

interface Import {
  shown: ImportResponse;
  sourceId: string;
  stop: AbortController;
  /** Resolves when the import leaves `running`. */
  over: Promise<void>;
}

type Outcome = Pick<ImportResponse, 'status' | 'error'>;

/** Max files on disk at a time, including uploads. */
const mostRunning = 5;
const takenInAtOnce = 2;
const usualMostKept = 50;
const itemsPerBatch = 100;
/** Max failure reasons listed; the rest are summed up. Further failures are not examined. */
const mostReasons = 20;
const mostFailuresRead = 10_000;

export function importsService(dependencies: ImportsDependencies): StartService<ImportMessages> {
  const { reader, storeId, dir, metrics, now, log } = dependencies;
  const { mostKept = usualMostKept } = dependencies;
  const { prepareItem } = submissionPreparer(dependencies);

  const targetOf = (label: string, signal: AbortSignal): ImportTarget => {
    const given = { label, maxItems: itemsPerBatch, imports: reader.imports, signal };
    const target = importTarget({ ...dependencies, ...given, prepareItem });
    const take: ImportTarget['take'] = async (before, batch) => {
      const after = await retried(() => target.take(before, batch), requestedWaitMs, signal);
      const grown = (of: 'accepted' | 'revisit' | 'blacklisted') => after.counts[of] - before.counts[of];
      metrics.ingestPages.inc({ outcome: 'queued' }, grown('accepted'));
      metrics.ingestPages.inc({ outcome: 'revisit' }, grown('revisit'));
      metrics.ingestPages.inc({ outcome: 'blacklisted' }, grown('blacklisted'));
      return after;
    };
    return { ...target, take };
  };

  const start = async ({ ending }: ServiceHooks) => {
    await rm(dir, { recursive: true, force: true });
    /** Newest last. */
    const imports = new Map<string, Import>();
    const turns = new Semaphore(takenInAtOnce, mostRunning);
    let onDisk = 0;

    const found = (id: string): Import => required(imports.get(id), 'import', id);

    /** Import the file's items, updating `shown`. Returns the final state. */
    const takeIn = async (shown: ImportResponse, source: ImportSource, signal: AbortSignal): Promise<Outcome> => {
      const before = reader.imports.get(source.id);
      const isRepeated = source.isOwn && before?.finished === true;
      const known = isRepeated ? undefined : before;
      const mode = isRepeated ? 'again' : 'resume';
      const tell = (checkpoint: ImportCheckpoint) => {
        Object.assign(shown, known?.finished === true ? knownBefore(checkpoint) : countsOf(checkpoint));
      };
      if (known !== undefined) tell(known);
      const outcome: Outcome = { status: 'done', error: null };
      try {
        await turns.acquire(signal, '');
        try {
          const target = targetOf(`import:${source.format}`, signal);
          tell(await runImport({ source, target, options, mode, now, signal, onProgress: tell }));
        } finally {
          turns.release();
        }
      } catch (error) {
        outcome.status = signal.aborted ? 'stopped' : 'failed';
        if (!signal.aborted) outcome.error = reasonOf(error);
        if (outcome.error === unexpected) log.error({ err: error, import: shown.id }, 'an import failed unexpectedly');
      }
      if (known?.finished === true) return outcome;
      const leftOut = await leftOutOf(source);
      shown.items += leftOut.reduce((sum, [, count]) => sum + count, 0);
      shown.skipped = [
        ...shown.skipped.filter(({ reason }) => reason !== failed),
        ...reasonsOf(reader.imports.failures(source.id, -1, mostFailuresRead)),
        ...leftOut.map(([reason, count]) => ({ reason, count })),
      ];
      return outcome;
    };

    /** Spool and open a file. Closing it deletes it. Errors: ImportError; those of `spool`; DomainError. */
    const receive = async ({ name, format, columns, bytes }: ImportUpload, signal: AbortSignal, asked: AbortSignal) => {
      refuseOverQuota(dependencies);
      if (onDisk >= mostRunning) {
        throw new DomainError('overloaded', `${mostRunning} imports are running already`, { retryAfterS: 30 });
      }
      onDisk++;
      const id = `im_${randomBytes(8).toString('hex')}`;
      const path = join(dir, id);
      const leave = async () => {
        onDisk--;
        // SQLite leaves files next to a database.
        for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(path + suffix, { force: true });
      };
      try {
        await spool(path, bytes, AbortSignal.any([signal, asked]));
        const { size } = await stat(path);
        const file = { path, name, format: format === 'auto' ? null : format, columns: columns ?? null };
        const opened = await openImportReader(file, signal);
        return { ...opened, id, size, close: () => opened.close().finally(leave) };
      } catch (error) {
        await leave();
        throw error;
      }
    };

    const begin = async (upload: ImportUpload, asked: AbortSignal = ending): Promise<ImportResponse> => {
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, ending]);
      const { id, size, source, close } = await receive(upload, signal, asked).catch(refuse);
      const { id: sourceId, format } = source;
      // Concurrent runs of one file would share a checkpoint.
      if ([...imports.values()].some((each) => each.sourceId === sourceId && each.shown.status === 'running')) {
        await close();
        throw new DomainError('conflict', 'this file is being imported already');
      }
      const shown: ImportResponse = {
        id,
        name: upload.name,
        format,
        status: 'running',
        bytes: size,
        items: 0,
        created: 0,
        revisits: 0,
        skipped: [],
        error: null,
        started_at: isoOf(now()),
        ended_at: null,
      };
      const run = async () => {
        let outcome: Outcome = { status: 'failed', error: unexpected };
        try {
          outcome = await takeIn(shown, source, signal);
        } finally {
          await close();
          Object.assign(shown, outcome, { ended_at: isoOf(now()) });
        }
      };
      const over = run().catch((error) => log.error({ err: error, import: id }, 'an import ended with an error'));
      imports.set(id, { shown, sourceId, stop, over });
      const oldest = [...imports.values()].find((each) => each.shown.status !== 'running');
      if (imports.size > mostKept && oldest !== undefined) imports.delete(oldest.shown.id);
      return structuredClone(shown);
    };

    const preview = async (upload: ImportUpload, asked: AbortSignal = ending): Promise<ImportPreviewResponse> => {
      const signal = AbortSignal.any([ending, asked]);
      const { name } = upload;
      try {
        const { source, size, dryRun, close } = await receive(upload, signal, asked);
        try {
          const { format, columns } = source;
          const imported_before = reader.imports.get(source.id)?.finished === true;
          const read = await dryRun(dependencies.canonicalize);
          const skipped = { ...read.skipped, ...Object.fromEntries(await leftOutOf(source)) };
          return { ...read, name, bytes: size, format, imported_before, skipped, columns: [...columns] };
        } finally {
          await close();
        }
      } catch (error) {
        if (!(error instanceof ImportError) || error.columns.length === 0) return refuse(error);
        const unread = { bytes: 0, format: null, imported_before: false, error: error.message };
        return { ...nothingRead(), ...unread, name, columns: [...error.columns] };
      }
    };

    const handlers: Handlers<ImportMessages> = {
      'import.begin': begin,
      'import.preview': preview,
      'import.list': () => ({
        imports: [...imports.values()].map(({ shown }) => structuredClone(shown)).reverse(),
        library_id: storeId,
      }),
      'import.get': ({ import_id }) => structuredClone(found(import_id).shown),
      'import.stop': async ({ import_id }) => {
        const { stop, over } = found(import_id);
        stop.abort();
        await over;
        return undefined;
      },
    };
    return {
      handlers,
      // `ending` is already aborted.
      stop: async () => {
        await Promise.all([...imports.values()].map(({ over }) => over));
      },
    };
  };

  /** Errors: DomainError `store_unavailable`; those of the byte stream; the signal's reason. */
  const spool = async (path: string, bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> => {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    let ofFile: Error | null = null;
    file.once('error', (error) => {
      ofFile = error;
    });
    const written = pipeline(bytes, file, { signal }).catch((cause) => {
      if (cause !== ofFile || errorCode(cause) === undefined) throw cause;
      throw new DomainError('store_unavailable', `the file cannot be kept: ${errorMessage(cause)}`, { cause });
    });
    // A stalled sender blocks the pipeline even after an abort.
    try {
      await Promise.race([written, once(signal, 'abort').then(() => signal.throwIfAborted())]);
    } finally {
      // A file that is still being opened would appear after its deletion.
      if (!file.closed) await new Promise<void>((resolve) => file.once('close', () => resolve()).destroy());
    }
  };
  return start;
}

function refuse(error: unknown): never {
  if (error instanceof ImportError) throw new DomainError('invalid', error.message, { cause: error });
  throw error;
}

const options = { since: null, min_visits: 1 } as const;
const failed = 'could not be imported';
const unexpected = 'internal error';

const leftOutOf = async (source: ImportSource): Promise<[reason: string, count: number][]> =>
  Object.entries(await source.leftOut()).map(([reason, count]) => [`visits left out: ${reason}`, count]);

type Counts = Pick<ImportResponse, 'items' | 'created' | 'revisits' | 'skipped'>;

/** Counts over all runs of this file. */
function countsOf({ next, counts }: ImportCheckpoint): Counts {
  const { accepted, revisit, blacklisted } = counts;
  const skipped = Object.entries(counts.skipped).map(([reason, count]) => ({ reason, count }));
  if (blacklisted > 0) skipped.push({ reason: 'forgotten, and blocked by its rule', count: blacklisted });
  if (counts.failed > 0) skipped.push({ reason: failed, count: counts.failed });
  return { items: next, created: accepted, revisits: revisit, skipped };
}

/** A file already imported is skipped. */
function knownBefore({ next }: ImportCheckpoint): Counts {
  return { items: next, created: 0, revisits: 0, skipped: [{ reason: 'imported before', count: next }] };
}

/** By reason, most frequent first. */
function reasonsOf(failures: readonly FailedItem[]): ImportResponse['skipped'] {
  const counts = new Map<string, number>();
  for (const { reason } of failures) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const all = [...counts].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count);
  const others = all.slice(mostReasons).reduce((sum, { count }) => sum + count, 0);
  return [...all.slice(0, mostReasons), ...(others === 0 ? [] : [{ reason: failed, count: others }])];
}

function reasonOf(error: unknown): string {
  return error instanceof ImportError || error instanceof DomainError ? error.message : unexpected;
}

/** Retry time while a queue is full or the disk fails. */
function requestedWaitMs(error: unknown): number | null {
  const passes = error instanceof DomainError && (error.code === 'overloaded' || error.code === 'store_unavailable');
  return passes ? (error.retryAfterS ?? 0) * 1000 : null;
}

/** Reading 64 MB of JSON at once takes some 600 MB. */
const maxHeapMb = 1024;

/** Open a file. Its items can be read once. Errors, also of items: ImportError; the signal's reason. */
async function openImportReader(
  file: { path: string; name: string; format: ImportFormat | null; columns: string | null },
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
    if ('refused' in opened) throw Object.assign(new ImportError(opened.refused), { columns: opened.columns });
    const { leftOut, ...source } = opened;
    const read: ImportSource = { ...source, items, leftOut: async () => leftOut };
    const dryRun = (canonicalize: CanonicalizeSettings) =>
      pool.run('dryRunOf', { options, canonicalize }, { signal }).catch(asFault);
    return { source: read, dryRun, close: () => pool.close() };
  } catch (error) {
    await pool.close();
    throw error;
  }
}
