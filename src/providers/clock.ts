import { unlessAborted } from '../compute/unless-aborted.ts';
import { maxTimerMs } from '../domain/durations.ts';

export interface Clock {
  /** Monotonic, ms, for durations. */
  monotonic(): number;
  /** Wall clock, ms since the epoch. Only used to read a provider's dates. */
  wall(): number;
  /** Run once after `ms`; returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, maxTimerMs));
    return () => clearTimeout(timer);
  },
};

/** A time limit over several steps; the clock stops between them and during pauses. */
export class Deadline {
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #late: unknown;
  #remainingMs: number;
  #since = 0;
  #stopTimer = () => {};
  #stop = new AbortController();

  constructor(clock: Clock, ms: number, signal: AbortSignal | undefined, late: unknown) {
    this.#clock = clock;
    this.#remainingMs = ms;
    this.#signal = signal;
    this.#late = late;
  }

  /** Run one timed step. It is abandoned at the deadline, even if it continues. */
  async run<T>(step: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#signal?.throwIfAborted();
    const stop = new AbortController();
    this.#stop = stop;
    const leave = () => stop.abort(this.#signal?.reason);
    this.#signal?.addEventListener('abort', leave, { once: true });
    this.#count();
    try {
      return await unlessAborted(step(stop.signal), stop.signal);
    } catch (error) {
      stop.signal.throwIfAborted();
      throw error;
    } finally {
      this.#halt();
      this.#signal?.removeEventListener('abort', leave);
    }
  }

  /** Within a step: wait without using up time. */
  async pause<T>(wait: Promise<T>): Promise<T> {
    this.#halt();
    try {
      return await wait;
    } finally {
      if (!this.#stop.signal.aborted) this.#count();
    }
  }

  /** Within a step: add time, and throw `late` at its end. */
  extend(ms: number, late: unknown): void {
    this.#halt();
    this.#remainingMs += ms;
    this.#late = late;
    if (!this.#stop.signal.aborted) this.#count();
  }

  #count(): void {
    this.#since = this.#clock.monotonic();
    this.#stopTimer = this.#clock.after(Math.max(0, this.#remainingMs), () => this.#stop.abort(this.#late));
  }

  #halt(): void {
    this.#stopTimer();
    this.#remainingMs -= this.#clock.monotonic() - this.#since;
    this.#since = this.#clock.monotonic();
  }
}
