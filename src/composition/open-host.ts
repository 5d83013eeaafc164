/**
 * The host: what the process has once, however many libraries are open in it. Threads, the word vectors, and the outside world with its
 * breakers; what costs memory is here.
 */
import pLimit, { type LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import { requireEntityCapability } from '../actors/entities/entity-capability.ts';
import type { RecoverPage } from '../actors/indexes/start-recovery.ts';
import type { JobHandler } from '../actors/jobs/job-actor.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type Outside, openOutside, type Surroundings, type WebSurroundings } from './open-outside.ts';
import { type HostThreads, openThreads } from './open-threads.ts';

/** Clocks and chance are the system's own unless given. */
export interface HostOptions extends Partial<Surroundings> {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  /** URL of the main file of @huggingface/transformers, where it is not installed beside the service. */
  transformersModule?: string;
  web?: WebSurroundings;
  /** Those of several hosts of one process, which whoever opened them closes. */
  threads?: HostThreads;
  /** Put around the handler of `index_page` jobs: where tests plant their faults. */
  aroundIndexPage?: (handler: JobHandler) => JobHandler;
  /** The same around bringing back a page's text to the index. */
  aroundRecovery?: (recoverPage: RecoverPage) => RecoverPage;
}

export interface Host extends Surroundings, Required<Pick<HostOptions, 'aroundIndexPage' | 'aroundRecovery'>> {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  threads: HostThreads;
  outside: Outside;
  /** Libraries that look through their stores before they serve wait for one another. */
  opening: LimitFunction;
  /** Libraries whose copies are read from PostgreSQL. */
  bringingUp: LimitFunction;
  /** After every library was closed. */
  close(): Promise<void>;
}

const openAtOnce = 2;
/** A piece of each library's rows is in memory (bring-up-copy.ts); small ones are not to wait behind one large. */
const bringUpAtOnce = 8;

/** Errors: OperatorError `word_vectors`, `name_tagger`, `entity_capability`. */
export function openHost(options: HostOptions): Host {
  const { settings, log, metrics, web = {}, transformersModule } = options;
  const { now = Date.now, monotonic = () => performance.now(), random = Math.random } = options;
  const surroundings: Surroundings = { now, monotonic, random };
  requireEntityCapability();
  const threads = options.threads ?? openThreads(settings);
  const outside = openOutside({ ...surroundings, settings, log, metrics, threads, transformersModule, web });
  metrics.breakers.collected = outside.breakers.states;
  return {
    ...surroundings,
    settings,
    log,
    metrics,
    threads,
    outside,
    opening: pLimit(openAtOnce),
    bringingUp: pLimit(bringUpAtOnce),
    aroundIndexPage: options.aroundIndexPage ?? ((handler) => handler),
    aroundRecovery: options.aroundRecovery ?? ((recoverPage) => recoverPage),
    async close() {
      await outside.close();
      if (options.threads === undefined) await threads.close();
    },
  };
}
