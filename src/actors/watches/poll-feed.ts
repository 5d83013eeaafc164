/** The poller of kind `rss`, for any feed format: reads a changed feed, or the feed that an HTML page announces. */
import type { Episode, ListedTranscript } from '../../compute/feed/episode.ts';
import type { FeedItem, FeedReading } from '../../compute/feed/feed.ts';
import type { FeedBytes } from '../../compute/feed/read-feed.ts';
import type { FoundTranscription } from '../../domain/admin.ts';
import { JobError } from '../../domain/errors.ts';
import type { PageMetadata } from '../../domain/metadata.ts';
import type { Validators, WatchedSource } from '../../domain/watch.ts';
import { type PublishedTranscript, readConfig } from '../../domain/watch-config.ts';
import { statusError, type WebAnswer, type WebFetch } from '../../providers/web-fetch.ts';
import { contentTypeOf } from '../fetching/content-readers.ts';
import type { MediaReader } from '../fetching/parser-pool.ts';
import type { Poller, SourceItem, SourceReading } from './poll-watch.ts';

const accept =
  'application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, text/html;q=0.5, */*;q=0.1';
const maxAnnounced = 3;
const notModified = 304;

type Polled<Item> = SourceReading<Item> | { announced: readonly string[] };

interface FeedSourceDependencies<Item> {
  fetch: WebFetch;
  /** Errors: JobError. */
  read: (feed: FeedBytes, signal: AbortSignal) => Promise<FeedReading<Item>>;
}

function feedSource<Item>({ fetch, read }: FeedSourceDependencies<Item>) {
  const ask = async (url: string, validators: Validators | null, signal: AbortSignal): Promise<WebAnswer> => {
    const headers = {
      accept,
      ...(validators?.etag == null ? {} : { 'if-none-match': validators.etag }),
      ...(validators?.last_modified == null ? {} : { 'if-modified-since': validators.last_modified }),
    };
    const answer = await fetch(url, { signal, headers });
    // A 304 from another address does not refer to the validators of this one.
    const isForeign = answer.status === notModified && answer.finalUrl !== validators?.url;
    return isForeign && validators !== null ? ask(url, null, signal) : answer;
  };

  const pollAt = async (url: string, { validators }: WatchedSource, signal: AbortSignal): Promise<Polled<Item>> => {
    const answer = await ask(url, validators, signal);
    const { status, finalUrl, headers, body } = answer;
    const refusal = statusError(answer);
    if (refusal !== null) throw refusal;
    const whence = { url: finalUrl, feed_url: null };
    if (status === notModified) return { items: null, title: null, validators, ...whence };
    const { charset } = contentTypeOf(headers['content-type']);
    const feed = await read({ bytes: body, charset, url: finalUrl }, signal);
    if (feed.kind === 'none') throw new JobError(feed.reason, { permanent: true });
    if (feed.kind === 'links') return { announced: feed.urls };
    const { items, title, leftOut } = feed;
    return { items, title, leftOut, validators: validatorsOf(answer), ...whence };
  };

  const pollAnnounced = async (
    feed_url: string,
    watch: WatchedSource,
    signal: AbortSignal,
  ): Promise<SourceReading<Item>> => {
    const polled = await pollAt(feed_url, watch, signal);
    if ('announced' in polled) throw new JobError('not a feed: the announced address is a page', { permanent: true });
    return { ...polled, feed_url };
  };

  const firstOf = async (
    urls: readonly string[],
    watch: WatchedSource,
    signal: AbortSignal,
  ): Promise<SourceReading<Item>> => {
    let failure: unknown;
    for (const url of urls.slice(0, maxAnnounced)) {
      try {
        return await pollAnnounced(url, watch, signal);
      } catch (error) {
        if (!isPermanent(error)) throw error;
        failure ??= error;
      }
    }
    throw failure;
  };

  return async (watch: WatchedSource, signal: AbortSignal): Promise<SourceReading<Item>> => {
    if (watch.feed_url !== null) {
      try {
        return await pollAnnounced(watch.feed_url, watch, signal);
      } catch (error) {
        if (!isPermanent(error)) throw error; // otherwise the page may announce another feed by now
      }
    }
    const polled = await pollAt(watch.url, watch, signal);
    return 'announced' in polled ? firstOf(polled.announced, watch, signal) : polled;
  };
}

