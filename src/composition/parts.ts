/** What the services and the handlers of jobs of a library are made of. */
import type { CommitFeed } from '../actors/system/commit-feed.ts';
import type { Store } from '../store/store.ts';
import type { CommitHistory } from '../store/stored-rows.ts';
import type { LibraryMetrics } from '../telemetry/metrics.ts';
import type { Host } from './open-host.ts';
import type { Threads } from './open-threads.ts';

export interface Parts extends Omit<Host, 'close' | 'metrics' | 'opening' | 'bringingUp' | 'threads'> {
  /** The library's folder. */
  path: string;
  metrics: LibraryMetrics;
  threads: Threads;
  store: Store;
  feed: CommitFeed;
  /** Whether it is one of a cluster, which goes from host to host. */
  isShared: boolean;
  /** Of its commits, where it is one of a cluster. */
  history: CommitHistory | null;
  /** The opening waits so long for what the index lacks, ms; undefined: until it is whole. */
  recoveryWaitMs: number | undefined;
}
