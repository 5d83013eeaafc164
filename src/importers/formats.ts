/**
 * The formats that can be imported, in one table: what tells each from its content, never from its name, and how it is read. A format of
 * `--format` may have several rows, a file of one kind each. docs/command-line.md shows the table.
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ImportFormat, ImportItem } from '../domain/import.ts';
import { jsonElements } from './json-elements.ts';
import { readHypothesis, readwiseItem } from './read-annotations.ts';
import { readChromiumBookmarks, readFirefoxBookmarks } from './read-bookmark-tree.ts';
import { netscapeLink, pocketLink, readBookmarks } from './read-bookmarks.ts';
import { instapaperRow, pocketRow, raindropRow, readCsv, readwiseRow, wallabagRow, zoteroRow } from './read-csv.ts';
import { type Browser, readHistory } from './read-history.ts';
import {
  linkdingItem,
  pinboardItem,
  readabilityItem,
  readEntries,
  readKarakeep,
  readLinkwarden,
  readOmnivore,
  wallabagItem,
} from './read-json.ts';
import { readPosts } from './read-posts.ts';
import { cslItem, readRis, zoteroItem } from './read-references.ts';
import { readUrls } from './read-urls.ts';

/** What kind of file: told by its first bytes. */
export type FileKind = 'SQLite' | 'HTML' | 'XML' | 'JSON' | 'CSV' | 'text';

/** The beginning of a file. */
export interface FileHead {
  kinds: readonly FileKind[];
  /** Without white space at its beginning. */
  text: string;
  /** Of a CSV's first line, in lower case. */
  columns: readonly string[];
  /** Of a database. */
  browser: Browser | null;
}

/** A file to read. */
export interface SourceFile {
  path: string;
  /** How messages call it. */
  name: string;
  head: FileHead;
  text(): AsyncIterable<string>;
}

export interface FormatRow {
  format: ImportFormat;
  kind: FileKind;
  /** Where such a file comes from. */
  from: string;
  /** What its content has and no other's. */
  sign: string;
  isTold(head: FileHead): boolean;
  read(file: SourceFile): AsyncIterable<ImportItem>;
}

const history = (browser: Browser, from: string, tables: string): FormatRow => ({
  format: browser,
  kind: 'SQLite',
  from,
  sign: `tables ${tables}`,
  isTold: (head) => head.browser === browser,
  read: ({ path }) => readHistory(path, browser),
});

/** Told by columns that only this CSV has together. */
const csv = (format: ImportFormat, from: string, columns: string[], row: Parameters<typeof readCsv>[2]): FormatRow => ({
  format,
  kind: 'CSV',
  from,
  sign: `columns ${columns.join(', ')}`,
  isTold: (head) => columns.every((column) => head.columns.includes(column)),
  read: ({ text, head, name }) => readCsv(text(), { head: head.text, name }, row),
});

type Read = (entries: AsyncIterable<unknown>, file: SourceFile) => AsyncIterable<ImportItem>;
type ItemOf = Parameters<typeof readEntries>[1];

/** Told by names of fields that only this JSON has. */
const json = (
  format: ImportFormat,
  from: string,
  fields: string[],
  read: { all: Read } | { each: ItemOf },
): FormatRow => ({
  format,
  kind: 'JSON',
  from,
  sign: `fields ${fields.join(', ')}`,
  isTold: ({ text }) => fields.every((field) => text.includes(`"${field}"`)),
  read: (file) => {
    const entries = jsonElements(file.text(), file.name);
    return 'all' in read ? read.all(entries, file) : readEntries(entries, read.each);
  },
});

