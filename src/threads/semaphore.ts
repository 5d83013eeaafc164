/**
 * A semaphore with a bounded queue for each owner. Owners take turns, and within one it is first come, first served: however many tasks
 * of one library wait, another's first one waits for one of each owner at most. Who gives up while it waits leaves the queue at once and
 * makes room for another. Called by the thread pools.
 */

/** More would wait than may. */
export class SemaphoreFullError extends Error {}

interface Waiting {
  go: () => void;
  refuse: (reason: unknown) => void;
}

export class Semaphore {
  #free: number;
  readonly #maxWaiting: number;
  /** By owner, those whose turn comes first in front; in each queue in the order they came. No queue is empty. */
  readonly #queues = new Map<string, Set<Waiting>>();
  #closed: { reason: unknown } | undefined;

  /** `maxWaiting`: of each owner. */
  constructor(count: number, maxWaiting: number) {
    this.#free = count;
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    let count = 0;
    for (const { size } of this.#queues.values()) count += size;
    return count;
  }

  /**
   * Wait for a place; whoever has one gives it back by `release`.
   * Errors: SemaphoreFullError; the signal's reason when it comes first; the reason of `close`.
   */
  async acquire(signal: AbortSignal | undefined, owner: string): Promise<void> {
    signal?.throwIfAborted();
    if (this.#closed) throw this.#closed.reason;
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const queue = this.#queues.get(owner) ?? new Set<Waiting>();
    if (queue.size >= this.#maxWaiting) throw new SemaphoreFullError(`${this.#maxWaiting} wait already`);
    let giveUp = (): void => {};
    try {
      await new Promise<void>((go, refuse) => {
        const waiting = { go, refuse };
        this.#queues.set(owner, queue.add(waiting));
        // Whoever was given a place a moment ago is not in the queue any more and has to leave it.
        giveUp = () => {
          if (!queue.delete(waiting)) return;
          if (queue.size === 0) this.#queues.delete(owner);
          refuse(signal?.reason);
        };
        signal?.addEventListener('abort', giveUp, { once: true });
      });
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Give a place back: to the one who has waited longest of the owner whose turn it is. */
  release(): void {
    const [next] = this.#queues;
    if (next === undefined) {
      this.#free++;
      return;
    }
    const [owner, queue] = next;
    const [first] = queue;
    queue.delete(first);
    this.#queues.delete(owner);
    if (queue.size > 0) this.#queues.set(owner, queue);
    first.go();
  }

  /** Refuse all who wait and all who come, for this reason. */
  close(reason: unknown): void {
    this.#closed = { reason };
    for (const queue of this.#queues.values()) for (const { refuse } of queue) refuse(reason);
    this.#queues.clear();
  }
}
