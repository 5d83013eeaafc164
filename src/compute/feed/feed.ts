/** The result of reading a feed of any format. */
import { maxUrlLength } from '../../domain/values.ts';

export interface FeedItem {
  /** Absolute, http or https. */
  url: string;
  /** Plain text, one line. */
  title: string | null;
  /** UTC, ISO 8601. */
  published_at: string | null;
  /** The longest HTML in the feed. */
  content: string | null;
}

export interface Feed<Item = FeedItem> {
  kind: 'feed';
  title: string | null;
  items: Item[];
  /** Number of entries without an address or recording. */
  leftOut: number;
}

/** An HTML page that announces feeds, best first, as absolute addresses. */
export interface FeedLinks {
  kind: 'links';
  urls: string[];
}

export type FeedReading<Item = FeedItem> = Feed<Item> | FeedLinks | { kind: 'none'; reason: string };

export const maxEntries = 5000;
const maxTitleLength = 1000;
export const maxContentLength = 100_000;

/** An absolute http or https address, or null. Uses the first valid base. */
export function itemUrl(link: string, bases: readonly (string | null)[]): string | null {
  const text = link.trim();
  if (text === '' || text.length > maxUrlLength) return null;
  const base = bases.find((each) => each !== null && each.length <= maxUrlLength && URL.canParse(each)) ?? undefined;
  if (!URL.canParse(text, base)) return null;
  const { protocol, href } = new URL(text, base);
  return (protocol === 'http:' || protocol === 'https:') && href.length <= maxUrlLength ? href.toWellFormed() : null;
}

/** One line without control characters, cut; null if empty. */
export function oneLine(text: string, maxLength = maxTitleLength): string | null {
  const line = text
    .slice(0, 4 * maxLength)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .trimEnd()
    .toWellFormed();
  return line === '' ? null : line;
}

export function cutContent(html: string): string | null {
  const content = html.slice(0, maxContentLength).trim().toWellFormed();
  return content === '' ? null : content;
}
