/**
 * How much of one turn of the event loop goes to requests and to the pieces of large answers. The system hands over all that has come in at once, so that a hundred requests of
 * twenty milliseconds each would hold up everything else for two seconds. When those served in a turn have taken their share, the
 * next wait, first come first served, and go on one a turn. Public routes, such as health, do not wait.
 */
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../domain/errors.ts';

/** Of a turn, ms: some dozens of searches begin in it. */
const shareMs = 10;

export class LoopShare {
  readonly #monotonic: () => number;
  /** When the first request of this turn began; null before that. */
  #began: number | null = null;
  readonly #waiting: (() => void)[] = [];

  constructor(monotonic = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Null where a request may begin now, else what resolves when it may. */
  turn(): Promise<void> | null {
    const now = this.#monotonic();
    if (this.#began === null) this.#beginTurn(now);
    else if (this.#waiting.length > 0 || now - this.#began >= shareMs) {
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
    return null;
  }

  /** Resolves in a later turn, when all have gone on that waited before. */
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

/** Have requests begin as their turn comes. Register after the check of tokens. */
export function shareLoop(app: FastifyInstance, share = new LoopShare()): void {
  app.addHook('onRequest', async ({ holder }, { raw }) => {
    const turn = holder === null ? null : share.turn();
    if (turn === null) return;
    await turn;
    // Its answer would go nowhere, and what listens for its client's leaving would listen in vain.
    if (raw.destroyed) throw new DomainError('overloaded', 'the client has gone');
  });
}
