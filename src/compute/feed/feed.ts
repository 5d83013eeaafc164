/** What a feed comes to, whatever its format. */
import { maxUrlLength } from '../../domain/texts.ts';

export interface FeedItem {
  /** Absolute, http or https. */
  url: string;
  /** Plain text, one line. */
  title: string | null;
  /** UTC, ISO 8601. */
  published_at: string | null;
  /** HTML: the longest that the feed gives. */
  content: string | null;
}

export interface Feed<Item = FeedItem> {
  kind: 'feed';
  title: string | null;
  /** In the feed's order; entries without an address are left out. */
  items: Item[];
}

/** An HTML page that announces feeds, the likeliest first; absolute addresses. */
export interface FeedLinks {
  kind: 'links';
  urls: string[];
}

export type FeedReading<Item = FeedItem> = Feed<Item> | FeedLinks | { kind: 'none'; reason: string };

/** Entries read of one feed; what comes after them is not looked at. */
export const maxEntries = 5000;
/** Longest title and content kept of an entry, in characters. */
const maxTitleLength = 1000;
export const maxContentLength = 100_000;

/** An absolute http or https address without fragment rules of its own, or null. Takes the first base that is one. */
export function itemUrl(link: string, bases: readonly (string | null)[]): string | null {
  const text = link.trim();
  if (text === '' || text.length > maxUrlLength) return null;
  const base = bases.find((each) => each !== null && each.length <= maxUrlLength && URL.canParse(each)) ?? undefined;
  if (!URL.canParse(text, base)) return null;
  const { protocol, href } = new URL(text, base);
  return (protocol === 'http:' || protocol === 'https:') && href.length <= maxUrlLength ? href.toWellFormed() : null;
}

/** Text in one line, cut; null for none. */
export function oneLine(text: string): string | null {
  const line = text
    .slice(0, 4 * maxTitleLength)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxTitleLength)
    .toWellFormed();
  return line === '' ? null : line;
}

export function cutContent(html: string): string | null {
  const content = html.slice(0, maxContentLength).trim().toWellFormed();
  return content === '' ? null : content;
}
