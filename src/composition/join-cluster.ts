import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Library, superviseLibrary } from '../actors/system/library.ts';
import { ClusterMember } from '../cluster/member.ts';
import { errorMessage, OperatorError, ServedElsewhereError } from '../domain/errors.ts';
import type { Peers } from '../http/pass-on.ts';
import { variableName } from '../settings/environment.ts';
import { copiesFolder, copyFolder } from '../settings/library-folders.ts';
import type { Settings } from '../settings/read-settings.ts';
import { storeFormat } from '../store/environment.ts';
import { takeFolderLock } from '../store/folder-lock.ts';
import { createMetrics, type LibraryMetrics } from '../telemetry/metrics.ts';
import { type ClusterLibraries, clusterLibraries } from './cluster-libraries.ts';
import type { Host } from './open-host.ts';
import { openLibrary } from './open-library.ts';
import { temporaryFolder } from './open-outside.ts';

/** Ms between tries to open a library without a host. */
export const maxBackoffMs = 1_000;

/** Errors: OperatorError `store_format` for tables of another version, `cluster` for a missing setting or an unreachable database. */
export async function joinCluster({ cluster, secrets }: Settings, log: Logger): Promise<ClusterMember> {
  const { address, lease_s } = cluster;
  const { database_url: url, secret } = secrets.cluster;
  if (url === null || address === null || secret === null) {
    const names = ['database_url', 'address', 'secret'].map((key) => variableName(['cluster', key]));
    throw new OperatorError('cluster', `a host of a cluster needs all of ${names.join(', ')}`);
  }
  try {
    return await ClusterMember.open({
      ...{ url, address, leaseS: lease_s, format: storeFormat, log },
      monotonic: () => performance.now(),
    });
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError('cluster', `the database of the cluster cannot be used: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

export function peersOf({ secrets }: Settings, member: ClusterMember, placeOf: Peers['placeOf']): Peers {
  const { secret } = secrets.cluster;
  if (secret === null) throw new TypeError('no cluster is set');
  return { secret, libraryOf: (digest) => member.credentials.libraryOf(digest), placeOf };
}

/** The cluster libraries of this host, in `libraries` while open. */
export function openShared(host: Host, member: ClusterMember, libraries: Map<string, Library>): ClusterLibraries {
  const { settings, monotonic, now, log } = host;
  const ending = new AbortController();
  const rehearsed = rehearseOpening(host, ending.signal).catch((err) => {
    if (!ending.signal.aborted) log.warn({ err }, 'the opening of a library could not be rehearsed');
  });
  /** Of every library ever open here: counters continue. */
  const metricsOf = new Map<string, LibraryMetrics>();
  const hold = async (name: string) => {
    const held = await member.claim(name);
    if (held === null) throw new ServedElsewhereError();
    return held;
  };
  const open = (name: string) => {
    const own = { log: log.child({ library: name }), metrics: metricsOf.get(name) ?? host.metrics.ofLibrary() };
    metricsOf.set(name, own.metrics);
    return superviseLibrary({
      open: (again, ending) =>
        openLibrary(copyFolder(settings, name), host, { ...own, again, ending, hold: () => hold(name) }),
      ...{ log: own.log, isAlone: false, maxBackoffMs },
    });
  };
  const isFollowed = async (name: string) => {
    const subscribers = await metricsOf.get(name)?.eventSubscribers.get();
    return (subscribers?.values[0]?.value ?? 0) > 0;
  };
  const sweep = async () => {
    const names = await sweepCopies(copiesFolder(settings), { isOpen: (name) => libraries.has(name), now: now(), log });
    if (names.length > 0) log.info({ libraries: names.length }, 'copies that were not used for a day are gone');
  };
  const shared = clusterLibraries({
    ...{ member, libraries, open, sweep, isFollowed, settings: settings.cluster, log, monotonic, now },
    residentBytes: process.memoryUsage.rss,
  });
  return {
    placeOf: shared.placeOf,
    async close() {
      ending.abort(new Error('the host is closed'));
      await Promise.all([shared.close(), rehearsed]);
    },
  };
}

/**
 * Open and close an empty library in the background. The process's first opening compiles code and starts threads, a
 * second of processor time that would otherwise delay a takeover.
 */
async function rehearseOpening(host: Host, ending: AbortSignal): Promise<void> {
  const { log, settings, monotonic } = host;
  const began = monotonic();
  const folder = join(temporaryFolder(settings.data_dir), 'rehearsal');
  const own = { log: log.child({}, { level: 'warn' }), metrics: createMetrics().ofLibrary() };
  const { close } = await openLibrary(folder, host, { ...own, again: false, ending });
  await close();
  rmSync(folder, { recursive: true, force: true });
  log.info({ ms: Math.round(monotonic() - began) }, 'the opening of a library was rehearsed');
}

/* Deletes copies of libraries that this host has not served for long: they take space and contain data that was deleted elsewhere. */

/** Since the copy was last written, opened or closed, ms. */
export const keptCopyMs = 24 * 3_600_000;

interface SweepOptions {
  isOpen: (name: string) => boolean;
  now: number;
  log: Pick<Logger, 'warn'>;
}

/** `dir` has a folder per library. Returns the deleted names; failures are logged. */
export async function sweepCopies(dir: string, { isOpen, now, log }: SweepOptions): Promise<string[]> {
  const gone: string[] = [];
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    if (isOpen(name)) continue;
    try {
      if (now - lastUseOf(join(dir, name)) > keptCopyMs && (await removeCopy(join(dir, name)))) gone.push(name);
    } catch (err) {
      log.warn({ err, library: name }, 'a copy that is not used any more could not be removed');
    }
  }
  return gone;
}

async function removeCopy(path: string): Promise<boolean> {
  const lock = takeFolderLock(path, randomUUID());
  if ('heldBy' in lock) return false;
  try {
    for (const entry of readdirSync(path))
      if (!entry.startsWith('lock.')) await rm(join(path, entry), { recursive: true, force: true });
    await rm(path, { recursive: true, force: true }); // the lock last, so that nobody opens a part of a copy
    return true;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Opening and closing changes the folder, a commit its file, the index its folder; ms. */
function lastUseOf(path: string): number {
  const parts = [path, join(path, 'store', 'data.mdb'), join(path, 'index')];
  return Math.max(...parts.map((part) => statSync(part, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}