export function feedPoller(dependencies: FeedSourceDependencies<FeedItem>): Poller {
  const readSource = feedSource(dependencies);
  return {
    policyOf: (config) => {
      const read = readConfig('rss', config);
      return 'invalid' in read ? read : { source: read.source, maxItems: read.max_items ?? null };
    },
    poll: async (watch, signal) => {
      const reading = await readSource(watch, signal);
      const config = readConfig('rss', watch.config);
      const keepsContent = 'invalid' in config || config.feed_content === 'fallback';
      return keepsContent ? reading : withoutContent(reading);
    },
  };
}

function withoutContent({ items, ...reading }: SourceReading): SourceReading {
  return { ...reading, items: items?.map((item) => ({ ...item, content: null })) ?? null };
}

function isPermanent(error: unknown): boolean {
  return error instanceof JobError && error.permanent;
}

const maxValidatorLength = 1000;

function validatorsOf({ finalUrl, headers }: WebAnswer): Validators | null {
  const kept = (value: string | undefined) => (value === undefined || value.length > maxValidatorLength ? null : value);
  const etag = kept(headers.etag);
  const last_modified = kept(headers['last-modified']);
  return etag === null && last_modified === null ? null : { url: finalUrl, etag, last_modified };
}

interface PodcastPollerDependencies {
  fetch: WebFetch;
  readEpisodes: MediaReader['readEpisodes'];
  /** Why podcasts cannot be watched, or null. */
  unavailable: string | null;
}

export function podcastsUnavailable(
  { fetch }: { fetch: { podcast_transcripts: boolean } },
  { kind, detail }: FoundTranscription,
): string | null {
  if (!fetch.podcast_transcripts) return 'fetch.podcast_transcripts is off';
  return kind === null ? detail : null;
}

/** The poller of kind `podcast`: entries with recordings. A page of an episode is its recording, known by `guid`. */
export function podcastPoller({ fetch, readEpisodes, unavailable }: PodcastPollerDependencies): Poller {
  const readSource = feedSource({ fetch, read: readEpisodes });
  return {
    policyOf: (config) => {
      if (unavailable !== null) return { invalid: `podcasts cannot be watched: ${unavailable}` };
      const read = readConfig('podcast', config);
      if ('invalid' in read) return read;
      return { source: read.source, maxItems: read.max_items ?? null, metadata: { watch_kind: 'podcast' } };
    },
    poll: async (watch, signal) => {
      const { items, ...reading } = await readSource(watch, signal);
      const config = readConfig('podcast', watch.config);
      const wishes = {
        withTranscripts: 'invalid' in config || config.transcripts === 'published_first',
        withContent: !('invalid' in config) && config.feed_content === 'fallback',
      };
      const named = items === null ? null : withOwnGuids(items);
      // Entries without a recording are dropped.
      return { ...reading, items: named?.map((episode) => itemOf(episode, wishes)) ?? null, leftOut: 0 };
    },
  };
}

/** Removes guids that several episodes share, because they identify none. */
function withOwnGuids(episodes: readonly Episode[]): Episode[] {
  const counts = new Map<string | null, number>();
  for (const { guid } of episodes) counts.set(guid, (counts.get(guid) ?? 0) + 1);
  return episodes.map((episode) => (counts.get(episode.guid) === 1 ? episode : { ...episode, guid: null }));
}

interface Wishes {
  withTranscripts: boolean;
  withContent: boolean;
}

function itemOf(episode: Episode, { withTranscripts, withContent }: Wishes): SourceItem {
  const { url, title, guid, published_at, content, link, author, duration_s, lang, chapters_url } = episode;
  const transcripts = withTranscripts ? spokenIn(lang, episode.transcripts) : [];
  const known: PageMetadata = { episode_url: link, author, duration_s, lang, chapters_url };
  const metadata = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
  return {
    url,
    title,
    guid,
    published_at,
    content: withContent ? content : null,
    metadata: transcripts.length === 0 ? metadata : { ...metadata, transcripts },
  };
}

/** Excludes translations. */
function spokenIn(lang: string | null, transcripts: readonly ListedTranscript[]): PublishedTranscript[] {
  return transcripts
    .filter((each) => lang === null || each.lang === null || primary(each.lang) === primary(lang))
    .map(({ url, type }) => ({ url, type }));
}

function primary(tag: string): string {
  return tag.split('-', 1)[0].toLowerCase();
}
