/** The poller of kind `video`: reads lists by yt-dlp. Reads the tabs of a channel until there are enough videos. */
import type { VideoEntry } from '../../compute/transcript/video-info.ts';
import { readConfig } from '../../domain/watch-config.ts';
import type { VideoReader } from '../fetching/read-video.ts';
import type { Poller, SourceItem } from './poll-watch.ts';

export interface VideoPollerDependencies {
  videos: Pick<VideoReader, 'list' | 'unavailable'>;
  maxEntries: number;
}

const maxLists = 3;

export function videoPoller({ videos, maxEntries }: VideoPollerDependencies): Poller {
  return {
    policyOf: (config) => {
      const reason = videos.unavailable();
      if (reason !== null) return { invalid: reason };
      const read = readConfig('video', config);
      if ('invalid' in read) return read;
      const langs = read.caption_langs === undefined ? {} : { caption_langs: read.caption_langs.join(',') };
      return { source: read.source, maxItems: null, metadata: { watch_kind: 'video', ...langs } };
    },
    poll: async (watch, signal) => {
      const config = readConfig('video', watch.config);
      const wanted = 'invalid' in config ? {} : { most: config.max_entries, from: config.entries_from };
      const { most = maxEntries, from = 'start' } = wanted;
      const max = Math.min(most, maxEntries);
      const { title, entries } = await videos.list(watch.url, { max, from }, signal);
      const found = entries.filter(({ isList }) => !isList);
      for (const { url } of entries.filter(({ isList }) => isList).slice(0, maxLists)) {
        if (found.length >= max) break;
        const inner = await videos.list(url, { max: max - found.length, from }, signal);
        found.push(...inner.entries.filter(({ isList }) => !isList));
      }
      return { items: found.slice(0, max).map(itemOf), title, url: watch.url, validators: null, feed_url: null };
    },
  };
}

function itemOf({ url, title, published_at }: VideoEntry): SourceItem {
  return { url, title, published_at, content: null };
}
