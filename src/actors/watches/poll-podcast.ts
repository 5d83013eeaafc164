/**
 * The poller of kind `podcast`: a feed's entries with recordings. An episode's page is its recording, also if submitted separately; its
 * `guid` identifies it under changing addresses. Other facts go to the page's metadata.
 */
import type { Episode, ListedTranscript } from '../../compute/feed/episode.ts';
import type { FoundTranscription } from '../../domain/admin.ts';
import type { PageMetadata } from '../../domain/metadata.ts';
import { type PublishedTranscript, readConfig } from '../../domain/watch-config.ts';
import type { WebFetch } from '../../providers/web-fetch.ts';
import { type FeedReader, feedSource } from './poll-feed.ts';
import type { Poller, SourceItem } from './poll-watch.ts';

interface PodcastPollerDependencies {
  fetch: WebFetch;
  readEpisodes: FeedReader['readEpisodes'];
  /** Why podcasts cannot be watched, or null. */
  unavailable: string | null;
}

/** Why podcasts cannot be watched, or null. */
export function podcastsUnavailable(
  { fetch }: { fetch: { podcast_transcripts: boolean } },
  { kind, detail }: FoundTranscription,
): string | null {
  if (!fetch.podcast_transcripts) return 'fetch.podcast_transcripts is off';
  return kind === null ? detail : null;
}

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

/** A guid shared by several episodes identifies none. */
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
