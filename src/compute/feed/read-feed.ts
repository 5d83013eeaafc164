/** Reads a feed of any format from its bytes. Called on a thread: a feed of megabytes takes a second. Loads nothing, expands nothing. */
import { decodeFeed } from './decode-feed.ts';
import type { FeedReading } from './feed.ts';
import { readJsonFeed } from './read-json-feed.ts';
import { readXmlFeed } from './read-xml-feed.ts';

export interface FeedBytes {
  bytes: Uint8Array;
  /** `Content-Type` of the answer. */
  contentType: string | null;
  /** Where it came from: relative addresses are meant from there. */
  url: string;
}

export function readFeed({ bytes, contentType, url }: FeedBytes): FeedReading {
  const text = decodeFeed(bytes, contentType);
  const first = /[^\s\uFEFF]/.exec(text)?.[0];
  if (first === undefined) return { kind: 'none', reason: 'not a feed: the answer is empty' };
  return first === '{' || first === '[' ? readJsonFeed(text, url) : readXmlFeed(text, url);
}
