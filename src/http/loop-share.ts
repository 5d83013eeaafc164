/** Limits a turn of the event loop to `shareMs` for requests and pieces of answers. Only public routes never wait. */
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../domain/errors.ts';

/** Max ms per turn; some dozens of searches begin in it. */
const shareMs = 10;

export class LoopShare {
  readonly #monotonic: () => number;
  #began: number | null = null;
  readonly #waiting: (() => void)[] = [];

  constructor(monotonic = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Null if a request may begin now. */
  turn(): Promise<void> | null {
    const now = this.#monotonic();
    if (this.#began === null) this.#beginTurn(now);
    else if (this.#waiting.length > 0 || now - this.#began >= shareMs) {
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
    return null;
  }

  /** Resolves in a later turn, after all earlier waiters. */
  nextTurn(): Promise<void> {
    if (this.#began === null) this.#beginTurn(this.#monotonic());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #beginTurn(now: number): void {
    this.#began = now;
    setImmediate(() => {
      this.#began = null;
      const first = this.#waiting.shift();
      if (first === undefined) return;
      this.#beginTurn(this.#monotonic());
      first();
    });
  }
}

/** Register after the token check. */
export function shareLoop(app: FastifyInstance, share = new LoopShare()): void {
  app.addHook('onRequest', async ({ holder }, { raw }) => {
    const turn = holder === null ? null : share.turn();
    if (turn === null) return;
    await turn;
    // The client is gone; listeners for its disconnect would never fire.
    if (raw.destroyed) throw new DomainError('overloaded', 'the client has gone');
  });
}
