/**
 * The lease of a library by this host's monotonic clock: it starts before the renewal is sent and is a tenth shorter.
 * PostgreSQL counts from the receipt, so this host stops first, unless its clock runs a tenth slower.
 */
import { LeaseEndedError } from '../domain/errors.ts';

const margin = 0.1;

export const usableMs = (leaseS: number): number => leaseS * 1000 * (1 - margin);

export class Lease {
  readonly now: () => number;
  /** Resolves with the reason when the lease ends. */
  readonly lost: Promise<LeaseEndedError>;
  readonly #ending = new AbortController();
  readonly #usableMs: number;
  #until: number;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;
  #tell!: (error: LeaseEndedError) => void;

  /** `sentAt`: when the claim was sent, in ms of `now`. */
  constructor({ leaseS, sentAt, now }: { leaseS: number; sentAt: number; now: () => number }) {
    this.now = now;
    this.#usableMs = usableMs(leaseS);
    this.#until = sentAt + this.#usableMs;
    this.lost = new Promise((resolve) => {
      this.#tell = resolve;
    });
    this.#watch();
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  get isHeld(): boolean {
    return !this.#isOver && this.now() < this.#until;
  }

  /** Call when the renewal sent at `sentAt` succeeded. An ended lease stays ended. */
  extend(sentAt: number): void {
    if (this.isHeld) this.#until = Math.max(this.#until, sentAt + this.#usableMs);
  }

  end(reason: LeaseEndedError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#tell(reason);
    this.#ending.abort(reason);
  }

  #watch(): void {
    const left = this.#until - this.now();
    if (left <= 0) this.end(new LeaseEndedError('the lease ended before it could be renewed'));
    else this.#timer = setTimeout(() => this.#watch(), left).unref();
  }
}
