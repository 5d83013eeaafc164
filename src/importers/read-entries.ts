/** JSON and CSV entries as items, by dialects of field names. Paths ignore case, spaces, `-` and `_`. */

import { decodeHTML } from 'entities';
import usual from '../../models/import-fields.json' with { type: 'json' };
import { type ColumnKind, columnKinds, type ImportItem } from '../domain/import.ts';
import type { EntryMarks } from './entry-marks.ts';
import {
  doiAddress,
  fromDateText,
  highlightOf,
  ImportError,
  itemOf,
  linesOf,
  listOf,
  lostItem,
  maxEntryChars,
  maxFolderChars,
  paragraphsOf,
  scalarText,
  type TextFile,
  textOf,
  wholeText,
  withoutTags,
} from './item-parts.ts';
import { parsed } from './json-elements.ts';

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
export const elementsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** Paths separated by `|`, of which the first with a value counts; `a.b` is a field of this name or inside, `a.0` an element. Or computed. */
type Source = string | ((entry: Fields) => unknown);

/** Of tags, notes and highlights, all paths of `usual` count. `archived`, `unread` and `read` are flags. `mark`: a field that each entry has, by default `url`. */
export type Dialect = Partial<Record<keyof typeof usual, Source> & { tagSeparator: string; mark: string }>;

const readerOwn = (entry: Fields) => elementsOf(entry.highlights).filter(({ is_discard }) => is_discard !== true);
/** States by the lists of Pocket and Instapaper. */
export function listState(list: unknown): { status: string | null; starred: true | null } {
  const name = scalarText(list).toLowerCase();
  const status = name === 'unread' ? name : /^(?:read )?archive$/.test(name) ? 'archive' : null;
  return { status, starred: name === 'starred' || null };
}

const doiOr = (address: unknown, doi: unknown) => textOf(address) ?? doiAddress(doi);

/** Fields whose names differ between programs. */
export const dialects = {
  usual: {},
  /** Dates are `day/month/year time` on a 12-hour clock without AM or PM, so only the day is used. */
  wallabagCsv: { at: ({ 'creation date': date }) => String(date).replace(/^(\d\d)\/(\d\d)\/(\d{4}).*/, '$3-$2-$1') },
  instapaper: { status: ({ folder }) => listState(folder).status, starred: ({ folder }) => listState(folder).starred },
  /** Version 2, and version 1 (`is_read`, `is_fav`) without dates. */
  wallabag: {
    url: 'givenurl|url',
    archived: 'isarchived|isread',
    unread: ({ is_archived: archived, is_read: read = archived }) => !isSet(read) || null,
    read: '',
    author: 'publishedby',
  },
  /** `description` is the title, and `extended` the description. */
  pinboard: { mark: 'href', url: 'href', title: 'description', description: '', at: 'time', tagSeparator: ' ' },
  bookmark: {
    at: 'dateadded',
    note: ({ annos }) => elementsOf(annos).find(({ name }) => name === 'bookmarkProperties/description')?.value,
  },
  opml: { url: 'htmlurl|url|xmlurl', title: 'title|text', text: '' },
  /** Also reads a folder's name. An entry of the reading list has a date, and that of its last reading. */
  safari: {
    url: 'urlstring',
    title: ({ Title, URIDictionary: names }) =>
      Title === 'com.apple.ReadingList' ? 'Reading List' : (fieldsOf(names).title ?? Title),
    at: 'readinglist.dateadded',
    description: 'readinglist.previewtext|readinglistnonsync.previewtext',
    site: 'readinglistnonsync.sitename',
    unread: ({ ReadingList: list }) => ('DateAdded' in fieldsOf(list) ? !('DateLastViewed' in fieldsOf(list)) : null),
  },
  delicious: { description: '', note: 'description' },
  elcurator: { starred: 'issaved' },
  readability: {
    mark: 'article__url',
    url: 'articleurl',
    title: ({ article__title }) => decodedText(article__title),
    description: ({ article__excerpt }) => decodedText(article__excerpt),
  },
  /** A source with highlights (export API), or a document of Reader (list API). Books have no address. */
  readwise: {
    mark: 'source_url',
    url: 'sourceurl',
    title: 'title|readabletitle',
    at: (entry) => {
      const dates = readerOwn(entry).flatMap((each) => fromDateText(each.highlighted_at ?? each.created_at) ?? []);
      return fromDateText(entry.saved_at) ?? fromDateText(entry.created_at) ?? dates.sort((a, b) => a - b)[0];
    },
    tags: 'booktags|tags',
    note: 'documentnote|notes',
    highlights: readerOwn,
  },
  zotero: {
    mark: 'itemType',
    url: ({ url, DOI, doi }) => doiOr(url, DOI ?? doi),
    at: 'dateadded|accessdate',
    tags: 'tags|manualtags|automatictags',
    tagSeparator: ';',
    note: ({ notes, extra }) => [...[notes].flat().map((each) => withoutTags(fieldsOf(each).note ?? each)), extra],
    description: 'abstractnote',
    author: 'author|creators',
    published: 'date',
    site: 'publicationtitle|websitetitle',
  },
  /** It only has dates of publication and last access. */
  csl: {
    mark: 'type',
    url: ({ URL, DOI }) => doiOr(URL, DOI),
    at: ({ accessed }) => cslDate(accessed),
    tags: 'keyword',
    published: ({ issued }) => cslDate(issued),
    site: 'containertitle',
    status: '',
  },
  karakeep: {
    url: ({ content, url }) => {
      const { type, sourceUrl, url: own } = fieldsOf(content);
      return type === 'text' || type === 'asset' ? sourceUrl : (own ?? url);
    },
    title: 'title|content.title',
    folder: '',
    description: 'content.description',
    html: 'content.htmlcontent',
    text: ({ content }) => (fieldsOf(content).type === 'text' ? fieldsOf(content).text : null),
  },
  linkwarden: { title: 'name', folder: '' },
  /** `Watched …` in the language of the account; the channel is the author. */
  youtube: {
    mark: 'products',
    url: 'titleurl',
    title: ({ title }) => textOf(title)?.replace(/^(?:Watched|Visited|Viewed)\s/, ''),
    author: 'subtitles.0.name',
    site: 'header',
    description: '',
  },
  /** The format of Google Reader, used by Inoreader and FreshRSS, and that of Feedly. */
  reader: {
    mark: 'origin',
    url: 'canonical.0.href|alternate.0.href|canonicalurl',
    at: 'starred|actiontimestamp|timestampusec|crawltimemsec|crawled',
    tags: ({ categories, tags }) =>
      [categories, tags].flat().map((each) => fieldsOf(each).label ?? labelIn(scalarText(each))),
    description: '',
    starred: () => true,
    html: 'content.content|summary.content',
  },
} satisfies Record<string, Dialect>;

