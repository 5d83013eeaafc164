/**
 * Time limits of thread tasks. Only Linux counts processor time per thread, which does not depend on other load.
 * Elsewhere, elapsed time must end the task (docs/decisions/processor-time-of-threads.md).
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

export interface ThreadMark {
  tid: string;
  usedMs: number;
}

const shortestMs = 10;

/** Call in a thread. Returns its id and processor time; null if unknown. */
export function markThread(): ThreadMark | null {
  const link = orUnknown(() => readlinkSync('/proc/thread-self'));
  const tid = link === null ? null : basename(link);
  const usedMs = tid === null ? null : readUsedMs(tid);
  return tid === null || usedMs === null ? null : { tid, usedMs };
}

/** Ms; null if unknown, 0 if not counted. Source: Linux, "Scheduler Statistics": first number of schedstat, ns. */
function readUsedMs(tid: string): number | null {
  const text = orUnknown(() => readFileSync(`/proc/self/task/${tid}/schedstat`, 'latin1'));
  const ns = Number.parseInt(text ?? '', 10);
  return ns > 0 ? ns / 1e6 : null;
}

/** Null for an unreadable file (another system, hidden, ended, no file handle): elapsed time then ends the task. */
function orUnknown(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** One per task. Unlike `AbortSignal.timeout`, it releases the task and its arguments at the end. */
export class TimeLimit {
  readonly limitMs: number;
  readonly kind: '' | ' of processor time';
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, kind: TimeLimit['kind']) {
    this.limitMs = limitMs;
    this.kind = kind;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Count elapsed time, or the processor time of a thread. */
  begin(thread?: ThreadMark): void {
    if (thread !== undefined) this.#check(thread.tid, thread.usedMs + this.limitMs);
    else this.#after(this.limitMs, () => this.#stop.abort());
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #after(ms: number, next: () => void): void {
    this.#timer = setTimeout(next, ms).unref();
  }

  /** Processor time never exceeds elapsed time, so this checks only after the remaining time has elapsed. */
  #check(tid: string, endMs: number): void {
    const usedMs = readUsedMs(tid);
    if (usedMs === null) return;
    if (usedMs >= endMs) this.#stop.abort();
    else this.#after(Math.max(endMs - usedMs, shortestMs), () => this.#check(tid, endMs));
  }
}
