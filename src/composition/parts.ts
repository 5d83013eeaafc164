/** What the services and the handlers of jobs of a library are made of. */
import type { CommitFeed } from '../actors/system/commit-feed.ts';
import type { Store } from '../store/store.ts';
import type { Host } from './open-host.ts';

export interface Parts extends Omit<Host, 'close'> {
  /** The library's folder. */
  path: string;
  store: Store;
  feed: CommitFeed;
}
