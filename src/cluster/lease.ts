/**
 * How long this host may serve a library, by its monotonic clock: from before a renewal was sent, the lease's length less a tenth. PostgreSQL counts
 * from when it got it, so that the host always stops first, whatever both say the time is, as long as no clock runs a tenth faster than the other.
 */
import { LeaseEndedError } from '../domain/errors.ts';

/** Of the lease, that is left unused. */
const margin = 0.1;

/** Of a lease, by the host that has it. */
export const usableMs = (leaseS: number): number => leaseS * 1000 * (1 - margin);

export class Lease {
  readonly now: () => number;
  /** Resolves with the reason when the library may not be served any more. */
  readonly lost: Promise<LeaseEndedError>;
  readonly #ending = new AbortController();
  readonly #usableMs: number;
  #until: number;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;
  #tell!: (error: LeaseEndedError) => void;

  /** `sentAt`: when the claim was sent, by `now`, ms. */
  constructor({ leaseS, sentAt, now }: { leaseS: number; sentAt: number; now: () => number }) {
    this.now = now;
    this.#usableMs = usableMs(leaseS);
    this.#until = sentAt + this.#usableMs;
    this.lost = new Promise((resolve) => {
      this.#tell = resolve;
    });
    this.#watch();
  }

  /** Aborted with the same reason at the same moment. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  get isHeld(): boolean {
    return !this.#isOver && this.now() < this.#until;
  }

  /** It was renewed by what was sent at `sentAt`. Of one that has ended nothing is renewed. */
  extend(sentAt: number): void {
    if (this.isHeld) this.#until = Math.max(this.#until, sentAt + this.#usableMs);
  }

  /** Serve no more. */
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
