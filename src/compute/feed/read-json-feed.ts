/** JSON Feed 1.0 and 1.1 (jsonfeed.org). */
import { ownField, parsedJson } from '../structures/json-fields.ts';
import { escapeHtml } from './entry-builder.ts';
import { type Bases, type Episode, EpisodeParts, tagOf } from './episode.ts';
import { cutContent, type FeedItem, type FeedReading, itemUrl, maxEntries, oneLine } from './feed.ts';
import { feedDate } from './feed-date.ts';

/** `build` returns null to skip an entry. */
export function readJsonFeed<Item>(
  text: string,
  address: string,
  build: (entry: unknown, bases: Bases, lang: string | null) => Item | null,
): FeedReading<Item> {
  const feed = parsedJson(text);
  if (feed === null) return { kind: 'none', reason: 'not a feed: JSON that cannot be parsed' };
  const entries = ownField(feed, 'items');
  if (!Array.isArray(entries)) return { kind: 'none', reason: 'not a feed: JSON without items' };
  const home = textOf(feed, 'home_page_url');
  const lang = tagOf(textOf(feed, 'language') ?? undefined);
  const read = entries.slice(0, maxEntries);
  const items = read.flatMap((entry: unknown) => build(entry, [home, address], lang) ?? []);
  return {
    kind: 'feed',
    title: oneLine(textOf(feed, 'title') ?? ''),
    items,
    leftOut: read.length - items.length,
  };
}

/** Null without an address: a link, an identifier that is a URL, or an attachment. */
export function jsonItem(entry: unknown, bases: Bases): FeedItem | null {
  const url = addressOf(entry, bases) ?? partsOf(entry).file(bases);
  return url === null ? null : { url, ...told(entry) };
}

/** Null without a recording. */
export function jsonEpisode(entry: unknown, bases: Bases, lang: string | null): Episode | null {
  const parts = partsOf(entry);
  const authors = ownField(entry, 'authors');
  parts.by(textOf(Array.isArray(authors) ? authors[0] : ownField(entry, 'author'), 'name') ?? '');
  const built = parts.build(bases);
  return built === null ? null : { ...built, ...told(entry), guid: guidOf(entry), lang, link: addressOf(entry, bases) };
}

function partsOf(entry: unknown): EpisodeParts {
  const parts = new EpisodeParts();
  const attachments = ownField(entry, 'attachments');
  for (const attachment of Array.isArray(attachments) ? attachments : []) {
    parts.enclosure(textOf(attachment, 'url') ?? undefined, textOf(attachment, 'mime_type') ?? undefined, null);
    const seconds = ownField(attachment, 'duration_in_seconds');
    if (typeof seconds === 'number') parts.duration(String(seconds));
  }
  return parts;
}

/** Some feeds use numbers. */
function guidOf(entry: unknown): string | null {
  const id = ownField(entry, 'id');
  return typeof id === 'number' ? String(id) : textOf(entry, 'id');
}

function addressOf(entry: unknown, bases: Bases): string | null {
  const id = textOf(entry, 'id');
  for (const link of [
    textOf(entry, 'url'),
    textOf(entry, 'external_url'),
    /^https?:\/\//i.test(id ?? '') ? id : null,
  ]) {
    const url = link === null ? null : itemUrl(link, bases);
    if (url !== null) return url;
  }
  return null;
}

function told(entry: unknown) {
  const plain = textOf(entry, 'content_text') ?? textOf(entry, 'summary');
  const html = textOf(entry, 'content_html') ?? (plain === null ? null : escapeHtml(plain));
  return {
    title: oneLine(textOf(entry, 'title') ?? ''),
    published_at: feedDate(textOf(entry, 'date_published') ?? textOf(entry, 'date_modified') ?? ''),
    content: cutContent(html ?? ''),
  };
}

function textOf(value: unknown, name: string): string | null {
  const field = ownField(value, name);
  return typeof field === 'string' && field.trim() !== '' ? field : null;
}
