/**
 * A lock file for "only one process compiles". The holder refreshes the file's time; a waiter takes the lock over when its
 * process is gone (same host) or when the time has not moved for `staleAfterMs` (another host, or a process number that was
 * given again). Losing a race here costs a second compilation, never a bad cache: that is written aside and renamed.
 */
import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import { errorCode } from '../domain/error-code.ts';

const REFRESH_MS = 1000;

const lockContent = z.object({ host: z.string(), pid: z.int(), id: z.string() });

export interface HeldLock {
  release(): Promise<void>;
}

/** What a waiter has seen so far of someone else's lock; pass it to the next attempt. */
export interface LockSighting {
  pid: number | undefined;
  refreshedMs: number;
  /** Monotonic time at which `refreshedMs` was first seen. */
  sinceMs: number;
}

/**
 * Take the lock at `path`, or say who holds it. A stale lock is removed and taken at once.
 * Errors: those of the file system, e.g. EACCES for a folder that cannot be written.
 */
export async function tryLock(
  path: string,
  staleAfterMs: number,
  before?: LockSighting,
): Promise<{ held: HeldLock } | { sighting: LockSighting }> {
  const id = randomUUID();
  const content = JSON.stringify({ host: hostname(), pid: process.pid, id });
  for (;;) {
    if (await createExclusively(path, content)) return { held: hold(path, content) };
    const sighting = await look(path, before);
    if (sighting === undefined) continue;
    if (!sighting.stale && performance.now() - sighting.sinceMs < staleAfterMs) return { sighting };
    await removeStale(path, sighting.content, id);
  }
}

function hold(path: string, content: string): HeldLock {
  const timer = setInterval(() => {
    const now = new Date();
    // A lock that was taken over is not ours to refresh; release() finds out in its own way.
    utimes(path, now, now).catch(() => clearInterval(timer));
  }, REFRESH_MS);
  timer.unref();
  return {
    async release() {
      clearInterval(timer);
      if ((await readIfThere(path)) === content) await rm(path, { force: true });
    },
  };
}

/** The lock as it is now; undefined when it went away meanwhile. */
async function look(path: string, before: LockSighting | undefined) {
  const content = await readIfThere(path);
  const refreshedMs = (await stat(path).catch(ignoreMissing))?.mtimeMs;
  if (content === undefined || refreshedMs === undefined) return undefined;
  const owner = parseContent(content);
  const sinceMs = before?.refreshedMs === refreshedMs ? before.sinceMs : performance.now();
  const stale = owner !== undefined && owner.host === hostname() && !isAlive(owner.pid);
  return { pid: owner?.pid, refreshedMs, sinceMs, stale, content };
}

/**
 * Move the lock aside and drop it, unless someone else has taken it over in between: then it is put back.
 */
async function removeStale(path: string, content: string, id: string): Promise<void> {
  const aside = `${path}.${id}`;
  const moved = await rename(path, aside).then(() => true, ignoreMissing);
  if (moved !== true) return;
  if ((await readFile(aside, 'utf8')) !== content) await link(aside, path).catch(ignoreExisting);
  await rm(aside, { force: true });
}

async function createExclusively(path: string, content: string): Promise<boolean> {
  const file = await open(path, 'wx', 0o600).catch(ignoreExisting);
  if (file === undefined) return false;
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
  return true;
}

/** A lock being written is empty for a moment: it has no owner yet, and counts as held until it is stale by time. */
function parseContent(content: string): z.infer<typeof lockContent> | undefined {
  if (content === '') return undefined;
  try {
    return lockContent.safeParse(JSON.parse(content)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Signal 0 only asks. EPERM means that the process exists and is another user's. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(ignoreMissing);
}

function ignoreMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}

function ignoreExisting(error: unknown): undefined {
  if (errorCode(error) !== 'EEXIST') throw error;
}