/** The first that is told holds: those with the plainer signs come last. */
export const formatRows: readonly FormatRow[] = [
  history('chromium', 'history of Chrome, Chromium, Edge, Brave …: file History', 'urls, visits'),
  history('firefox', 'history of Firefox: file places.sqlite', 'moz_places, moz_historyvisits'),
  history('safari', 'history of Safari: file History.db', 'history_items, history_visits'),
  {
    format: 'pocket',
    kind: 'HTML',
    from: 'Pocket, ril_export.html',
    sign: 'links with time_added',
    isTold: ({ text }) => /<a\s[^<>]*\btime_added=/i.test(text),
    read: ({ text }) => readBookmarks(text(), pocketLink),
  },
  {
    format: 'instapaper',
    kind: 'HTML',
    from: 'Instapaper, HTML',
    sign: 'title Instapaper: Export',
    isTold: ({ text }) => /<title>\s*Instapaper: Export/i.test(text),
    read: ({ text }) => readBookmarks(text(), netscapeLink),
  },
  {
    format: 'bookmarks',
    kind: 'HTML',
    from: 'bookmarks of browsers and of many services, HTML',
    sign: 'doctype NETSCAPE-Bookmark-file-1, or links and headings in DT',
    isTold: ({ text }) =>
      /^<!doctype\s+netscape-bookmark-file-1|^(?!<!doctype|<html)<[\s\S]*<dt>\s*<(?:a|h3)\b/i.test(text),
    read: ({ text }) => readBookmarks(text(), netscapeLink),
  },
  {
    format: 'chromium-bookmarks',
    kind: 'JSON',
    from: 'bookmarks of Chrome and its like: file Bookmarks',
    sign: 'fields roots, bookmark_bar',
    isTold: ({ text }) => text.includes('"roots"') && text.includes('"bookmark_bar"'),
    read: ({ text, name }) => readChromiumBookmarks(text(), name),
  },
  {
    format: 'firefox-bookmarks',
    kind: 'JSON',
    from: 'backup of Firefox, bookmarks-DATE.json',
    sign: 'type text/x-moz-place-container',
    isTold: ({ text }) => text.includes('"text/x-moz-place-container"'),
    read: ({ text, name }) => readFirefoxBookmarks(text(), name),
  },
  csv('pocket', 'Pocket, CSV', ['url', 'time_added'], pocketRow),
  csv('instapaper', 'Instapaper, CSV', ['url', 'selection', 'folder'], instapaperRow),
  csv('wallabag', 'Wallabag, CSV', ['url', 'mime type', 'creation date'], wallabagRow),
  csv('raindrop', 'Raindrop.io, CSV', ['url', 'excerpt', 'folder', 'created'], raindropRow),
  csv('readwise', 'library of Readwise Reader, CSV', ['url', 'document tags', 'saved date'], readwiseRow),
  csv('zotero', 'Zotero, CSV', ['item type', 'url', 'date added'], zoteroRow),
  json('wallabag', 'Wallabag, JSON', ['is_archived', 'is_starred', 'url'], { each: wallabagItem }),
  json('wallabag', 'Wallabag 1, JSON', ['is_read', 'is_fav', 'url'], { each: wallabagItem }),
  json('pinboard', 'Pinboard, JSON', ['href', 'extended', 'toread'], { each: pinboardItem }),
  json('readability', 'Readability, JSON', ['article__url'], { each: readabilityItem }),
  json('readwise', 'highlights of Readwise, JSON of its export interface', ['user_book_id', 'highlights'], {
    each: readwiseItem,
  }),
  json('readwise', 'documents of Readwise Reader, JSON of its list interface', ['reading_progress', 'source_url'], {
    each: readwiseItem,
  }),
  json('hypothesis', 'annotations of Hypothesis, JSON', ['uri', 'target', 'user'], {
    all: (all, { name }) => readHypothesis(all, name),
  }),
  json('zotero', 'Zotero, JSON of Better BibTeX', ['itemType', 'dateAdded'], { each: zoteroItem }),
  json('omnivore', 'Omnivore, its metadata_*.json or their folder', ['savedAt', 'slug'], {
    all: (all, { path }) => readOmnivore(all, contentBeside(path)),
  }),
  json('linkwarden', 'Linkwarden, JSON', ['collections', 'links'], {
    all: (entries, { text, name }) => readLinkwarden(entries, jsonElements(text(), name)),
  }),
  json('linkding', 'linkding, JSON', ['tag_names', 'date_added'], { each: linkdingItem }),
  json('karakeep', 'Karakeep (Hoarder), JSON', ['bookmarks', 'content'], {
    all: (entries, { text, name }) => readKarakeep(entries, jsonElements(text(), name)),
  }),
  json('zotero', 'CSL JSON of Zotero and its like', ['type', 'date-parts'], { each: cslItem }),
  {
    format: 'pinboard',
    kind: 'XML',
    from: 'Delicious and Pinboard, XML',
    sign: 'element posts',
    isTold: ({ text }) => /^(?:<\?xml[^>]*>\s*)?<posts[\s>]/.test(text),
    read: ({ text, name }) => readPosts(text(), name),
  },
  {
    format: 'zotero',
    kind: 'text',
    from: 'RIS of Zotero and its like',
    sign: 'a first line TY  - …',
    isTold: ({ text }) => /^TY {2}- /.test(text),
    read: ({ text, name }) => readRis(text(), name),
  },
  {
    format: 'urls',
    kind: 'text',
    from: 'a list of addresses, one a line',
    sign: 'a first line that is an address',
    isTold: ({ text }) => isAddress(text.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#'))),
    read: ({ text, name }) => readUrls(text(), name),
  },
];

const isAddress = (line: string | undefined): boolean => line !== undefined && /^https?:\/\/\S+$/i.test(line.trim());

/** The pages that an export of Omnivore has saved. */
function contentBeside(file: string): string | null {
  const dir = join(dirname(file), 'content');
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true ? dir : null;
}

/** What is known and cannot be imported. `raw` is the file's beginning, each byte as a character. */
export const refusals: readonly { isTold(raw: string): boolean; is: string }[] = [
  { isTold: (raw) => raw.startsWith('PK\x03\x04'), is: 'a ZIP archive: unpack it first' },
  { isTold: (raw) => raw.startsWith('\x1f\x8b'), is: 'compressed with gzip: unpack it first' },
  { isTold: (raw) => raw.startsWith('%PDF-'), is: 'a PDF, and no list of pages' },
  {
    isTold: (raw) => raw.startsWith('mozLz40\0'),
    is: "a compressed backup of Firefox's bookmarks: its library writes one as JSON (Import and Backup, Backup…)",
  },
  {
    isTold: (raw) => raw.startsWith('bplist0') || raw.slice(0, 200).includes('<!DOCTYPE plist'),
    is: 'a property list of Apple: Safari writes its bookmarks as HTML (File, Export Bookmarks…)',
  },
  {
    isTold: (raw) => /^[^\r\n]+\r?\n- [^\r\n]+\r?\n\r?\n[\s\S]*?\r?\n={10}\r?\n/.test(raw),
    is: "Kindle's clippings: they are of books, which have no address that a page could be kept under",
  },
  {
    isTold: (raw) => /^(?:\xef\xbb\xbf)?"?highlight"?,"?book title"?,/i.test(raw),
    is: "Readwise's highlights as CSV, which have no addresses: take its export interface (JSON), or Reader's library (CSV)",
  },
  {
    isTold: (raw) => /^\s*(?:%[^\n]*\n\s*)*@\w+\s*\{/.test(raw),
    is: 'BibTeX: write the library as CSL JSON, CSV or RIS',
  },
];
