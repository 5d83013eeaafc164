/** Reads feeds on a thread of their own, with the ways in which that fails as errors of the poll. */
import type { Episode } from '../../compute/feed/episode.ts';
import type { FeedReading } from '../../compute/feed/feed.ts';
import type { FeedBytes } from '../../compute/feed/read-feed.ts';
import { JobError } from '../../domain/errors.ts';
import { programFile } from '../../files/program-files.ts';
import { openThreadPool, QueueFullError, TaskTimeoutError } from '../../threads/thread-pool.ts';
import { ranOutOfMemory } from '../system/thread-faults.ts';

/** Processor time that a feed may take, ms: 280,000 entries take a fifth of a second. */
const processorMs = 10_000;
/** …and the time that may pass meanwhile, the start of the thread included: on a machine that is busy, or does not count. */
const timeoutMs = 5 * processorMs;
/** `fetch.max_bytes` is 10 MB; a feed takes some ten times its length while it is read. */
const maxHeapMb = 512;
const maxQueue = 64;

export interface FeedReader {
  /** Errors: JobError. */
  read(feed: FeedBytes, signal: AbortSignal): Promise<FeedReading>;
  /** The entries that have a recording. Errors: as of `read`. */
  readEpisodes(feed: FeedBytes, signal: AbortSignal): Promise<FeedReading<Episode>>;
  close(): Promise<void>;
}

export function openFeedReader(limits = { processorMs, timeoutMs }): FeedReader {
  const pool = openThreadPool<typeof import('../../threads/feed-thread.ts')>({
    entry: programFile('threads/feed-thread'),
    name: 'feeds',
    threads: 1,
    lazy: true,
    maxQueue,
    maxHeapMb,
    nice: 10,
  });
  const failed = (error: unknown) => {
    throw asJobError(error);
  };
  return {
    read: (feed, signal) => pool.run('read', feed, { signal, ...limits }).catch(failed),
    readEpisodes: (feed, signal) => pool.run('readEpisodes', feed, { signal, ...limits }).catch(failed),
    close: () => pool.close(),
  };
}

function asJobError(error: unknown): unknown {
  if (error instanceof QueueFullError) return new JobError('too many feeds are waiting to be read', { cause: error });
  if (error instanceof TaskTimeoutError) {
    // Where it is time that passed, the machine was busy.
    const permanent = error.ofProcessor;
    return new JobError(`the feed takes longer than ${error.limitMs / 1000} s to read`, { permanent, cause: error });
  }
  if (ranOutOfMemory(error)) {
    return new JobError('the feed takes too much memory to read', { permanent: true, cause: error });
  }
  return error;
}
