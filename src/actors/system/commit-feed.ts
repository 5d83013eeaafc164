/**
 * Tells those who keep a projection of the store what each commit changed, in commit order. Each is told of twice: when readers see it,
 * for what has to agree with them, and when it is on the disk, for what a crash must not take back: what goes out of the process, or into
 * other files. One that fails to reach the disk is told of once, and the library is closed.
 */
import type { Changes } from '../../store/commit.ts';
import { outsideTraces } from '../../tracing/span.ts';

export interface CommittedChanges extends Changes {
  opstamp: number;
}

export type CommitListener = (changes: CommittedChanges) => void;

/** A disk may be long in between. */
export type CommitMoment = 'visible' | 'durable';

export class CommitFeed {
  readonly #listeners: Record<CommitMoment, Set<CommitListener>> = { visible: new Set(), durable: new Set() };

  /** Returns how to stop listening. */
  subscribe(moment: CommitMoment, listener: CommitListener): () => void {
    this.#listeners[moment].add(listener);
    return () => this.#listeners[moment].delete(listener);
  }

  /**
   * Tell every listener of the moment; what those that failed threw is returned, so that one projection's bug stays its own. Listeners run
   * outside the trace of whoever wrote: what they go on to do is for all writes.
   */
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
