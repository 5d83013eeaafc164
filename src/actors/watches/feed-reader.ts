/** Reads feeds on a thread; failures become errors of the poll. */
import type { Episode } from '../../compute/feed/episode.ts';
import type { FeedReading } from '../../compute/feed/feed.ts';
import type { FeedBytes } from '../../compute/feed/read-feed.ts';
import { programFile } from '../../files/program-files.ts';
import { openParserPool, type ParserLimits } from '../fetching/parser-pool.ts';

export interface FeedReader {
  /** Errors: those of ParserPool. */
  read(feed: FeedBytes, signal: AbortSignal): Promise<FeedReading>;
  /** Entries with a recording. Errors: as of `read`. */
  readEpisodes(feed: FeedBytes, signal: AbortSignal): Promise<FeedReading<Episode>>;
  close(): Promise<void>;
}

/** 280,000 entries take a fifth of a second. */
const defaultLimits: ParserLimits = { processorMs: 10_000, timeoutMs: 50_000 };

export function openFeedReader(limits = defaultLimits): FeedReader {
  const pool = openParserPool<typeof import('../../threads/feed-thread.ts')>({
    entry: programFile('threads/feed-thread'),
    name: 'feeds',
    maxQueue: 64,
    maxHeapMb: 512, // `fetch.max_bytes` is 10 MB; a feed takes some ten times its length while it is read
    limits,
    retriesLate: true,
    sentences: {
      tooMany: 'too many feeds are waiting to be read',
      tooLong: 'the feed takes longer than',
      tooLarge: 'the feed takes too much memory to read',
    },
  });
  return {
    read: (feed, signal) => pool.run('read', feed, { signal }),
    readEpisodes: (feed, signal) => pool.run('readEpisodes', feed, { signal }),
    close: () => pool.close(),
  };
}
