/**
 * Limits of the time that a task takes in a thread: of the time that passes, and of the processor time. On a busy machine a thread waits
 * for most of the time that passes, so the clock says little about the work that was done. Linux counts what each thread has had;
 * elsewhere nothing is known, that limit never fires, and one of passing time has to end the task
 * (docs/decisions/processor-time-of-threads.md).
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** A thread as the kernel knows it, at one moment. */
export interface ThreadMark {
  tid: string;
  usedMs: number;
}

/** Time is not asked for more often than this, ms. */
const shortestMs = 10;

/** In a thread: what it is and has used so far; null where the kernel does not tell. */
export function markThread(): ThreadMark | null {
  const link = orUnknown(() => readlinkSync('/proc/thread-self'));
  const tid = link === null ? null : basename(link);
  const usedMs = tid === null ? null : readUsedMs(tid);
  return tid === null || usedMs === null ? null : { tid, usedMs };
}

/**
 * Processor time that a thread of this process has had, ms; null where that is not known. A kernel that does not count says 0.
 * Source: Linux, "Scheduler Statistics": the first number of a task's schedstat, ns.
 */
function readUsedMs(tid: string): number | null {
  const text = orUnknown(() => readFileSync(`/proc/self/task/${tid}/schedstat`, 'latin1'));
  const ns = Number.parseInt(text ?? '', 10);
  return ns > 0 ? ns / 1e6 : null;
}

/**
 * Null for a file that cannot be read: another system, one that hides it, a thread that has ended, no handle left. That is not
 * worth a word: passing time ends the task then.
 */
function orUnknown(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** One for a task. Unlike `AbortSignal.timeout` it lets go of the task when that is over, and with it of what the task was given. */
export abstract class TimeLimit {
  readonly limitMs: number;
  /** What of, as a sentence's end. */
  abstract readonly kind: '' | ' of processor time';
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
  }

  /** Fires when the time is used up. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The task is over. */
  end(): void {
    clearTimeout(this.#timer);
  }

  protected stop(): void {
    this.#stop.abort();
  }

  protected after(ms: number, next: () => void): void {
    this.#timer = setTimeout(next, ms).unref();
  }
}

/** Counts the time that passes. */
export class PassingLimit extends TimeLimit {
  readonly kind = '';

  /** The task's turn has come. */
  begin(): void {
    this.after(this.limitMs, () => this.stop());
  }
}

/** Counts the processor time of the thread. */
export class ProcessorLimit extends TimeLimit {
  readonly kind = ' of processor time';

  /** The task has begun on this thread. */
  begin({ tid, usedMs }: ThreadMark): void {
    this.#check(tid, usedMs + this.limitMs);
  }

  /** A thread takes no more processor time than time passes, so before as much has passed as is left there is nothing to ask. */
  #check(tid: string, endMs: number): void {
    const usedMs = readUsedMs(tid);
    if (usedMs === null) return;
    if (usedMs >= endMs) this.stop();
    else this.after(Math.max(endMs - usedMs, shortestMs), () => this.#check(tid, endMs));
  }
}
