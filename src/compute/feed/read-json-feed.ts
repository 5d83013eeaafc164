/** JSON Feed 1.0 and 1.1 (jsonfeed.org). */
import { cutContent, type FeedItem, type FeedReading, itemUrl, maxEntries, oneLine } from './feed.ts';
import { feedDate } from './feed-date.ts';
import { escapeHtml } from './feed-html.ts';

export function readJsonFeed(text: string, address: string): FeedReading {
  const feed = parsed(text);
  if (feed === undefined) return { kind: 'none', reason: 'not a feed: JSON that cannot be parsed' };
  const entries = fieldOf(feed, 'items');
  if (!Array.isArray(entries)) return { kind: 'none', reason: 'not a feed: JSON without items' };
  const home = textOf(feed, 'home_page_url');
  const items = entries.slice(0, maxEntries).flatMap((entry: unknown) => readEntry(entry, [home, address]) ?? []);
  return { kind: 'feed', title: oneLine(textOf(feed, 'title') ?? ''), items };
}

function readEntry(entry: unknown, bases: readonly (string | null)[]): FeedItem | null {
  const id = textOf(entry, 'id');
  const link = textOf(entry, 'url') ?? textOf(entry, 'external_url') ?? (/^https?:\/\//i.test(id ?? '') ? id : null);
  const url = link === null ? null : itemUrl(link, bases);
  if (url === null) return null;
  const plain = textOf(entry, 'content_text') ?? textOf(entry, 'summary');
  const html = textOf(entry, 'content_html') ?? (plain === null ? null : escapeHtml(plain));
  return {
    url,
    title: oneLine(textOf(entry, 'title') ?? ''),
    published_at: feedDate(textOf(entry, 'date_published') ?? textOf(entry, 'date_modified') ?? ''),
    content: cutContent(html ?? ''),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // Its only error is that the text is no JSON.
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function textOf(value: unknown, name: string): string | null {
  const field = fieldOf(value, name);
  return typeof field === 'string' && field.trim() !== '' ? field : null;
}
