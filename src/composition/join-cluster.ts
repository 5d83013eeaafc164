import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Library, superviseLibrary } from '../actors/system/library.ts';
import { ClusterMember } from '../cluster/member.ts';
import { DomainError, errorMessage, OperatorError, ServedElsewhereError } from '../domain/errors.ts';
import type { Peers } from '../http/pass-on.ts';
import { copiesFolder, copyFolder } from '../settings/library-folders.ts';
import { type Settings, variableName } from '../settings/read-settings.ts';
import { storeFormat } from '../store/environment.ts';
import { takeFolderLock } from '../store/folder-lock.ts';
import { createMetrics, type LibraryMetrics } from '../telemetry/metrics.ts';
import { type Host, temporaryFolder } from './open-host.ts';
import { openLibrary } from './open-library.ts';

/** Ms between tries to open a library without a host. */
export const maxBackoffMs = 1_000;

/** Errors: OperatorError `store_format` (other version), `cluster` (missing setting, unreachable database). */
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

/** The cluster libraries of this host. `libraries` contains those that are open. */
export function openShared(host: Host, member: ClusterMember, libraries: Map<string, Library>): ClusterLibraries {
  const { settings, monotonic, now, log } = host;
  const ending = new AbortController();
  const rehearsed = rehearseOpening(host, ending.signal).catch((err) => {
    if (!ending.signal.aborted) log.warn({ err }, 'the warm-up opening of a library failed');
  });
  /** Metrics of every library ever opened here, so that counters continue. */
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
    if (names.length > 0) log.info({ libraries: names.length }, 'unused copies were deleted after a day');
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

/** Opens and closes an empty library: the first opening takes a second of processor time and would delay a takeover. */
async function rehearseOpening(host: Host, ending: AbortSignal): Promise<void> {
  const { log, settings, monotonic } = host;
  const began = monotonic();
  const folder = join(temporaryFolder(settings.data_dir), 'rehearsal');
  const own = { log: log.child({}, { level: 'warn' }), metrics: createMetrics().ofLibrary() };
  const { close } = await openLibrary(folder, host, { ...own, again: false, ending });
  await close();
  rmSync(folder, { recursive: true, force: true });
  log.info({ ms: Math.round(monotonic() - began) }, 'the warm-up opening of a library is done');
}

/* Deletes copies of libraries that this host has not served for long, as they contain data deleted elsewhere. */

/** Time since the copy was last written, opened or closed, ms. */
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
      log.warn({ err, library: name }, 'an unused copy could not be deleted');
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
    await rm(path, { recursive: true, force: true }); // the lock last, so that nobody opens a partly deleted copy
    return true;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The newest change: opening and closing change the folder, a commit its file, the index its folder; ms. */
function lastUseOf(path: string): number {
  const parts = [path, join(path, 'store', 'data.mdb'), join(path, 'index')];
  return Math.max(...parts.map((part) => statSync(part, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

/** Max wait of a request for an opening or for an owner that was lost, ms. */
const waitMs = 5_000;
const lookEveryMs = 50;
export const tendEveryMs = 1_000;
const dueAtOnce = 4;
const sweepEveryMs = 3_600_000;
/** A library opened for its jobs stays open this long after them. It stays open if a job is due sooner, ms. */
const dueGraceMs = 60_000;

type ClusterLibraries = ReturnType<typeof clusterLibraries>;

export interface ClusterLibrariesOptions {
  member: Pick<ClusterMember, 'due' | 'ownerOf' | 'served'>;
  /** Open libraries by name; only this module changes it. */
  libraries: Map<string, Library>;
  /** Begin to open a library. It then stays open. */
  open(name: string): Library;
  residentBytes(): number;
  /** Delete copies of libraries that have not been open here for long. */
  sweep(): Promise<void>;
  isFollowed(name: string): Promise<boolean>;
  settings: Pick<Settings['cluster'], 'idle_close_minutes' | 'max_open_libraries' | 'max_memory_mb'>;
  log: Pick<Logger, 'info' | 'warn'>;
  monotonic: () => number;
  now: () => number;
  /** Its timers do not keep the process alive. */
  wait?: (ms: number) => Promise<unknown>;
}

/** Cluster libraries of this host: opened on request or when due, closed when idle or too many (docs/cluster.md). */
export function clusterLibraries({
  member,
  libraries,
  open,
  residentBytes,
  sweep,
  isFollowed,
  settings: { idle_close_minutes, max_open_libraries, max_memory_mb },
  log,
  monotonic,
  now,
  wait = (ms) => delay(ms, undefined, { ref: false }),
}: ClusterLibrariesOptions) {
  const idleMs = idle_close_minutes * 60_000;
  const usedAt = new Map<string, number>();
  let isClosing = false;

  const isMemoryFull = () => max_memory_mb !== null && residentBytes() > max_memory_mb * 1e6;

  const forget = (name: string, library: Library) => {
    if (libraries.get(name) !== library) return;
    libraries.delete(name);
    usedAt.delete(name);
  };

  const serve = (name: string, used: number): void => {
    const library = open(name);
    libraries.set(name, library);
    usedAt.set(name, used);
    void library.over.then(() => forget(name, library));
    if (libraries.size > max_open_libraries || isMemoryFull()) closeLongestUnused(serving());
  };

  const closeOne = (name: string, library: Library) =>
    library.close().then(
      () => forget(name, library),
      (err) => log.warn({ err, library: name }, 'a library could not be closed'),
    );

  const serving = () => [...libraries].filter(([, library]) => library.state() === 'serving');

  const hasWork = ({ dueAt }: Library): boolean => (dueAt() ?? Number.POSITIVE_INFINITY) < now() + dueGraceMs;

  /** Prefers idle libraries, because requests would reopen the others at once. */
  const closeLongestUnused = (those: [string, Library][]) => {
    const spare = those.filter(([, library]) => !hasWork(library));
    const [longest] = (spare.length > 0 ? spare : those).sort(
      ([one], [other]) => (usedAt.get(one) ?? 0) - (usedAt.get(other) ?? 0),
    );
    if (longest !== undefined) void closeOne(...longest);
  };

  const closeIdle = async () => {
    for (const [name, library] of serving()) {
      if (monotonic() - (usedAt.get(name) ?? 0) < idleMs) continue;
      if (hasWork(library) || (await isFollowed(name))) continue;
      log.info({ library: name }, 'the idle library was closed');
      void closeOne(name, library);
    }
  };

  /** Returns the ms until the next check. */
  const openDue = async (): Promise<number> => {
    const opening = [...libraries.values()].filter((library) => library.state() === 'opening').length;
    const { names, nextEndMs } = await member.due(dueAtOnce);
    const isFull = isMemoryFull() && serving().length > 0;
    if (isFull && names.length > 0) closeLongestUnused(serving().filter(([, library]) => !hasWork(library)));
    const room = isFull ? 0 : Math.min(dueAtOnce - opening, max_open_libraries - libraries.size);
    for (const name of names.slice(0, Math.max(0, room)))
      if (!libraries.has(name) && !isClosing) serve(name, monotonic() - idleMs + Math.min(idleMs, dueGraceMs));
    if (names.length > 0 && room > 0) return lookEveryMs; // there may be more
    return Math.min(tendEveryMs, Math.max(lookEveryMs, nextEndMs ?? tendEveryMs));
  };

  const tend = async () => {
    let nextMs = tendEveryMs;
    let sweepAt = monotonic();
    while (!isClosing) {
      await wait(nextMs);
      nextMs = tendEveryMs;
      if (isClosing) return;
      try {
        await closeIdle();
        nextMs = await openDue();
        if (monotonic() < sweepAt) continue;
        sweepAt = monotonic() + sweepEveryMs;
        // Not awaited, because expiring leases must not wait for it.
        sweep().catch((err) => log.warn({ err }, 'unused copies could not be listed'));
      } catch (err) {
        log.warn({ err }, 'idle or due libraries could not be listed');
      }
    }
  };
  void tend();

  /** Concurrent queries for one owner share an answer. */
  const asked = new Map<string, ReturnType<ClusterMember['ownerOf']>>();
  const ownerOf = (name: string) => {
    const found = asked.get(name) ?? member.ownerOf(name).finally(() => asked.delete(name));
    asked.set(name, found);
    return found;
  };

  return {
    /** Null: this host, which may open the library; or another's address. Errors: DomainError `store_unavailable`. */
    async placeOf(name: string): Promise<string | null> {
      const until = monotonic() + waitMs;
      for (;;) {
        if (isClosing) throw new DomainError('shutting_down', 'the service is stopping');
        const library = libraries.get(name);
        if (library?.state() === 'serving' && member.served.has(name)) {
          usedAt.set(name, monotonic());
          return null;
        }
        // A library that fails or closes here may be served by another host now.
        const owner = await ownerOf(name);
        if (owner === null) throw new DomainError('not_found', `there is no library ${name}`);
        if (owner.state !== 'active') {
          const why = owner.state === 'importing' ? 'the library is being imported' : 'the library is suspended';
          throw new DomainError('store_unavailable', why, { retryAfterS: 60 });
        }
        if (owner.address !== null && !owner.isOwn) return owner.address;
        if (!libraries.has(name) && !isClosing) serve(name, monotonic());
        if (monotonic() > until)
          throw new DomainError('store_unavailable', 'the library is being opened', { retryAfterS: 1 });
        await wait(lookEveryMs);
      }
    },
    async close(): Promise<void> {
      isClosing = true;
      await Promise.all([...libraries.values()].map((library) => library.close()));
    },
  };
}
