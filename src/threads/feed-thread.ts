/** Tasks of the feed pool, with time and heap limits. */
import type { Episode } from '../compute/feed/episode.ts';
import type { FeedReading } from '../compute/feed/feed.ts';
import { type FeedBytes, readFeed, readPodcast } from '../compute/feed/read-feed.ts';
import { beginTask, type Limited } from './thread-pool.ts';

export function read(feed: FeedBytes & Limited): FeedReading {
  beginTask(feed);
  return readFeed(feed);
}

export function readEpisodes(feed: FeedBytes & Limited): FeedReading<Episode> {
  beginTask(feed);
  return readPodcast(feed);
}
