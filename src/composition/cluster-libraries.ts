/**
 * The libraries of a cluster that this host has open: opened when somebody asks for one that nobody serves, and taken off the list when another
 * host has it. Where requests go follows from that, and from the library's row in PostgreSQL (docs/cluster.md, "Requests").
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

export interface ClusterLibraries {
  /** Which host answers for a library: this one (null), or another's address. What nobody serves is opened here. Errors: DomainError `store_unavailable`. */
  placeOf(name: string): Promise<string | null>;
  close(): Promise<void>;
}

/** `libraries`: those that are open here, by name; this alone changes it. */
export function clusterLibraries(host: Host, member: ClusterMember, libraries: Map<string, Library>): ClusterLibraries {
  const { monotonic, settings } = host;
  /** Of every library that was ever open here: counters go on. */
  const metricsOf = new Map<string, LibraryMetrics>();
  let isClosing = false;

  const serve = (name: string): void => {
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
    void library.over.then(() => {
      if (libraries.get(name) === library) libraries.delete(name);
    });
  };

  return {
    async placeOf(name) {
      const until = monotonic() + waitMs;
      for (;;) {
        if (isClosing) throw new DomainError('shutting_down', 'the service is stopping');
        if (libraries.get(name)?.state() === 'serving' && member.served.has(name)) return null;
        if (!libraries.has(name)) {
          const owner = await member.ownerOf(name);
          if (owner === null) throw new DomainError('not_found', `there is no library ${name}`);
          if (owner.state !== 'active')
            throw new DomainError('store_unavailable', 'the library is suspended', { retryAfterS: 60 });
          if (owner.address !== null && !owner.isOwn) return owner.address;
          if (!libraries.has(name) && !isClosing) serve(name);
        }
        if (monotonic() > until)
          throw new DomainError('store_unavailable', 'the library is being opened', { retryAfterS: 1 });
        await delay(lookEveryMs);
      }
    },
    async close() {
      isClosing = true;
      await Promise.all([...libraries.values()].map((library) => library.close()));
    },
  };
}
