/** A time limit over several steps, which stands still between them and while something else is waited for. */
import type { Clock } from './clock.ts';

export class Deadline {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #late: unknown;
  #remainingMs: number;
  #since = 0;
  #stopTimer = () => {};
  /** Of the step that runs. */
  #stop = new AbortController();

  /** `late` is thrown when the time is up; the signal's reason when that fires first. */
  constructor(clock: Clock, ms: number, signal: AbortSignal, late: unknown) {
    this.#clock = clock;
    this.#remainingMs = ms;
    this.#signal = signal;
    this.#late = late;
  }

  /** Run a step that counts, one at a time; it is left when the time is up, whether or not it stops. */
  async run<T>(step: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted();
    const stop = new AbortController();
    this.#stop = stop;
    const leave = () => stop.abort(this.#signal.reason);
    this.#signal.addEventListener('abort', leave, { once: true });
    this.#count();
    try {
      return await orAborted(step(stop.signal), stop.signal);
    } catch (error) {
      stop.signal.throwIfAborted();
      throw error;
    } finally {
      this.#halt();
      this.#signal.removeEventListener('abort', leave);
    }
  }

  /** Within a step: wait for something that does not count. */
  async pause<T>(wait: Promise<T>): Promise<T> {
    this.#halt();
    try {
      return await wait;
    } finally {
      if (!this.#stop.signal.aborted) this.#count();
    }
  }

  /** Within a step: there is so much more time, and `late` is thrown when it is up. */
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

/** The promise, or the signal's reason, whichever is first: a lookup cannot be stopped. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
