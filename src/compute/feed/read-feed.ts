/** Reads a feed of any format from bytes, on a thread: megabytes take a second. Loads and expands nothing. */
import { decodeText } from '../text/decode-text.ts';
import type { Episode } from './episode.ts';
import type { FeedReading } from './feed.ts';
import { jsonEpisode, jsonItem, readJsonFeed } from './read-json-feed.ts';
import { readXmlFeed } from './read-xml-feed.ts';

export interface FeedBytes {
  bytes: Uint8Array;
  /** From the header. */
  charset: string | null;
  /** Base of relative addresses. */
  url: string;
}

export function readFeed(feed: FeedBytes): FeedReading {
  const text = textOf(feed);
  if (text === null) return empty;
  if (isJson(text)) return readJsonFeed(text, feed.url, jsonItem);
  return readXmlFeed(text, feed.url, (entry, bases) => entry.build(bases));
}

export function readPodcast(feed: FeedBytes): FeedReading<Episode> {
  const text = textOf(feed);
  if (text === null) return empty;
  if (isJson(text)) return readJsonFeed(text, feed.url, jsonEpisode);
  return readXmlFeed(text, feed.url, (entry, bases, lang) => entry.buildEpisode(bases, lang));
}

const empty = { kind: 'none', reason: 'not a feed: the answer is empty' } as const;

/** Null for white space only. */
function textOf({ bytes, charset }: FeedBytes): string | null {
  const { text } = decodeText(bytes, charset, true);
  return /[^\s\uFEFF]/.test(text) ? text : null;
}

function isJson(text: string): boolean {
  const first = /[^\s\uFEFF]/.exec(text)?.[0];
  return first === '{' || first === '[';
}
