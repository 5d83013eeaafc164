/**
 * A service's work beside its requests: steps that run one at a time, some at intervals, until the service stops. A step that fails is
 * logged and does not stop the others.
 */
import type { Logger } from 'pino';
import { maxTimerMs } from '../../domain/durations.ts';

/** Something that is done every so many ms, until it is stopped: injected, so that tests need no timer. */
export type Every = (ms: number, run: () => void) => () => void;

const everyMs: Every = (ms, run) => {
  const timer = setInterval(run, Math.min(ms, maxTimerMs));
  return () => clearInterval(timer);
};

export class Background {
  readonly #log: Logger;
  readonly #every: Every;
  readonly #stopTimers: (() => void)[] = [];
  #work: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();

  constructor(log: Logger, every: Every = everyMs) {
    this.#log = log;
    this.#every = every;
  }

  /** Long steps ask between two slices. */
  get isStopping(): boolean {
    return this.signal.aborted;
  }

  /** Aborted by `stop`, for waits within a step. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Do a step when those before it are done; `failure` is what the log says where it fails. */
  soon(failure: string, step: () => Promise<unknown>): void {
    this.#work = this.#work.then(async () => {
      if (this.isStopping) return;
      try {
        await step();
      } catch (error) {
        if (!this.isStopping) this.#log.warn({ err: error }, failure);
      }
    });
  }

  /** Do a step every so many ms. A tick is skipped while the one before still waits for its turn. */
  every(ms: number, failure: string, step: () => Promise<unknown>): void {
    let waits = false;
    const tick = () => {
      if (waits) return;
      waits = true;
      this.soon(failure, () => {
        waits = false;
        return step();
      });
    };
    this.#stopTimers.push(this.#every(ms, tick));
  }

  /** Slice after slice of a step, each from what the one before gave, until one gives null. Requests are answered in between; other steps wait. */
  async slices<From>(first: From, slice: (from: From) => Promise<From | null>): Promise<void> {
    for (let from: From | null = first; from !== null && !this.isStopping; await new Promise(setImmediate)) {
      from = await slice(from);
    }
  }

  /** Begin nothing more; resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const stopTimer of this.#stopTimers) stopTimer();
    await this.#work;
  }
}
