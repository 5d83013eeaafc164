/** What the services and the handlers of jobs are made of. */
import type { Logger } from 'pino';
import type { RecoverPage } from '../actors/indexes/start-recovery.ts';
import type { JobHandler } from '../actors/jobs/job-actor.ts';
import type { CommitFeed } from '../actors/system/commit-feed.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { Store } from '../store/store.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Outside, Surroundings } from './open-outside.ts';
import type { Threads } from './open-threads.ts';

export interface Parts extends Surroundings {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  /** The data folder. */
  path: string;
  store: Store;
  feed: CommitFeed;
  threads: Threads;
  outside: Outside;
  /** What threads make the embedded models' vectors of; null where no model is wanted. */
  wordVectors: SharedArrayBuffer | null;
  /** Put around the handler of `index_page` jobs: where tests plant their faults. */
  aroundIndexPage: (handler: JobHandler) => JobHandler;
  /** The same around bringing back a page's text to the index. */
  aroundRecovery: (recoverPage: RecoverPage) => RecoverPage;
}
