import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeHTML } from 'entities';
import { decodeText } from '../compute/text/decode-text.ts';
import { errorCode } from '../domain/error-code.ts';
import type { ImportItem } from '../domain/import.ts';
import { fromDateText, fromUnix, highlightOf, ImportError, itemOf, listOf, textOf } from './item-parts.ts';

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
export const elementsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

export async function* readEntries(
  entries: AsyncIterable<unknown>,
  itemOfEntry: (entry: Fields) => ImportItem,
): AsyncGenerator<ImportItem> {
  for await (const entry of entries) yield itemOfEntry(fieldsOf(entry));
}

/** `contentDir`: the export's folder `content` with `SLUG.html` per saved page. Slugs other than plain names are ignored. */
export async function* readOmnivore(
  entries: AsyncIterable<unknown>,
  contentDir: string | null,
): AsyncGenerator<ImportItem> {
  for await (const entry of entries) {
    const page = fieldsOf(entry);
    yield itemOf({
      url: page.url,
      title: page.title,
      at: fromDateText(page.savedAt),
      tags: listOf(page.labels),
      status: page.state,
      author: page.author,
      description: page.description,
      published_at: page.publishedAt,
      body_html: contentDir === null ? null : await savedContent(contentDir, page.slug),
    });
  }
}

async function savedContent(dir: string, slug: unknown): Promise<string | null> {
  if (typeof slug !== 'string' || !/^[\p{L}\p{N}_-][\p{L}\p{N}_.-]*$/u.test(slug)) return null;
  try {
    return textOf(decodeText(await readFile(join(dir, `${slug}.html`)), null, true).text);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENAMETOOLONG') return null;
    throw error;
  }
}

type Folders = ReadonlyMap<unknown, { name: string | null; parent: unknown }>;

async function foldersIn(entries: AsyncIterable<unknown>, isFolder: (entry: Fields) => boolean): Promise<Folders> {
  const folders = new Map<unknown, { name: string | null; parent: unknown }>();
  try {
    for await (const entry of entries) {
      const { id, name, parentId, ...rest } = fieldsOf(entry);
      if (isFolder(rest)) folders.set(id, { name: textOf(name), parent: parentId });
    }
  } catch (error) {
    // Entries before the fault are read; the second reading reports it.
    if (!(error instanceof ImportError)) throw error;
  }
  return folders;
}

const maxFolders = 32;

/** A folder's path with slashes; cycles end. */
function pathOf(folders: Folders, id: unknown): string {
  const names: string[] = [];
  const seen = new Set<unknown>();
  for (let at = id; folders.has(at) && !seen.has(at) && seen.size < maxFolders; at = folders.get(at)?.parent) {
    seen.add(at);
    const name = folders.get(at)?.name ?? null;
    if (name !== null) names.unshift(name);
  }
  return names.join('/');
}

/** Bookmarks and their lists, which come later: `again` repeats the entries. */
export async function* readKarakeep(
  entries: AsyncIterable<unknown>,
  again: AsyncIterable<unknown>,
): AsyncGenerator<ImportItem> {
  const isList = ({ content, createdAt }: Fields) => content === undefined && createdAt === undefined;
  const lists = await foldersIn(again, isList);
  for await (const entry of entries) {
    const bookmark = fieldsOf(entry);
    if (isList(bookmark)) continue;
    const item = karakeepItem(bookmark);
    const paths = (Array.isArray(bookmark.lists) ? bookmark.lists : []).map((id) => pathOf(lists, id));
    const folder = paths.filter((path) => path !== '').join(', ');
    yield folder === '' ? item : { ...item, metadata: { ...item.metadata, folder } };
  }
}

/** Links, with saved HTML if present; notes and files have no address. */
function karakeepItem(bookmark: Fields): ImportItem {
  const content = fieldsOf(bookmark.content);
  const tags = Array.isArray(bookmark.tags)
    ? bookmark.tags.map((tag) => (typeof tag === 'string' ? tag : fieldsOf(tag).name))
    : [];
  const url = content.type === 'text' || content.type === 'asset' ? content.sourceUrl : (content.url ?? bookmark.url);
  return itemOf({
    url,
    title: textOf(bookmark.title) ?? textOf(content.title),
    at: fromDateText(bookmark.createdAt),
    tags: listOf(tags),
    note: bookmark.note,
    status: bookmark.archived === true ? 'archived' : null,
    description: content.description,
    body_html: content.htmlContent,
    body_text: content.type === 'text' && textOf(content.htmlContent) === null ? textOf(content.text) : null,
  });
}