export const plainName = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');

function plainFields(value: unknown): Fields {
  const plain: Fields = Object.create(null);
  for (const [name, each] of Object.entries(fieldsOf(value))) plain[plainName(name)] ??= each;
  return plain;
}

const keyOf = (kind: ColumnKind) => (kind === 'date' ? 'at' : kind);

/** How a column or field of this name is read by default. */
export const kindOf = (name: string): ColumnKind | null =>
  columnKinds.find((kind) => usual[keyOf(kind)].split('|').includes(plainName(name))) ?? null;

/** Whether a column or field of this name is read by default. */
export const isRead = (name: string): boolean =>
  Object.values(usual).some((names) => names.split('|').includes(plainName(name)));

/**
 * `text` assigns columns, by number from 1 or by name: `url=2,title=name`; `tags=` means that none has tags. `pathOf`
 * returns the column at an index, which the file may lack. Errors: ImportError for other texts.
 */
export function namedDialect(text: string, names: readonly string[], pathOf: (at: number, name: string) => string) {
  const dialect: Dialect & Record<string, string> = {};
  for (const part of text.split(',')) {
    const [kind, ...rest] = part.split('=').map((each) => each.trim());
    const key = columnKinds.find((each) => each === kind);
    if (key === undefined || rest.length === 0)
      throw new ImportError(`columns are named as url=2,title=name; they may be ${columnKinds.join(', ')}`);
    const column = rest.join('=');
    const known = names.findIndex((name) => name.toLowerCase() === column.toLowerCase());
    const path = column === '' ? '' : pathOf(known < 0 ? Number(column) - 1 : known, column);
    dialect[keyOf(key)] = [dialect[keyOf(key)], path].filter(Boolean).join('|');
  }
  return dialect;
}

