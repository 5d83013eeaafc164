/**
 * A semaphore with a bounded queue, first come, first served. Who gives up while it waits leaves the queue at once and makes room for another.
 * Called by the thread pools.
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
  /** In the order they came. */
  readonly #waiting = new Set<Waiting>();
  #closed: { reason: unknown } | undefined;

  constructor(count: number, maxWaiting: number) {
    this.#free = count;
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Wait for a place; whoever has one gives it back by `release`.
   * Errors: SemaphoreFullError; the signal's reason when it comes first; the reason of `close`.
   */
  async acquire(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#closed) throw this.#closed.reason;
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiting.size >= this.#maxWaiting) throw new SemaphoreFullError(`${this.#maxWaiting} wait already`);
    let giveUp = (): void => {};
    try {
      await new Promise<void>((go, refuse) => {
        const waiting = { go, refuse };
        this.#waiting.add(waiting);
        // Whoever was given a place a moment ago is not in the queue any more and has to leave it.
        giveUp = () => {
          if (this.#waiting.delete(waiting)) refuse(signal?.reason);
        };
        signal?.addEventListener('abort', giveUp, { once: true });
      });
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Give a place back: to the one who has waited longest. */
  release(): void {
    const [first] = this.#waiting;
    if (first === undefined) this.#free++;
    else {
      this.#waiting.delete(first);
      first.go();
    }
  }

  /** Refuse all who wait and all who come, for this reason. */
  close(reason: unknown): void {
    this.#closed = { reason };
    for (const { refuse } of this.#waiting) refuse(reason);
    this.#waiting.clear();
  }
}
