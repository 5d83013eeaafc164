/**
 * The libraries of a cluster that this host has open: opened when somebody asks for one that nobody serves, or when one has something to do; closed
 * when nobody has asked for long, or there are too many; taken off the list when another host has it. Where requests go follows from that, and from
 * the library's row in PostgreSQL (docs/cluster.md, "Requests").
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Library, superviseLibrary } from '../actors/system/library.ts';
import type { ClusterMember } from '../cluster/member.ts';
import { DomainError, ServedElsewhereError } from '../domain/errors.ts';
import { copyFolder } from '../settings/library-folders.ts';
import type { LibraryMetrics } from '../telemetry/metrics.ts';
import type { Host } from './open-host.ts';
import { openLibrary } from './open-library.ts';

/** A request waits so long for a library that is being opened, or whose owner is gone, ms. */
const waitMs = 5_000;
/** Between two looks at where a library is, ms. */
const lookEveryMs = 50;
/** Between two looks for libraries that are idle or due, ms. */
const tendEveryMs = 2_000;
/** Due libraries that are opened at one look. */
const dueAtOnce = 4;
/** One that was opened for its jobs stays open so long behind them, and one whose next job is sooner is not closed, ms. */
const dueGraceMs = 60_000;

export interface ClusterLibraries {
  /** Which host answers for a library: this one (null), or another's address. What nobody serves is opened here. Errors: DomainError `store_unavailable`. */
  placeOf(name: string): Promise<string | null>;
  close(): Promise<void>;
}

/** `libraries`: those that are open here, by name; this alone changes it. */
export function clusterLibraries(host: Host, member: ClusterMember, libraries: Map<string, Library>): ClusterLibraries {
  const { monotonic, settings, now } = host;
  const { idle_close_minutes, max_open_libraries } = settings.cluster;
  const idleMs = idle_close_minutes * 60_000;
  /** Of every library that was ever open here: counters go on. */
  const metricsOf = new Map<string, LibraryMetrics>();
  /** When somebody asked last, ms by the monotonic clock. */
  const usedAt = new Map<string, number>();
  let isClosing = false;

  const forget = (name: string, library: Library) => {
    if (libraries.get(name) !== library) return;
    libraries.delete(name);
    usedAt.delete(name);
  };

  const serve = (name: string, used: number): void => {
    const log = host.log.child({ library: name });
    const metrics = metricsOf.get(name) ?? host.metrics.ofLibrary();
    metricsOf.set(name, metrics);
    const hold = async () => {
      const held = await member.claim(name);
      if (held === null) throw new ServedElsewhereError();
      return held;
    };
    const open = (again: boolean, ending: AbortSignal) =>
      openLibrary(copyFolder(settings, name), host, { log, metrics, again, ending, hold });
    const library = superviseLibrary({ open, log, isAlone: false });
    libraries.set(name, library);
    usedAt.set(name, used);
    void library.over.then(() => forget(name, library));
    if (libraries.size > max_open_libraries) closeLongestUnused();
  };

  const closeOne = async (name: string, library: Library) => {
    await library.close();
    forget(name, library);
  };

  const serving = () => [...libraries].filter(([, library]) => library.state() === 'serving');

  const closeLongestUnused = () => {
    const [longest] = serving().sort(([one], [other]) => (usedAt.get(one) ?? 0) - (usedAt.get(other) ?? 0));
    if (longest !== undefined) void closeOne(...longest);
  };

  const closeIdle = async () => {
    for (const [name, library] of serving()) {
      if (monotonic() - (usedAt.get(name) ?? 0) < idleMs) continue;
      const subscribers = (await metricsOf.get(name)?.eventSubscribers.get())?.values[0]?.value ?? 0;
      const due = library.dueAt();
      if (subscribers > 0 || (due !== null && due < now() + dueGraceMs)) continue;
      host.log.info({ library: name }, 'the library is idle and closed');
      await closeOne(name, library);
    }
  };

  const openDue = async () => {
    if (libraries.size >= max_open_libraries) return;
    for (const name of await member.due(dueAtOnce))
      if (!libraries.has(name) && !isClosing) serve(name, monotonic() - idleMs + Math.min(idleMs, dueGraceMs));
  };

  let timer: NodeJS.Timeout | undefined;
  const tend = async () => {
    try {
      await closeIdle();
      await openDue();
    } catch (err) {
      host.log.warn({ err }, 'libraries that are idle or due could not be looked for');
    }
    if (!isClosing) tendLater();
  };
  const tendLater = () => {
    timer = setTimeout(() => void tend(), tendEveryMs).unref();
  };
  tendLater();

  return {
    async placeOf(name) {
      const until = monotonic() + waitMs;
      for (;;) {
        if (isClosing) throw new DomainError('shutting_down', 'the service is stopping');
        if (libraries.get(name)?.state() === 'serving' && member.served.has(name)) {
          usedAt.set(name, monotonic());
          return null;
        }
        if (!libraries.has(name)) {
          const owner = await member.ownerOf(name);
          if (owner === null) throw new DomainError('not_found', `there is no library ${name}`);
          if (owner.state !== 'active')
            throw new DomainError('store_unavailable', 'the library is suspended', { retryAfterS: 60 });
          if (owner.address !== null && !owner.isOwn) return owner.address;
          if (!libraries.has(name) && !isClosing) serve(name, monotonic());
        }
        if (monotonic() > until)
          throw new DomainError('store_unavailable', 'the library is being opened', { retryAfterS: 1 });
        await delay(lookEveryMs);
      }
    },
    async close() {
      isClosing = true;
      clearTimeout(timer);
      await Promise.all([...libraries.values()].map((library) => library.close()));
    },
  };
}