const bareAddress = /^(?:[\p{L}\d-]+\.)+\p{L}{2,}(?:[/?#:]|$)/u;

/** Addresses may lack `https://`. */
export function namedReader(dialect: Dialect): (entry: Fields) => ImportItem {
  const read = itemReader(dialect);
  return (entry) => {
    const item = read(entry);
    return bareAddress.test(item.url) ? { ...item, url: `https://${item.url}` } : item;
  };
}

const inside = (value: unknown, step: string): unknown =>
  Array.isArray(value) ? value[Number(step)] : plainFields(value)[step];

/** The item of an entry. Its address is '' if there is none. */
export function itemReader(own: Dialect): (entry: Fields) => ImportItem {
  const dialect = { ...usual, ...own };
  const pathsOf = (source: Source) =>
    typeof source === 'function' || source === '' ? [] : source.split('|').map((path) => [path, ...path.split('.')]);
  const paths = new Map(Object.values(dialect).map((source) => [source, pathsOf(source)]));
  return (entry) => {
    const plain = plainFields(entry);
    const all = (source: Source): unknown[] => {
      if (typeof source === 'function') return [source(entry)].filter((value) => value != null);
      const values: unknown[] = [];
      for (const [path, first, ...inner] of paths.get(source) ?? []) {
        const value = plain[path] ?? (plain[first] == null ? null : inner.reduce(inside, plain[first]));
        if (value != null && value !== '') values.push(value);
      }
      return values;
    };
    const first = <Value>(source: Source, read: (value: unknown) => Value | null): Value | null => {
      for (const value of all(source)) {
        const found = read(value);
        if (found !== null) return found;
      }
      return null;
    };
    const text = (source: Source) => first(source, textOf);
    const isFlagged = (source: Source) => all(source).some(isSet);
    const flags = (['archived', 'unread'] as const).filter((state) => isFlagged(dialect[state]));
    const isRead = isFlagged(dialect.read) || all(dialect.unread).length > 0;
    const flag = flags.join(', ') || (isRead ? 'read' : null);
    const html = first(dialect.html, savedHtml);
    const extracted =
      first(dialect.text, (value) => (value === html || isFailure(value) ? null : textOf(value))) ??
      first(dialect.html, unmarkedText);
    const isPage = html !== null && extracted !== null && /<(?:html|body)[\s>]/i.test(html);
    return itemOf({
      url: text(dialect.url),
      title: text(dialect.title),
      at: first(dialect.at, fromDateText),
      visits:
        all(dialect.visits)
          .map((value) => Number(scalarText(value)))
          .find((count) => Number.isSafeInteger(count) && count > 0) ?? null,
      tags: [...new Set(all(dialect.tags).flatMap((value) => tagsOf(value, dialect.tagSeparator)))],
      folder: text(dialect.folder),
      note: paragraphsOf(...all(dialect.note).flatMap((value) => [value].flat().map(noteOf))),
      highlights: all(dialect.highlights).flatMap(highlightsOf),
      description: text(dialect.description),
      author: first(dialect.author, namesOf),
      published_at: first(dialect.published, dateTextOf),
      site_name: text(dialect.site),
      lang: text(dialect.lang),
      status: flag ?? text(dialect.status),
      starred: all(dialect.starred).length === 0 ? null : isFlagged(dialect.starred),
      body_html: isPage ? null : html,
      body_text: isPage || html === null ? extracted : null,
    });
  };
}

const isSet = (value: unknown): boolean =>
  value === true ||
  (typeof value === 'number' && value > 0) ||
  /^(?:1|true|yes|x|\d{4}-\d\d.*)$/i.test(scalarText(value));

const decodedText = (value: unknown): string | null => textOf(decodeHTML(textOf(value) ?? ''));

const unmarkedText = (value: unknown): string | null => (/<[a-z]/i.test(scalarText(value)) ? null : textOf(value));

/** Wallabag stores this instead of a text after a failure. */
const isFailure = (content: unknown): boolean => scalarText(content).includes('/errors_during_fetching');

/** The saved article; null for plain text. */
function savedHtml(content: unknown): string | null {
  const html = textOf(content);
  return html === null || !/<[a-z]/i.test(html) || isFailure(html) ? null : html;
}

const noteOf = (value: unknown): unknown => fieldsOf(value).note ?? fieldsOf(value).text ?? value;

/** An annotation is a passage (`quote`, else `text` or `content`) and perhaps a note on it. */
function highlightsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return listOf(value, '\n');
  return value.flatMap((each) => {
    const { quote, content, text = content, note } = fieldsOf(each);
    if (typeof each === 'string') return listOf([each]);
    return textOf(quote) === null ? highlightOf(text, note) : highlightOf(quote, text);
  });
}

/** Max length for matching quotation marks, which takes quadratic time if there are none. */
const maxTagsChars = 20_000;

/** Reads names, objects with a name, an object by name, or a text: a JSON or Python list, or a list with separators. */
function tagsOf(value: unknown, separator?: string): string[] {
  if (Array.isArray(value)) return listOf(value.map((each) => tagName(each) ?? each));
  if (typeof value !== 'string')
    return listOf(Object.entries(fieldsOf(value)).map(([key, tag]) => tagName(tag) ?? key));
  const text = value.slice(0, maxTagsChars);
  const list = /^\s*\[([\s\S]*)\]\s*$/.exec(text)?.[1];
  // Older exports have commas without quotation marks.
  if (list === undefined) return listOf(text, separator ?? ['|', ',', ';'].find((each) => text.includes(each)));
  const quoted = [...list.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/g)];
  if (quoted.length === 0) return listOf(list);
  return listOf(quoted.map(([, double, single]) => (double ?? single ?? '').replace(/\\(.)/g, '$1')));
}

