/**
 * The libraries of a cluster that this host has open: opened when somebody asks for one that nobody serves, or when one has something to do; closed
 * when nobody has asked for long, or there are too many; taken off the list when another host has it. Where requests go follows from that, and from
 * the library's row in PostgreSQL (docs/cluster.md, "Requests").
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Library } from '../actors/system/library.ts';
import type { ClusterMember } from '../cluster/member.ts';
import { DomainError } from '../domain/errors.ts';
import type { Settings } from '../settings/read-settings.ts';

/** A request waits so long for a library that is being opened, or whose owner is gone, ms. */
const waitMs = 5_000;
/** Between two looks at where a library is, ms. */
const lookEveryMs = 50;
/** Between two looks for libraries that are idle or due, ms; there is one when the next lease of another host ends, too. */
export const tendEveryMs = 1_000;
/** Libraries that are opened at the same time because they are due. */
const dueAtOnce = 4;
/** Between two looks for copies that are not needed any more, ms. */
const sweepEveryMs = 3_600_000;
/** A library opened for its jobs stays open so long after them; one with a job due sooner is not closed, ms. */
const dueGraceMs = 60_000;

export interface ClusterLibraries {
  /** Which host answers for a library: this one (null), or another's address. What nobody serves is opened here. Errors: DomainError `store_unavailable`. */
  placeOf(name: string): Promise<string | null>;
  close(): Promise<void>;
}

export interface ClusterLibrariesOptions {
  member: Pick<ClusterMember, 'due' | 'ownerOf' | 'served'>;
  /** Those that are open here, by name; this alone changes it. */
  libraries: Map<string, Library>;
  /** Begin to open one that this host takes, and keep it open. */
  open(name: string): Library;
  /** Resident memory of the process, bytes. */
  residentBytes(): number;
  /** Throw away copies of libraries that are not open here and were not for long. */
  sweep(): Promise<void>;
  /** Whether somebody follows the events of a library. */
  isFollowed(name: string): Promise<boolean>;
  settings: Pick<Settings['cluster'], 'idle_close_minutes' | 'max_open_libraries' | 'max_memory_mb'>;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Ms. */
  monotonic: () => number;
  /** Wall clock, ms. */
  now: () => number;
  /** Resolves so many ms later; a wait that nobody is interested in any more keeps no process up. */
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
}: ClusterLibrariesOptions): ClusterLibraries {
  const idleMs = idle_close_minutes * 60_000;
  /** When somebody asked last, ms by the monotonic clock. */
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

  /** Rather one without work: others would be opened again at once. */
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

  /** Gives how long there is nothing to be looked for, ms. */
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
        // Leases that end are not waited with for what may take long.
        sweep().catch((err) => log.warn({ err }, 'copies that are not used could not be looked for'));
      } catch (err) {
        log.warn({ err }, 'libraries that are idle or due could not be looked for');
      }
    }
  };
  void tend();

  /** Those who ask for the owner of one library at the same time share one answer. */
  const asked = new Map<string, ReturnType<ClusterMember['ownerOf']>>();
  const ownerOf = (name: string) => {
    const found = asked.get(name) ?? member.ownerOf(name).finally(() => asked.delete(name));
    asked.set(name, found);
    return found;
  };

  return {
    async placeOf(name) {
      const until = monotonic() + waitMs;
      for (;;) {
        if (isClosing) throw new DomainError('shutting_down', 'the service is stopping');
        const library = libraries.get(name);
        if (library?.state() === 'serving' && member.served.has(name)) {
          usedAt.set(name, monotonic());
          return null;
        }
        // One that breaks or is closed here may be served elsewhere by now.
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
    async close() {
      isClosing = true;
      await Promise.all([...libraries.values()].map((library) => library.close()));
    },
  };
}
