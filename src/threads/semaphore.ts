/** A semaphore with a bounded queue per owner. Owners take turns, so one with many tasks does not delay the others. */

export class SemaphoreFullError extends Error {}

interface Waiting {
  go: () => void;
  refuse: (reason: unknown) => void;
}

export class Semaphore {
  #free: number;
  readonly #maxWaiting: number;
  /** By owner, next turn first. Each queue is in order of arrival; empty queues are removed. */
  readonly #queues = new Map<string, Set<Waiting>>();
  #closed: { reason: unknown } | undefined;

  constructor(count: number, maxWaiting: number) {
    this.#free = count;
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    let count = 0;
    for (const { size } of this.#queues.values()) count += size;
    return count;
  }

  /** Wait for a place. Errors: SemaphoreFullError; the signal's reason; the reason of `close`. */
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
        // A waiter that just got a place is no longer queued, and keeps the place.
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

  /** Pass the place to the longest waiting task of the next owner. */
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

  close(reason: unknown): void {
    this.#closed = { reason };
    for (const queue of this.#queues.values()) for (const { refuse } of queue) refuse(reason);
    this.#queues.clear();
  }
}
