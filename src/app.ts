/**
 * The composition root: from settings to a running system. Parts are made in the order of their dependence and disposed of in
 * the reverse order (src/composition). It listens on no port; `src/main.ts` does.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { requireEntityCapability } from './actors/entities/entity-capability.ts';
import type { RecoverPage } from './actors/indexes/start-recovery.ts';
import type { JobHandler } from './actors/jobs/job-actor.ts';
import type { Breakers } from './actors/system/breakers.ts';
import { CommitFeed } from './actors/system/commit-feed.ts';
import { type Supervisor, startSupervisor } from './actors/system/supervisor.ts';
import { embeddedVectors, ensureActiveModel, renewModels } from './composition/first-model.ts';
import { type Outside, openOutside, type Surroundings, type WebSurroundings } from './composition/open-outside.ts';
import { openThreads } from './composition/open-threads.ts';
import { servicesOf } from './composition/services.ts';
import type { Settings } from './settings/read-settings.ts';
import { clearInterruptedRestore } from './store/backup.ts';
import { openDataFolder } from './store/data-folder.ts';
import { proveStore } from './store/look-apart.ts';
import { requireRoomToOpen } from './store/room-to-open.ts';
import { Store } from './store/store.ts';
import type { Metrics } from './telemetry/metrics.ts';

/** Clocks and chance are the system's own unless given. */
export interface AppOptions extends Partial<Surroundings> {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  /** URL of the main file of @huggingface/transformers, where it is not installed beside the service. */
  transformersModule?: string;
  web?: WebSurroundings;
  /** Put around the handler of `index_page` jobs: where tests plant their faults. */
  aroundIndexPage?: (handler: JobHandler) => JobHandler;
  /** The same around bringing back a page's text to the index. */
  aroundRecovery?: (recoverPage: RecoverPage) => RecoverPage;
}

export interface App extends Pick<Outside, 'chat' | 'capabilities'> {
  ask: Supervisor['ask'];
  ended: Supervisor['ended'];
  /** Every outside provider that was called, and whether it is called now. */
  breakerStates: Breakers['states'];
  /** Stop in order and let go of the data folder. However often it is asked for, that is done once, and all wait for it. */
  close(): Promise<void>;
}

/**
 * Open the data folder and start everything. Errors: those of the folder, the store (OperatorError above all), the word vectors,
 * and of any child at its start.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { settings, log, metrics, now = Date.now, monotonic = () => performance.now(), random = Math.random } = options;
  const surroundings: Surroundings = { now, monotonic, random };
  requireEntityCapability();
  const opened: (() => unknown)[] = [];
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= closeAll(opened);
    return closed;
  };
  try {
    const folder = openDataFolder(settings.data_dir, randomUUID());
    opened.push(() => folder.release());
    const { path } = folder;
    clearInterruptedRestore(path);
    requireRoomToOpen(path);
    await proveStore(path, { beside: false, wasUsed: folder.wasUsed });
    const store = Store.open(path, randomUUID, folder.isLost);
    opened.push(() => store.close());
    await renewModels(store, path, { at: now(), max_attempts: settings.jobs.max_attempts }, log);
    const model = await ensureActiveModel(store, settings, { now, log });
    const wordVectors = embeddedVectors(store, model);
    const threads = openThreads(settings, wordVectors);
    opened.push(threads.close);
    const { transformersModule, web = {} } = options;
    const { reader } = store;
    const beside = { path, reader, threads, transformersModule, web };
    const outside = openOutside({ ...surroundings, settings, log, metrics, ...beside });
    opened.push(outside.close);
    const services = servicesOf({
      ...surroundings,
      settings,
      log,
      metrics,
      path,
      store,
      feed: new CommitFeed(),
      threads,
      outside,
      wordVectors,
      aroundIndexPage: options.aroundIndexPage ?? ((handler) => handler),
      aroundRecovery: options.aroundRecovery ?? ((recoverPage) => recoverPage),
    });
    const supervisor = startSupervisor(services, log);
    opened.push(async () => {
      supervisor.stop();
      await supervisor.ended;
    });
    await supervisor.ready;
    return {
      ask: supervisor.ask,
      ended: supervisor.ended,
      chat: outside.chat,
      capabilities: outside.capabilities,
      breakerStates: outside.breakers.states,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The last one first. */
async function closeAll(opened: readonly (() => unknown)[]): Promise<void> {
  for (const closeOne of [...opened].reverse()) await closeOne();
}