export const linkdingItem = (bookmark: Fields): ImportItem =>
  itemOf({
    url: bookmark.url,
    title: textOf(bookmark.title) ?? textOf(bookmark.website_title),
    at: fromDateText(bookmark.date_added),
    tags: listOf(bookmark.tag_names),
    note: bookmark.notes,
    description: textOf(bookmark.description) ?? textOf(bookmark.website_description),
    status: bookmark.is_archived === true ? 'archived' : bookmark.unread === true ? 'unread' : null,
  });

/** Version 2, and version 1 (`is_read`, `is_fav`) without dates. Annotations are highlights. */
export const wallabagItem = (entry: Fields): ImportItem =>
  itemOf({
    url: textOf(entry.given_url) ?? entry.url,
    title: entry.title,
    at: fromDateText(entry.created_at),
    tags: listOf(entry.tags),
    highlights: elementsOf(entry.annotations).flatMap(({ quote, text }) => highlightOf(quote, text)),
    author: listOf(entry.published_by).join(', '),
    published_at: entry.published_at,
    lang: entry.language,
    status: [entry.is_archived, entry.is_read].some(isSet) ? 'archived' : null,
    starred: [entry.is_starred, entry.is_fav].some(isSet) ? true : null,
    body_html: savedHtml(entry.content),
  });

const isSet = (value: unknown): boolean => value === true || value === 1 || value === '1';

const decodedText = (value: unknown): string | null => textOf(decodeHTML(textOf(value) ?? ''));

/** The saved article; null for Wallabag's error message. */
export function savedHtml(content: unknown): string | null {
  const html = textOf(content);
  return html?.includes('/errors_during_fetching') === true ? null : html;
}

/** `description` is the title, and `extended` the description. */
export const pinboardItem = (post: Fields): ImportItem =>
  itemOf({
    url: post.href,
    title: post.description,
    at: fromDateText(post.time),
    tags: listOf(post.tags ?? post.tag, ' '),
    note: post.extended,
    status: post.toread === 'yes' ? 'unread' : null,
  });

export const deliciousItem = (post: Fields): ImportItem =>
  itemOf({
    url: post.url,
    title: post.title,
    at: fromUnix(Number(post.created)),
    tags: listOf(post.tags),
    note: post.description,
  });

export const elcuratorItem = (entry: Fields): ImportItem =>
  itemOf({
    url: entry.url,
    title: entry.title,
    at: fromDateText(entry.created_at),
    tags: listOf(entry.tags),
    description: entry.description,
    starred: isSet(entry.is_saved) ? true : null,
  });

export const readabilityItem = (bookmark: Fields): ImportItem =>
  itemOf({
    url: bookmark.article__url,
    title: decodedText(bookmark.article__title),
    at: fromDateText(bookmark.date_added),
    description: decodedText(bookmark.article__excerpt),
    status: isSet(bookmark.archive) ? 'archived' : null,
    starred: isSet(bookmark.favorite) ? true : null,
  });

/**
 * Entries are collections with links; a collection's parents, in any order, are its folder: `again` repeats the
 * entries. Links imported into Linkwarden have their date in `importDate`.
 */
export async function* readLinkwarden(
  entries: AsyncIterable<unknown>,
  again: AsyncIterable<unknown>,
): AsyncGenerator<ImportItem> {
  const collections = await foldersIn(again, ({ links }) => Array.isArray(links));
  for await (const entry of entries) {
    const collection = fieldsOf(entry);
    if (!Array.isArray(collection.links)) continue;
    const folder = collections.has(collection.id) ? pathOf(collections, collection.id) : textOf(collection.name);
    for (const each of collection.links) {
      const link = fieldsOf(each);
      const tags = Array.isArray(link.tags) ? link.tags.map((tag) => fieldsOf(tag).name) : [];
      yield itemOf({
        url: link.url,
        title: link.name,
        at: fromDateText(link.importDate) ?? fromDateText(link.createdAt),
        tags: listOf(tags),
        folder,
        description: link.description,
        body_text: link.textContent,
      });
    }
  }
}
