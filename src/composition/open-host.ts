/** The host: resources shared by all libraries of a process: threads, the word list, and outside providers with their breakers. */
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { RecoverPage } from '../actors/indexes/start-recovery.ts';
import type { JobHandler } from '../actors/system/job-actor.ts';
import { builtInModel } from '../domain/model.ts';
import { Encoder } from '../encoder/encoder.ts';
import { checkEncoderFiles, encoderDir } from '../encoder/encoder-files.ts';
import type { Embedders } from '../providers/embedders.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Semaphore } from '../threads/semaphore.ts';
import { encoderHangMs } from './job-limits.ts';
import { openOutside, type Surroundings, type WebSurroundings } from './open-outside.ts';
import { type HostThreads, openThreads } from './open-threads.ts';

export interface HostOptions extends Partial<Surroundings> {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  web?: WebSurroundings;
  /** Wraps the embedders, for tests. */
  aroundEmbedders?: (embedders: Embedders) => Embedders;
  /** Shared by several hosts of one process; the creator closes them. */
  threads?: HostThreads;
  encoder?: Encoder;
  /** Put around the handler of `index_page` jobs: where tests plant their faults. */
  aroundIndexPage?: (handler: JobHandler) => JobHandler;
  /** The same around bringing back a page's text to the index. */
  aroundRecovery?: (recoverPage: RecoverPage) => RecoverPage;
}

export type Host = ReturnType<typeof openHost>;

const openAtOnce = 2;
/** A piece of each library's rows is in memory (bring-up-copy.ts); small ones are not to wait behind one large. */
const bringUpAtOnce = 8;

/** Errors: OperatorError `encoder_files`, `word_list`. */
export function openHost(options: HostOptions) {
  const { settings, log, metrics, web = {} } = options;
  const { aroundIndexPage = (handler: JobHandler) => handler } = options;
  const { aroundRecovery = (recoverPage: RecoverPage) => recoverPage } = options;
  const { now = Date.now, monotonic = () => performance.now(), random = Math.random } = options;
  const surroundings: Surroundings = { now, monotonic, random };
  const dir = settings.encoder.dir ?? encoderDir;
  checkEncoderFiles(dir);
  const threads = options.threads ?? openThreads(settings);
  const own = { dir, dim: builtInModel.dim, hangMs: encoderHangMs(settings), log };
  const encoder = options.encoder ?? new Encoder(own);
  const opened = openOutside({ ...surroundings, settings, log, metrics, threads, encoder, web });
  const outside = { ...opened, embedders: options.aroundEmbedders?.(opened.embedders) ?? opened.embedders };
  metrics.breakers.collected = outside.breakers.states;
  return {
    ...surroundings,
    settings,
    log,
    metrics,
    threads,
    outside,
    encoder,
    aroundIndexPage,
    aroundRecovery,
    /** For filling the built-in model: the encoder is one, and libraries take turns. */
    encoderPlace: new Semaphore(1, Number.POSITIVE_INFINITY),
    /** Libraries that look through their stores before they serve wait for one another. */
    opening: pLimit(openAtOnce),
    /** Libraries whose copies are read from PostgreSQL. */
    bringingUp: pLimit(bringUpAtOnce),
    /** After every library was closed. */
    async close(): Promise<void> {
      await outside.close();
      if (options.encoder === undefined) await encoder.close();
      if (options.threads === undefined) await threads.close();
    },
  };
}
