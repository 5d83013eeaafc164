/**
 * The composition root: from settings to a running system (src/composition). It listens on no port; `src/main.ts` does.
 */

import type { Breakers } from './actors/system/breakers.ts';
import { type Library, superviseLibrary } from './actors/system/library.ts';
import { type HostOptions, openHost } from './composition/open-host.ts';
import { openLibrary } from './composition/open-library.ts';
import type { Outside } from './composition/open-outside.ts';

export interface App extends Pick<Outside, 'chat' | 'capabilities'>, Pick<Library, 'ask' | 'over'> {
  /** Every outside provider that was called, and whether it is called now. */
  breakerStates: Breakers['states'];
  /** Stop in order and let go of the data folder. However often it is asked for, that is done once, and all wait for it. */
  close(): Promise<void>;
}

/** Open the host and, in the data folder, its library. Errors: those of the host, and of the library's first opening. */
export async function startApp(options: HostOptions): Promise<App> {
  const host = openHost(options);
  const { settings, log, outside } = host;
  const library = superviseLibrary({
    open: (again, ending) => openLibrary(settings.data_dir, host, { again, ending }),
    log,
  });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= library.close().then(host.close);
    return closed;
  };
  try {
    await library.opened;
  } catch (error) {
    await close();
    throw error;
  }
  log.info(outside.programs(), 'programs beside the service');
  return {
    ask: library.ask,
    over: library.over,
    chat: outside.chat,
    capabilities: outside.capabilities,
    breakerStates: outside.breakers.states,
    close,
  };
}
