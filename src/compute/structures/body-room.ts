/**
 * The memory of large bodies, over all that are read at a time. There are so many bytes for all of them together; beyond those one
 * body, the first in the line, takes what it needs. So the bodies are bounded by `bytes` and one more of the greatest size, while there are
 * bytes none waits for another that only is slow, and no two wait for each other: the first goes on to its end, or to that of its time.
 */
interface Waiter {
  body: Body;
  bytes: number;
  grant: () => void;
}

/** What one body has taken. */
interface Body {
  held: number;
}

/** One body's part of the room. */
export interface BodyShare {
  /**
   * Ask for so many bytes more: null where they are there, else what resolves when they are. Nothing more is asked for meanwhile.
   * Errors: the signal's reason.
   */
  take(bytes: number, signal: AbortSignal): Promise<void> | null;
  /** Give everything back, in the end. */
  leave(): void;
}

export class BodyRoom {
  #free: number;
  /** Goes on without asking. */
  #first: Body | null = null;
  readonly #waiting: Waiter[] = [];

  constructor(bytes: number) {
    this.#free = bytes;
  }

  enter(): BodyShare {
    const body: Body = { held: 0 };
    return {
      take: (bytes, signal) => (this.#has(body, bytes) ? null : this.#wait(body, bytes, signal)),
      leave: () => {
        if (this.#first === body) this.#first = null;
        this.#free += body.held;
        body.held = 0;
        this.#advance();
      },
    };
  }

  #has(body: Body, bytes: number): boolean {
    if (this.#first === body) return true;
    if (bytes <= this.#free) {
      this.#free -= bytes;
      body.held += bytes;
      return true;
    }
    if (this.#first !== null) return false;
    this.#first = body;
    this.#free += body.held;
    body.held = 0;
    return true;
  }

  #wait(body: Body, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        body,
        bytes,
        grant: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  /** In the order of asking; those that need little may pass one that needs much, which is first as soon as nobody is. */
  #advance(): void {
    for (const waiter of [...this.#waiting]) {
      if (!this.#has(waiter.body, waiter.bytes)) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.grant();
    }
  }
}
