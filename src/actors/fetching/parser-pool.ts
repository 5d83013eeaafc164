/** Threads that read untrusted documents, one pool per kind. A thread's failure becomes an error of the job. */
import type { FeedBytes } from '../../compute/feed/read-feed.ts';
import { errorCode, JobError } from '../../domain/errors.ts';
import { programFile } from '../../files/program-files.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import type { CaptionsFile } from '../../threads/media-thread.ts';
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
  /** Elapsed time including the start of the thread, ms: for a busy machine or one without processor accounting. */
  timeoutMs: number;
}

export interface ParserPoolOptions extends Pick<ThreadPoolOptions, 'entry' | 'name' | 'nice'> {
  /** Default 1: no user waits for these documents. */
  threads?: number;
  /** Waiting documents, per owner. */
  maxQueue: number;
  maxHeapMb: number;
  limits: ParserLimits;
  /** Retry a document that only exceeded elapsed time, as the machine was busy; otherwise refuse it permanently. */
  retriesLate?: boolean;
  /** Retry time when the queue is full; default as after any failure. */
  retryAfterMs?: number;
  /** Messages for `last_error`. A number of seconds is appended to `tooLong`. */
  sentences: Record<'tooMany' | 'tooLong' | 'tooLarge', string>;
}

/**
 * Errors of `run`: FetchError `unreadable` for a document over a limit or refused by the task (`unreadable` in
 * thread-pool.ts); JobError if a retry may work; the signal's reason.
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

export type MediaReader = ReturnType<typeof openMediaReader>;

/** 280,000 entries of a feed take 0.2 s, megabytes of captions 1 s. */
const mediaLimits = {
  feeds: { processorMs: 10_000, timeoutMs: 50_000 },
  videos: { processorMs: 60_000, timeoutMs: 300_000 },
};

/** Reads feeds and the output of yt-dlp. Errors: those of the pool. */
export function openMediaReader({ feeds, videos }: Record<'feeds' | 'videos', ParserLimits> = mediaLimits) {
  const pool = openParserPool<typeof import('../../threads/media-thread.ts')>({
    entry: programFile('threads/media-thread'),
    name: 'media',
    threads: 2, // so that a long document does not block others
    maxQueue: 128,
    maxHeapMb: 512, // `fetch.max_bytes` is 10 MB, and reading a feed takes some ten times its length
    limits: videos,
    retriesLate: true,
    retryAfterMs: 1000,
    sentences: {
      tooMany: 'too many feeds and captions are waiting to be read',
      tooLong: 'the file took longer than',
      tooLarge: 'the file takes too much memory to read',
    },
  });
  return {
    readItems: (feed: FeedBytes, signal: AbortSignal) => pool.run('readItems', feed, { signal, ...feeds }),
    /** Entries with a recording. */
    readEpisodes: (feed: FeedBytes, signal: AbortSignal) => pool.run('readEpisodes', feed, { signal, ...feeds }),
    /** Errors: also FetchError `program_failed` if the output is not a description. */
    async readInfo(bytes: Uint8Array, signal: AbortSignal) {
      const info = await pool.run('readInfo', { bytes }, { signal });
      if (info === null) throw new FetchError('program_failed', 'yt-dlp did not write the description of a video');
      return info;
    },
    /** Errors: also FetchError `unreadable` for captions without text. */
    async readCaptions(file: CaptionsFile, signal: AbortSignal) {
      const read = await pool.run('readCaptions', file, { signal });
      if (read.text === '') throw new FetchError('unreadable', 'the captions of the video cannot be read');
      return read;
    },
    close: () => pool.close(),
  };
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

export function ranOutOfMemory(error: unknown): boolean {
  return errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Errors lose their fields between threads, so the cause carries the code. */
function taskCode(error: unknown): unknown {
  return error instanceof Error ? errorCode(error.cause) : undefined;
}

/** Transfer list for bytes. Empty if they are part of a larger buffer. */
export function givenAway({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && byteLength === buffer.byteLength ? [buffer] : [];
}
