/**
 * Threads that read untrusted documents, which may take much time or memory. Each kind has its own pool and does not wait for others.
 * Thread faults become errors of the job; the caller gives entry, limits and messages.
 */

import { errorCode, JobError } from '../../domain/errors.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import {
  openThreadPool,
  QueueFullError,
  type SharedPool,
  statelessIdleMs,
  TaskTimeoutError,
  type ThreadPool,
  type ThreadPoolOptions,
} from '../../threads/thread-pool.ts';

export interface ParserLimits {
  /** Processor time per document, ms. */
  processorMs: number;
  /** Elapsed time, with the thread's start, ms: for a busy machine or one without processor accounting. */
  timeoutMs: number;
}

export interface ParserPoolOptions extends Pick<ThreadPoolOptions, 'entry' | 'name' | 'nice'> {
  /** Default 1: no user waits for these documents. */
  threads?: number;
  /** Waiting documents, per owner. */
  maxQueue: number;
  maxHeapMb: number;
  limits: ParserLimits;
  /** Retry a document that only exceeded elapsed time (its size is bounded, so the machine was busy); else refuse it permanently. */
  retriesLate?: boolean;
  /** Retry time when the queue is full; default as after any failure. */
  retryAfterMs?: number;
  /** Messages for `last_error`; `tooLong` is followed by a number of seconds. */
  sentences: Record<'tooMany' | 'tooLong' | 'tooLarge', string>;
}

/**
 * Errors of `run`: FetchError `unreadable` for a document over a limit or refused by the task (`unreadable` in thread-pool.ts); JobError
 * if it may be read later; the signal's reason.
 */
export type SharedParserPool<Tasks> = Pick<ThreadPool<Tasks>, 'run'>;

export function openParserPool<Tasks>(options: ParserPoolOptions) {
  const pool = openThreadPool<Tasks>({ threads: 1, idleMs: statelessIdleMs, nice: 10, ...options });
  const parsing = ({ run }: SharedPool<Tasks>): SharedParserPool<Tasks> => ({
    run: (name, argument, given = {}) =>
      run(name, argument, { ...options.limits, ...given }).catch((cause: unknown) => {
        given.signal?.throwIfAborted();
        throw asFailure(cause, options);
      }),
  });
  return { ...parsing(pool), of: (owner: string) => parsing(pool.of(owner)), close: () => pool.close() };
}

function asFailure(cause: unknown, { sentences, retriesLate = false, retryAfterMs }: ParserPoolOptions): unknown {
  const unreadable = (message: string) => new FetchError('unreadable', message, { cause });
  if (cause instanceof QueueFullError) {
    return new JobError(sentences.tooMany, { ...(retryAfterMs === undefined ? {} : { retryAfterMs }), cause });
  }
  if (cause instanceof TaskTimeoutError) {
    const message = `${sentences.tooLong} ${cause.limitMs / 1000} s to read`;
    return retriesLate && !cause.ofProcessor ? new JobError(message, { cause }) : unreadable(message);
  }
  if (ranOutOfMemory(cause)) return unreadable(sentences.tooLarge);
  return cause instanceof Error && taskCode(cause) === 'unreadable' ? unreadable(cause.message) : cause;
}

/** Whether the document exceeded its thread's memory. */
export function ranOutOfMemory(error: unknown): boolean {
  return errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Errors lose their fields between threads, so the code is in the cause. */
function taskCode(error: unknown): unknown {
  return error instanceof Error ? errorCode(error.cause) : undefined;
}

/** Transfer list for bytes: empty if they are part of a larger buffer. */
export function givenAway({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && byteLength === buffer.byteLength ? [buffer] : [];
}
