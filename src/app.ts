/**
 * The composition root: from settings to a running system (src/composition). It listens on no port; `src/main.ts` does.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import pLimit from 'p-limit';
import type { Breakers } from './actors/system/breakers.ts';
import { type Library, superviseLibrary } from './actors/system/library.ts';
import { type HostOptions, openHost } from './composition/open-host.ts';
import { openLibrary } from './composition/open-library.ts';
import { type Outside, temporaryFolder } from './composition/open-outside.ts';
import type { Readiness } from './domain/messages.ts';
import { libraryFolders } from './settings/library-folders.ts';
import { openDataFolder } from './store/data-folder.ts';

export interface App extends Pick<Outside, 'chat' | 'capabilities'> {
  /** Asks a library, by its name. Errors: TypeError for one that is not there. */
  libraryOf(name: string): Library['ask'];
  /** Of all libraries together: ready as soon as one serves. Errors: those of the only one. */
  readiness(signal: AbortSignal): Promise<Readiness>;
  /** Resolves when no library is opened again, with why: the process has to end. */
  over: Promise<unknown>;
  /** Every outside provider that was called, and whether it is called now. */
  breakerStates: Breakers['states'];
  /** Stop in order and let go of the data folder. However often it is asked for, that is done once, and all wait for it. */
  close(): Promise<void>;
}

/** Libraries that are opened at a time: each looks through its store first. */
const openAtOnce = 2;

/**
 * Open the host and its libraries. One alone serves when this resolves; of several, each as soon as it is open.
 * Errors: those of the host, and of the first opening of one alone.
 */
export async function startApp(options: HostOptions): Promise<App> {
  const host = openHost(options);
  const { settings, metrics, outside } = host;
  const folders = libraryFolders(settings);
  const opening = pLimit(openAtOnce);
  // The data folder is a library's own, or has the temporary files of all.
  const folder = settings.libraries.dir === null ? null : openDataFolder(settings.data_dir, randomUUID());
  if (folder !== null) rmSync(temporaryFolder(settings.data_dir), { recursive: true, force: true });
  const libraries = new Map<string, Library>();
  for (const [name, path] of folders) {
    const log = folder === null ? host.log : host.log.child({ library: name });
    const own = { log, metrics: metrics.ofLibrary() };
    const open = (again: boolean, ending: AbortSignal) =>
      opening(() => openLibrary(path, host, { ...own, again, ending }));
    const library = superviseLibrary({ open, log });
    libraries.set(name, library);
    if (folder === null) continue;
    library.opened.catch((error) => log.error({ err: error }, 'the library could not be opened'));
    void library.over.then(() => log.error({}, 'the library is not opened again before the next start'));
  }
  const all = [...libraries.values()];
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= Promise.all(all.map((library) => library.close()))
      .then(host.close)
      .finally(() => folder?.release());
    return closed;
  };
  if (folder === null) {
    try {
      await all[0].opened;
    } catch (error) {
      await close();
      throw error;
    }
  }
  host.log.info(outside.programs(), 'programs beside the service');
  return {
    libraryOf(name) {
      const library = libraries.get(name);
      if (library === undefined) throw new TypeError(`there is no library ${name}`);
      return library.ask;
    },
    async readiness(signal) {
      const asked = await Promise.allSettled(all.map(({ ask }) => ask('system.readiness', {}, { signal })));
      const answers = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const serving = answers.filter(({ store, trouble }) => store && trouble === null);
      const [first = answers[0]] = serving;
      if (first === undefined) throw asked.find((each) => each.status === 'rejected')?.reason;
      const sum = (of: 'indexed_chunks' | 'total_chunks') => serving.reduce((total, { index }) => total + index[of], 0);
      if (serving.length <= 1) return first;
      const state = serving.every(({ index }) => index.state === 'whole') ? 'whole' : 'rebuilding';
      const index = { state, indexed_chunks: sum('indexed_chunks'), total_chunks: sum('total_chunks') } as const;
      return { ...first, index };
    },
    over: Promise.all(all.map(({ over }) => over)).then(([reason]) => reason),
    chat: outside.chat,
    capabilities: outside.capabilities,
    breakerStates: outside.breakers.states,
    close,
  };
}
