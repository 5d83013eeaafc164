/**
 * Publishes each commit's changes in order, twice: when visible, for projections, and when durable, for what leaves the process or goes
 * to other files. A commit that never becomes durable is published once, and the library closes.
 */

import { outsideTraces } from '../../compute/span.ts';
import type { Changes } from '../../store/commit.ts';

export interface CommittedChanges extends Changes {
  opstamp: number;
}

export type CommitListener = (changes: CommittedChanges) => void;

/** May be far apart. */
export type CommitMoment = 'visible' | 'durable';

export class CommitFeed {
  readonly #listeners: Record<CommitMoment, Set<CommitListener>> = { visible: new Set(), durable: new Set() };

  /** Returns the unsubscribe function. */
  subscribe(moment: CommitMoment, listener: CommitListener): () => void {
    this.#listeners[moment].add(listener);
    return () => this.#listeners[moment].delete(listener);
  }

  /** Returns the listeners' errors. Listeners run outside the writer's trace. */
  publish(moment: CommitMoment, changes: CommittedChanges): unknown[] {
    const errors: unknown[] = [];
    for (const listener of this.#listeners[moment]) {
      try {
        outsideTraces(() => listener(changes));
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  }
}
