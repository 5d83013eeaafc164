/**
 * Memory budget of large bodies: at most `bytes` plus one body of maximum size, because only the first in line gets
 * more than `bytes`. No body waits for a slow one while bytes are free, and the first always continues: no deadlock.
 */
interface Waiter {
  body: Body;
  bytes: number;
  grant: () => void;
}

interface Body {
  held: number;
}

export type BodyShare = ReturnType<BodyRoom['enter']>;

export class BodyRoom {
  #free: number;
  /** The first body in line, which never waits. */
  #first: Body | null = null;
  readonly #waiting: Waiter[] = [];

  constructor(bytes: number) {
    this.#free = bytes;
  }

  enter() {
    const body: Body = { held: 0 };
    return {
      /**
       * Reserve bytes: null if available, else a promise. One request at a time.
       * Errors: the signal's reason.
       */
      take: (bytes: number, signal: AbortSignal) => (this.#has(body, bytes) ? null : this.#wait(body, bytes, signal)),
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

  /** In order of arrival. Small requests may pass a large one, which becomes first when that place is free. */
  #advance(): void {
    for (const waiter of [...this.#waiting]) {
      if (!this.#has(waiter.body, waiter.bytes)) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.grant();
    }
  }
}
