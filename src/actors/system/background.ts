/** Background work of a service: one step at a time, some at intervals, until it stops. Failures are only logged. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { maxTimerMs } from '../../domain/durations.ts';

/** An injectable setInterval; returns the function that stops it. */
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

  get isStopping(): boolean {
    return this.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Queue a step; `failure` is its log message. */
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

  /** Skips a tick while the last one still waits. */
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

  /** Runs slices until one returns null; each gets the last one's result. Requests run in between; steps wait. */
  async slices<From>(first: From, slice: (from: From) => Promise<From | null>): Promise<void> {
    for (let from: From | null = first; from !== null && !this.isStopping; await new Promise(setImmediate)) {
      from = await slice(from);
    }
  }

  /** Now and every `ms`: deletes in slices, from 0 on, everything before `oldBefore` (null: nothing). */
  purge(
    ms: number,
    failure: string,
    oldBefore: () => Promise<number | null>,
    slice: (from: number, before: number) => Promise<number | null>,
  ): void {
    const step = async () => {
      const before = await oldBefore();
      if (before !== null) await this.slices(0, (from: number) => slice(from, before));
    };
    this.soon(failure, step);
    this.every(ms, failure, step);
  }

  /** Resolves when running work has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const stopTimer of this.#stopTimers) stopTimer();
    await this.#work;
  }
}

/** Repeats failing work until it succeeds or the service ends. Errors: none; each failure goes to `onFailure`. */
export async function untilDone(
  work: () => Promise<unknown>,
  { ending, retryMs, onFailure }: { ending: AbortSignal; retryMs: number; onFailure: (error: unknown) => void },
): Promise<void> {
  while (!ending.aborted) {
    try {
      await work();
      return;
    } catch (error) {
      if (ending.aborted) return;
      onFailure(error);
      await delay(retryMs, undefined, { signal: ending }).catch(() => {});
    }
  }
}

export const progressMs = 3000;

/** Calls `tell` every 3 s during the work. Errors: those of the work. */
export async function withProgress<Result>(tell: () => void, work: () => Promise<Result>): Promise<Result> {
  const telling = setInterval(tell, progressMs);
  try {
    return await work();
  } finally {
    clearInterval(telling);
  }
}

/** Lets waiting requests run first. Errors: the signal's reason. */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await new Promise(setImmediate);
  signal?.throwIfAborted();
}

/**
 * The parts of a long list, until one is empty. Each is read after the last key of the one before, the first `after`.
 * Requests are answered in between. Errors: the signal's reason.
 */
export async function* inParts<Item, Key = number>(
  read: (after: Key) => Item[],
  keyOf: (item: Item) => Key,
  { after = 0 as Key, signal }: { after?: Key; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Item[]> {
  for (let part = read(after); part.length > 0; part = read(keyOf(part[part.length - 1]))) {
    yield part;
    await nextTurn(signal);
  }
}
