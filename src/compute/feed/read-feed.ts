/** Reads a feed of any format from bytes, on a thread: megabytes take a second. No fetching, no entity expansion. */
import { ownField, parsedJson } from '../structures/json-fields.ts';
import { decodeText } from '../text/decode-text.ts';
import { type EntryBuilder, escapeHtml } from './entry-builder.ts';
import { type Bases, type Episode, EpisodeParts, tagOf } from './episode.ts';
import { cutContent, type FeedItem, type FeedReading, itemUrl, maxEntries, oneLine } from './feed.ts';
import { feedDate } from './feed-date.ts';
import { readXmlFeed } from './read-xml-feed.ts';

export interface FeedBytes {
  bytes: Uint8Array;
  charset: string | null;
  url: string;
}

type Build<Entry, Item> = (entry: Entry, bases: Bases, lang: string | null) => Item | null;

const reader =
  <Item>(ofJson: Build<unknown, Item>, ofXml: Build<EntryBuilder, Item>) =>
  ({ bytes, charset, url }: FeedBytes): FeedReading<Item> => {
    const { text } = decodeText(bytes, charset, true);
    const first = /[^\s\uFEFF]/.exec(text)?.[0];
    if (first === undefined) return { kind: 'none', reason: 'not a feed: the answer is empty' };
    return first === '{' || first === '[' ? readJsonFeed(text, url, ofJson) : readXmlFeed(text, url, ofXml);
  };

export const readFeed = reader<FeedItem>(jsonItem, (entry, bases) => entry.build(bases));
export const readPodcast = reader<Episode>(jsonEpisode, (entry, bases, lang) => entry.buildEpisode(bases, lang));

/** JSON Feed 1.0 and 1.1 (jsonfeed.org). `build` returns null to skip an entry. */
function readJsonFeed<Item>(text: string, address: string, build: Build<unknown, Item>): FeedReading<Item> {
  const feed = parsedJson(text);
  if (feed === null) return { kind: 'none', reason: 'not a feed: JSON that cannot be parsed' };
  const entries = ownField(feed, 'items');
  if (!Array.isArray(entries)) return { kind: 'none', reason: 'not a feed: JSON without items' };
  const home = fieldOf(feed, 'home_page_url');
  const lang = tagOf(fieldOf(feed, 'language') ?? undefined);
  const read = entries.slice(0, maxEntries);
  const items = read.flatMap((entry: unknown) => build(entry, [home, address], lang) ?? []);
  return {
    kind: 'feed',
    title: oneLine(fieldOf(feed, 'title') ?? ''),
    items,
    leftOut: read.length - items.length,
  };
}

function jsonItem(entry: unknown, bases: Bases): FeedItem | null {
  const url = addressOf(entry, bases) ?? partsOf(entry).file(bases);
  return url === null ? null : { url, ...told(entry) };
}

function jsonEpisode(entry: unknown, bases: Bases, lang: string | null): Episode | null {
  const parts = partsOf(entry);
  const authors = ownField(entry, 'authors');
  parts.by(fieldOf(Array.isArray(authors) ? authors[0] : ownField(entry, 'author'), 'name') ?? '');
  const built = parts.build(bases);
  return built === null ? null : { ...built, ...told(entry), guid: guidOf(entry), lang, link: addressOf(entry, bases) };
}

function partsOf(entry: unknown): EpisodeParts {
  const parts = new EpisodeParts();
  const attachments = ownField(entry, 'attachments');
  for (const attachment of Array.isArray(attachments) ? attachments : []) {
    parts.enclosure(fieldOf(attachment, 'url') ?? undefined, fieldOf(attachment, 'mime_type') ?? undefined, null);
    const seconds = ownField(attachment, 'duration_in_seconds');
    if (typeof seconds === 'number') parts.duration(String(seconds));
  }
  return parts;
}

/** The guid of an entry. Some feeds use numbers. */
function guidOf(entry: unknown): string | null {
  const id = ownField(entry, 'id');
  return typeof id === 'number' ? String(id) : fieldOf(entry, 'id');
}

function addressOf(entry: unknown, bases: Bases): string | null {
  const id = fieldOf(entry, 'id');
  for (const link of [
    fieldOf(entry, 'url'),
    fieldOf(entry, 'external_url'),
    /^https?:\/\//i.test(id ?? '') ? id : null,
  ]) {
    const url = link === null ? null : itemUrl(link, bases);
    if (url !== null) return url;
  }
  return null;
}

function told(entry: unknown) {
  const plain = fieldOf(entry, 'content_text') ?? fieldOf(entry, 'summary');
  const html = fieldOf(entry, 'content_html') ?? (plain === null ? null : escapeHtml(plain));
  return {
    title: oneLine(fieldOf(entry, 'title') ?? ''),
    published_at: feedDate(fieldOf(entry, 'date_published') ?? fieldOf(entry, 'date_modified') ?? ''),
    content: cutContent(html ?? ''),
  };
}

function fieldOf(value: unknown, name: string): string | null {
  const field = ownField(value, name);
  return typeof field === 'string' && field.trim() !== '' ? field : null;
}
