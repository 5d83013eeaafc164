/** The composition root: from settings to a running system (src/composition). `src/main.ts` listens. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type Library, superviseLibrary } from './actors/system/library.ts';
import type { ClusterMember } from './cluster/member.ts';
import { openShared } from './composition/join-cluster.ts';
import { type Host, type HostOptions, openHost, temporaryFolder } from './composition/open-host.ts';
import { openLibrary } from './composition/open-library.ts';
import { DomainError } from './domain/errors.ts';
import type { Readiness } from './domain/messages.ts';
import { libraryFolders } from './settings/library-folders.ts';
import { openDataFolder } from './store/data-folder.ts';

export type App = Awaited<ReturnType<typeof startApp>>;

export interface AppOptions extends HostOptions {
  /** Set in a cluster, where libraries open on demand. */
  member?: ClusterMember | null;
}

/**
 * Open the host and its libraries. Without `libraries.dir`, one library serves when this resolves; with it, libraries
 * open in the background. Errors: those of the host, the data folder and, without `libraries.dir`, the first opening.
 */
export async function startApp({ member = null, ...options }: AppOptions) {
  const { settings } = options;
  const isAlone = settings.libraries.dir === null && member === null;
  // A single library locks its own data folder.
  const sharedFolder = isAlone ? null : openDataFolder(settings.data_dir, randomUUID());
  let host: Host;
  try {
    if (sharedFolder !== null) rmSync(temporaryFolder(settings.data_dir), { recursive: true, force: true });
    host = openHost(options);
  } catch (error) {
    sharedFolder?.release();
    throw error;
  }
  const { metrics, outside } = host;
  const libraries = new Map<string, Library>();
  metrics.libraries.collected = () => Array.from(libraries.values(), (library) => library.state());
  const inCluster = member === null ? null : openShared(host, member, libraries);
  for (const [name, path] of libraryFolders(settings)) {
    const log = isAlone ? host.log : host.log.child({ library: name });
    const own = { log, metrics: metrics.ofLibrary() };
    const open = (again: boolean, ending: AbortSignal) => openLibrary(path, host, { ...own, again, ending });
    libraries.set(name, superviseLibrary({ open, log, isAlone }));
  }
  const all = [...libraries.values()];
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= (inCluster?.close() ?? Promise.all(all.map((library) => library.close())))
      .then(host.close)
      .finally(() => sharedFolder?.release());
    return closed;
  };
  if (isAlone) {
    try {
      await all[0].opened;
    } catch (error) {
      await close();
      throw error;
    }
  }
  host.log.info(outside.programs(), 'external programs');
  return {
    /** Errors: TypeError for an unknown library. */
    askOf(name: string): Library['ask'] {
      const library = libraries.get(name);
      if (library !== undefined) return library.ask;
      if (inCluster !== null) return () => Promise.reject(notHere());
      throw new TypeError(`there is no library ${name}`);
    },
    /** The host of a library: this one (null), or an address. Errors: DomainError `store_unavailable`. */
    placeOf: inCluster?.placeOf ?? (async () => null),
    /** Readiness of all serving libraries, with the sum of their chunks. Errors: the reason if none answers. */
    async readiness(signal: AbortSignal): Promise<Readiness> {
      await member?.ping();
      const asked = await Promise.allSettled(
        [...libraries.values()].map(({ ask }) => ask('system.readiness', {}, { signal })),
      );
      const answers = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const serving = answers.filter((each) => each.store && each.trouble === null && each.activeModel !== null);
      const [first = answers[0]] = serving;
      if (first === undefined && member !== null) return readyHost;
      if (first === undefined) throw asked.find((each) => each.status === 'rejected')?.reason;
      const sum = (of: 'indexed_chunks' | 'total_chunks') => serving.reduce((total, { index }) => total + index[of], 0);
      if (serving.length <= 1) return first;
      const state = serving.every(({ index }) => index.state === 'whole') ? 'whole' : 'rebuilding';
      const index = { state, indexed_chunks: sum('indexed_chunks'), total_chunks: sum('total_chunks') } as const;
      return { ...first, index };
    },
    /** Resolves with the reason when no library can be opened again: the process must end. */
    over:
      inCluster === null ? Promise.all(all.map(({ over }) => over)).then(([reason]) => reason) : new Promise(() => {}),
    chat: outside.chat,
    capabilities: outside.capabilities,
    /** Every provider called so far, and whether its breaker admits calls now. */
    breakerStates: outside.breakers.states,
    /** Stop in order and unlock the data folder. All calls return the same promise. */
    close,
  };
}

const notHere = () => new DomainError('store_unavailable', 'the library is not open here', { retryAfterS: 1 });

/** A cluster host that reaches the database and serves no library now. */
const readyHost: Readiness = {
  ...{ store: true, trouble: null, activeModel: 'each library’s own' },
  index: { state: 'whole', indexed_chunks: 0, total_chunks: 0 },
};
