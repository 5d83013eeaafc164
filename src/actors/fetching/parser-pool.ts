/**
 * Threads that read what others have written, which may be made to take time or memory. Each kind of document has a pool of its own, so
 * that none waits for those of another kind. Here what goes wrong on such a thread becomes an error of the job; who opens a pool gives
 * the entry, the limits and the sentences.
 */
import { JobError } from '../../domain/errors.ts';
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
import { ranOutOfMemory, taskCode } from '../system/thread-faults.ts';

export interface ParserLimits {
  /** Processor time that a document may take, ms. */
  processorMs: number;
  /** The time that may pass meanwhile, the start of the thread included, ms: on a machine that is busy, or does not count. */
  timeoutMs: number;
}

export interface ParserPoolOptions extends Pick<ThreadPoolOptions, 'entry' | 'name' | 'nice'> {
  /** 1 without it: nobody waits for these documents. */
  threads?: number;
  /** Documents that may wait, of each owner. */
  maxQueue: number;
  maxHeapMb: number;
  limits: ParserLimits;
  /** A document for which only time has passed is read again: its size is bounded, so the machine was busy. Without it, it is refused for good. */
  retriesLate?: boolean;
  /** When one that found too many waiting comes again; without it as after any failure. */
  retryAfterMs?: number;
  /** Sentences for `last_error`; `tooLong` goes on with a number of seconds. */
  sentences: Record<'tooMany' | 'tooLong' | 'tooLarge', string>;
}

export interface SharedParserPool<Tasks> {
  /**
   * Errors: FetchError `unreadable` for a document that takes too much time or memory, or that the task refuses (`unreadable` in
   * thread-pool.ts); JobError where it may be read later; the signal's reason.
   */
  run: ThreadPool<Tasks>['run'];
}

export interface ParserPool<Tasks> extends SharedParserPool<Tasks>, Pick<ThreadPool<Tasks>, 'close'> {
  /** The same threads for an owner, as of ThreadPool. */
  of(owner: string): SharedParserPool<Tasks>;
}

export function openParserPool<Tasks>(options: ParserPoolOptions): ParserPool<Tasks> {
  const pool = openThreadPool<Tasks>({ threads: 1, idleMs: statelessIdleMs, nice: 10, ...options });
  const parsing = ({ run }: SharedPool<Tasks>): SharedParserPool<Tasks> => ({
    run: (name, argument, given = {}) =>
      run(name, argument, { ...options.limits, ...given }).catch((cause: unknown) => {
        given.signal?.throwIfAborted();
        throw asFailure(cause, options);
      }),
  });
  return { ...parsing(pool), of: (owner) => parsing(pool.of(owner)), close: () => pool.close() };
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