/** The name in `user/123/label/NAME`. */
function labelIn(category: string): string | undefined {
  const at = category.indexOf('/label/');
  return at < 0 ? undefined : category.slice(at + '/label/'.length);
}

function tagName(value: unknown): string | null {
  const { name, label, tag, title } = fieldsOf(value);
  return textOf(name) ?? textOf(label) ?? textOf(tag) ?? textOf(title);
}

function namesOf(value: unknown): string | null {
  const names = [value].flat().map((each) => {
    const { given, family, literal, firstName, lastName, name } = fieldsOf(each);
    return typeof each === 'string'
      ? each
      : listOf([given ?? firstName, family ?? lastName ?? literal ?? name]).join(' ');
  });
  return textOf(listOf(names).join(', '));
}

function dateTextOf(value: unknown): string | null {
  const at = typeof value === 'number' ? fromDateText(value) : null;
  return at === null ? textOf(value) : new Date(at).toISOString();
}

function cslDate(value: unknown): string | null {
  const date = fieldsOf(value);
  const parts = Array.isArray(date['date-parts']) ? date['date-parts'][0] : null;
  if (!Array.isArray(parts)) return textOf(date.literal) ?? textOf(date.raw);
  return parts.map((part) => scalarText(part).padStart(2, '0')).join('-') || null;
}

/** One JSON value per line. A broken line does not affect the others. */
export async function* readJsonLines(
  file: TextFile,
  itemsOf: (entry: unknown) => Iterable<ImportItem>,
): AsyncGenerator<ImportItem> {
  for await (const { text, start, end, no } of linesOf(file.text(), file.name, maxEntryChars)) {
    if (text.trim() === '') continue;
    file.marks.reached(start, end, no);
    let entry: unknown;
    try {
      entry = JSON.parse(text);
    } catch {
      yield lostItem(no, 'not JSON');
      continue;
    }
    yield* itemsOf(entry);
  }
}

const usualItem = itemReader(dialects.usual);
const bookmarkItem = itemReader(dialects.bookmark);

export const chromiumMark = /"type"\s{0,100}:\s{0,100}"url"/g;
export const firefoxMark = /"text\\?\/x-moz-place"/g;

/** Bookmarks of Chromium and Firefox as JSON. Old Firefox backups repeat tags as folders below a root of their own. */
export async function* readTree({ text, name, marks }: TextFile & { marks: EntryMarks }): AsyncGenerator<ImportItem> {
  const root = fieldsOf(parsed(await wholeText(text(), name), name));
  const [tags, others] = [true, false].map((is) =>
    elementsOf(root.children).filter(({ root: of }) => (of === 'tagsFolder') === is),
  );
  for (const item of itemsWithin(tags, bookmarkItem)) if (item.url !== '') marks.reachedNext();
  const roots = root.roots === undefined ? others : Object.values(fieldsOf(root.roots));
  for (const item of itemsWithin(roots, bookmarkItem)) {
    if (item.url === '') continue;
    marks.reachedNext();
    yield item;
  }
}

