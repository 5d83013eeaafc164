/**
 * The cluster libraries open in this host: opened on request when no host serves them, or when due; closed when idle for long or too many;
 * dropped when another host takes them. Requests are routed by this and the library's row in PostgreSQL (docs/cluster.md).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Library } from '../actors/system/library.ts';
import type { ClusterMember } from '../cluster/member.ts';
import { DomainError } from '../domain/errors.ts';
import type { Settings } from '../settings/read-settings.ts';

/** A request waits this long for an opening or a lost owner, ms. */
const waitMs = 5_000;
const lookEveryMs = 50;
export const tendEveryMs = 1_000;
const dueAtOnce = 4;
const sweepEveryMs = 3_600_000;
/** A library opened for its jobs stays open this long after them; one with a job due sooner is not closed, ms. */
const dueGraceMs = 60_000;

export type ClusterLibraries = ReturnType<typeof clusterLibraries>;

export interface ClusterLibrariesOptions {
  member: Pick<ClusterMember, 'due' | 'ownerOf' | 'served'>;
  /** Open libraries by name; only this module changes it. */
  libraries: Map<string, Library>;
  /** Begin to open a library and keep it open. */
  open(name: string): Library;
  residentBytes(): number;
  /** Delete copies of libraries that have not been open here for long. */
  sweep(): Promise<void>;
  isFollowed(name: string): Promise<boolean>;
  settings: Pick<Settings['cluster'], 'idle_close_minutes' | 'max_open_libraries' | 'max_memory_mb'>;
  log: Pick<Logger, 'info' | 'warn'>;
  monotonic: () => number;
  now: () => number;
  /** An unneeded wait does not keep the process alive. */
  wait?: (ms: number) => Promise<unknown>;
}

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

  /** Prefers idle ones: others would be reopened at once. */
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
      log.info({ library: name }, 'the library is idle and closed');
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
        // Expiring leases must not wait for this.
        sweep().catch((err) => log.warn({ err }, 'copies that are not used could not be looked for'));
      } catch (err) {
        log.warn({ err }, 'libraries that are idle or due could not be looked for');
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
    /** The host of a library: this one (null), or an address. Libraries without a host are opened here. Errors: DomainError `store_unavailable`. */
    async placeOf(name: string): Promise<string | null> {
      const until = monotonic() + waitMs;
      for (;;) {
        if (isClosing) throw new DomainError('shutting_down', 'the service is stopping');
        const library = libraries.get(name);
        if (library?.state() === 'serving' && member.served.has(name)) {
          usedAt.set(name, monotonic());
          return null;
        }
        // One that breaks or closes here may be served elsewhere by now.
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
