/** Tells those who keep a projection of the store what each durable commit changed, in commit order. */
import type { Changes } from '../../store/store.ts';
import { outsideTraces } from '../../tracing/span.ts';

export interface CommittedChanges extends Changes {
  opstamp: number;
}

export type CommitListener = (changes: CommittedChanges) => void;

export class CommitFeed {
  readonly #listeners = new Set<CommitListener>();

  /** Returns how to stop listening. */
  subscribe(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Tell every listener; what those that failed threw is returned, so that one projection's bug stays its own. Listeners run
   * outside the trace of whoever wrote: what they go on to do is for all writes.
   */
  publish(changes: CommittedChanges): unknown[] {
    const errors: unknown[] = [];
    for (const listener of this.#listeners) {
      try {
        outsideTraces(() => listener(changes));
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  }
}