/** All objects with an address in a nested value. Objects around them give their folder, and perhaps date and tags. */
export function* itemsWithin(value: unknown, itemOfNode = usualItem): Generator<ImportItem> {
  const open: { node: unknown; folder: string; around: ImportItem | null }[] = [
    { node: value, folder: '', around: null },
  ];
  let found = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, folder, around } = next;
    const item = itemOfNode(fieldsOf(node));
    if (/^[a-z][a-z0-9+.-]*:/i.test(item.url)) {
      found++;
      const path = textOf(item.metadata?.folder) ?? folder;
      const tags = listOf([item.metadata?.tags, around?.metadata?.tags].flat());
      const metadata = { ...item.metadata, ...(path !== '' && { folder: path }), ...(tags.length > 0 && { tags }) };
      yield {
        ...item,
        at: item.at ?? around?.at ?? null,
        metadata: Object.keys(metadata).length === 0 ? null : metadata,
      };
      continue;
    }
    const inner = [folder, item.title]
      .filter((part) => part !== null && part !== '')
      .join('/')
      .slice(0, maxFolderChars);
    const children = typeof node === 'object' && node !== null ? Object.values(node) : [];
    const isEntry = itemOfNode === usualItem && !Array.isArray(node) && (item.at !== null || item.metadata !== null);
    for (const child of children.reverse())
      if (typeof child === 'object' && child !== null)
        open.push({ node: child, folder: inner, around: isEntry ? item : around });
  }
  if (found === 0) yield itemOf({ url: '', title: usualItem(fieldsOf(value)).title });
}

/** Passages and notes in Markdown: a paragraph after a passage is its note, one before all passages is the page's. */
function omnivoreNotes(markdown: string | null) {
  const highlights: string[] = [];
  const note: string[] = [];
  for (const paragraph of (markdown ?? '').split(/\n{2,}/)) {
    const text = paragraph.replace(/^> ?/gm, '').trim();
    const isPassage = paragraph.startsWith('>');
    if (text === '') continue;
    if (isPassage || highlights.length === 0) (isPassage ? highlights : note).push(text);
    else highlights.push(`${highlights.pop()}\n${text}`);
  }
  return { highlights, note: note.join('\n\n') };
}

/** `saved`: returns the text of a file of the export, or null. Ignores slugs that are not plain names. */
export async function* readOmnivore(
  entries: AsyncIterable<unknown>,
  saved: (path: string) => Promise<string | null>,
): AsyncGenerator<ImportItem> {
  for await (const entry of entries) {
    const { slug } = fieldsOf(entry);
    const isName = typeof slug === 'string' && /^[\p{L}\p{N}_-][\p{L}\p{N}_.-]*$/u.test(slug);
    const [content, notes] = isName
      ? [await saved(`content/${slug}.html`), await saved(`highlights/${slug}.md`)]
      : [null, null];
    yield { ...usualItem({ ...fieldsOf(entry), ...omnivoreNotes(notes) }), body_html: textOf(content) };
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
    // Entries before the fault were read; the second reading will report it.
    if (!(error instanceof ImportError)) throw error;
  }
  return folders;
}

const maxFolders = 32;

/** A folder's path with slashes. Stops at cycles. */
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

export const inFolder = (item: ImportItem, folder: string | null): ImportItem =>
  textOf(folder) === null ? item : { ...item, metadata: { ...item.metadata, folder } };

/** Bookmarks and their lists, which come later: `again` repeats the entries. Notes and files have no address. */
export async function* readKarakeep(
  entries: AsyncIterable<unknown>,
  again: AsyncIterable<unknown>,
): AsyncGenerator<ImportItem> {
  const isList = ({ content, createdAt }: Fields) => content === undefined && createdAt === undefined;
  const lists = await foldersIn(again, isList);
  const itemOfEntry = itemReader(dialects.karakeep);
  for await (const entry of entries) {
    const bookmark = fieldsOf(entry);
    if (isList(bookmark)) continue;
    const paths = (Array.isArray(bookmark.lists) ? bookmark.lists : []).map((id) => pathOf(lists, id));
    yield inFolder(itemOfEntry(bookmark), paths.filter((path) => path !== '').join(', '));
  }
}

/** A link's folder is the path of its collection. Parents may come in any order: `again` repeats the entries. */
export async function* readLinkwarden(
  entries: AsyncIterable<unknown>,
  again: AsyncIterable<unknown>,
): AsyncGenerator<ImportItem> {
  const collections = await foldersIn(again, ({ links }) => Array.isArray(links));
  const itemOfEntry = itemReader(dialects.linkwarden);
  for await (const entry of entries) {
    const { id, name, links } = fieldsOf(entry);
    if (!Array.isArray(links)) continue;
    const folder = collections.has(id) ? pathOf(collections, id) : textOf(name);
    for (const link of links) yield inFolder(itemOfEntry(fieldsOf(link)), folder);
  }
}
