/**
 * The table of import formats: how content (never the name) identifies each, and its reader. A format of `--format` may
 * have several rows. docs/command-line.md shows the table.
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ImportFormat, ImportItem } from '../domain/import.ts';
import type { EntryMarks } from './entry-marks.ts';
import { jsonElements } from './json-elements.ts';
import { readHypothesis, readwiseItem } from './read-annotations.ts';
import { chromiumMark, firefoxMark, readChromiumBookmarks, readFirefoxBookmarks } from './read-bookmark-tree.ts';
import { linkMark, netscapeLink, pocketLink, postMark, readBookmarks, readPosts } from './read-bookmarks.ts';
import {
  instapaperRow,
  pocketRow,
  raindropRow,
  readCsv,
  readwiseRow,
  rowMark,
  wallabagRow,
  zoteroRow,
} from './read-csv.ts';
import { type Browser, readHistory } from './read-history.ts';
import {
  deliciousItem,
  elcuratorItem,
  linkdingItem,
  pinboardItem,
  readabilityItem,
  readEntries,
  readKarakeep,
  readLinkwarden,
  readOmnivore,
  wallabagItem,
} from './read-json.ts';
import { cslItem, lineMark, readRis, readUrls, risMark, zoteroItem } from './read-references.ts';

export type FileKind = 'SQLite' | 'HTML' | 'XML' | 'JSON' | 'CSV' | 'text';

export interface FileHead {
  kinds: readonly FileKind[];
  text: string;
  columns: readonly string[];
  browser: Browser | null;
}

export interface SourceFile {
  path: string;
  name: string;
  head: FileHead;
  text(): AsyncIterable<string>;
  again(): AsyncIterable<string>;
  marks: EntryMarks;
}

export interface FormatRow {
  format: ImportFormat;
  kind: FileKind;
  from: string;
  sign: string;
  matches(head: FileHead): boolean;
  /** The start of an entry (entry-marks.ts); null for a database, whose rows are counted. */
  mark: RegExp | null;
  read(file: SourceFile): AsyncIterable<ImportItem>;
}

const history = (browser: Browser, from: string, tables: string): FormatRow => ({
  format: browser,
  kind: 'SQLite',
  from,
  sign: `tables ${tables}`,
  matches: (head) => head.browser === browser,
  mark: null,
  read: ({ path }) => readHistory(path, browser),
});

const html = (
  format: ImportFormat,
  from: string,
  sign: string,
  pattern: RegExp,
  link: Parameters<typeof readBookmarks>[2],
): FormatRow => ({
  format,
  kind: 'HTML',
  from,
  sign,
  matches: ({ text }) => pattern.test(text),
  mark: linkMark,
  read: ({ text, marks }) => readBookmarks(text(), marks, link),
});

/** Recognized by a unique set of columns. */
const csv = (format: ImportFormat, from: string, columns: string[], row: Parameters<typeof readCsv>[2]): FormatRow => ({
  format,
  kind: 'CSV',
  from,
  sign: `columns ${columns.join(', ')}`,
  matches: (head) => columns.every((column) => head.columns.includes(column)),
  mark: rowMark,
  read: ({ text, head, name, marks }) => readCsv(text(), { head: head.text, name, marks }, row),
});

type Read = (entries: AsyncIterable<unknown>, file: SourceFile) => AsyncIterable<ImportItem>;
type ItemOf = Parameters<typeof readEntries>[1];

/** Recognized by unique field names; each entry has the field `mark`. */
const json = (
  format: ImportFormat,
  from: string,
  fields: string[],
  { mark, ...read }: { mark: string } & ({ all: Read } | { each: ItemOf }),
): FormatRow => ({
  format,
  kind: 'JSON',
  from,
  sign: `fields ${fields.join(', ')}`,
  matches: ({ text }) => fields.every((field) => text.includes(`"${field}"`)),
  mark: new RegExp(`"${mark}"\\s{0,100}:`, 'g'),
  read: (file) => {
    const entries = jsonElements(file.text(), file.name, file.marks);
    return 'all' in read ? read.all(entries, file) : readEntries(entries, read.each);
  },
});

/** The first match wins, so less specific formats come last. */
export const formatRows: readonly FormatRow[] = [
  history('chromium', 'history of Chrome, Chromium, Edge, Brave …: file History', 'urls, visits'),
  history('firefox', 'history of Firefox: file places.sqlite', 'moz_places, moz_historyvisits'),
  history('safari', 'history of Safari: file History.db', 'history_items, history_visits'),
  html('pocket', 'Pocket, ril_export.html', 'links with time_added', /<a\s[^<>]*\btime_added=/i, pocketLink),
  html('instapaper', 'Instapaper, HTML', 'title Instapaper: Export', /<title>\s*Instapaper: Export/i, netscapeLink),
  html(
    'bookmarks',
    'bookmarks of browsers and of many services, HTML',
    'doctype NETSCAPE-Bookmark-file-1, or links and headings in DT',
    /^<!doctype\s+netscape-bookmark-file-1|^(?!<!doctype|<html)<[\s\S]*<dt>\s*<(?:a|h3)\b/i,
    netscapeLink,
  ),
  {
    format: 'chromium-bookmarks',
    kind: 'JSON',
    from: 'bookmarks of Chrome and its like: file Bookmarks',
    sign: 'fields roots, bookmark_bar',
    matches: ({ text }) => text.includes('"roots"') && text.includes('"bookmark_bar"'),
    mark: chromiumMark,
    read: (file) => readChromiumBookmarks(file.text(), file),
  },
  {
    format: 'firefox-bookmarks',
    kind: 'JSON',
    from: 'backup of Firefox, bookmarks-DATE.json',
    sign: 'type text/x-moz-place-container',
    matches: ({ text }) => text.includes('"text/x-moz-place-container"'),
    mark: firefoxMark,
    read: (file) => readFirefoxBookmarks(file.text(), file),
  },
  csv('pocket', 'Pocket, CSV', ['url', 'time_added'], pocketRow),
  csv('instapaper', 'Instapaper, CSV', ['url', 'selection', 'folder'], instapaperRow),
  csv('wallabag', 'Wallabag, CSV', ['url', 'mime type', 'creation date'], wallabagRow),
  csv('raindrop', 'Raindrop.io, CSV', ['url', 'excerpt', 'folder', 'created'], raindropRow),
  csv('readwise', 'library of Readwise Reader, CSV', ['url', 'document tags', 'saved date'], readwiseRow),
  csv('zotero', 'Zotero, CSV', ['item type', 'url', 'date added'], zoteroRow),
  json('wallabag', 'Wallabag, JSON', ['is_archived', 'is_starred', 'url'], { mark: 'url', each: wallabagItem }),
  json('wallabag', 'Wallabag 1, JSON', ['is_read', 'is_fav', 'url'], { mark: 'url', each: wallabagItem }),
  json('pinboard', 'Pinboard, JSON', ['href', 'extended', 'toread'], { mark: 'href', each: pinboardItem }),
  json('pinboard', 'Delicious, JSON', ['url', 'owner', 'others', 'created'], { mark: 'url', each: deliciousItem }),
  json('elcurator', 'elCurator, JSON', ['url', 'is_saved', 'created_at'], { mark: 'url', each: elcuratorItem }),
  json('readability', 'Readability, JSON', ['article__url'], { mark: 'article__url', each: readabilityItem }),
  json('readwise', 'highlights of Readwise, JSON of its export interface', ['user_book_id', 'highlights'], {
    mark: 'source_url',
    each: readwiseItem,
  }),
  json('readwise', 'documents of Readwise Reader, JSON of its list interface', ['reading_progress', 'source_url'], {
    mark: 'source_url',
    each: readwiseItem,
  }),
  json('hypothesis', 'annotations of Hypothesis, JSON', ['uri', 'target', 'user'], {
    mark: 'uri',
    all: (all, { name }) => readHypothesis(all, name),
  }),
  json('zotero', 'Zotero, JSON of Better BibTeX', ['itemType', 'dateAdded'], { mark: 'itemType', each: zoteroItem }),
  json('omnivore', 'Omnivore, its metadata_*.json or their folder', ['savedAt', 'slug'], {
    mark: 'slug',
    all: (all, { path }) => readOmnivore(all, contentBeside(path)),
  }),
  json('linkwarden', 'Linkwarden, JSON', ['collections', 'links'], {
    mark: 'url',
    all: (entries, { again, name }) => readLinkwarden(entries, jsonElements(again(), name)),
  }),
  json('linkding', 'linkding, JSON', ['tag_names', 'date_added'], { mark: 'url', each: linkdingItem }),
  json('karakeep', 'Karakeep (Hoarder), JSON', ['bookmarks', 'content'], {
    mark: 'content',
    all: (entries, { again, name }) => readKarakeep(entries, jsonElements(again(), name)),
  }),
  json('zotero', 'CSL JSON of Zotero and its like', ['type', 'date-parts'], { mark: 'type', each: cslItem }),
  {
    format: 'pinboard',
    kind: 'XML',
    from: 'Delicious and Pinboard, XML',
    sign: 'element posts',
    matches: ({ text }) => /^(?:<\?xml[^>]*>\s*)?<posts[\s>]/.test(text),
    mark: postMark,
    read: (file) => readPosts(file.text(), file),
  },
  {
    format: 'zotero',
    kind: 'text',
    from: 'RIS of Zotero and its like',
    sign: 'a first line TY  - …',
    matches: ({ text }) => /^TY {2}- /.test(text),
    mark: risMark,
    read: (file) => readRis(file.text(), file),
  },
  {
    format: 'urls',
    kind: 'text',
    from: 'a list of addresses, one a line',
    sign: 'a first line that is an address',
    matches: ({ text }) => isAddress(text.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#'))),
    mark: lineMark,
    read: (file) => readUrls(file.text(), file),
  },
];

const isAddress = (line: string | undefined): boolean => line !== undefined && /^https?:\/\/\S+$/i.test(line.trim());

function contentBeside(file: string): string | null {
  const dir = join(dirname(file), 'content');
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true ? dir : null;
}

/** Recognized but unsupported files. `raw` is the file's start, one character per byte. */
export const refusals: readonly { matches(raw: string): boolean; is: string }[] = [
  { matches: (raw) => raw.startsWith('PK\x03\x04'), is: 'a ZIP archive: unpack it first' },
  { matches: (raw) => raw.startsWith('\x1f\x8b'), is: 'compressed with gzip: unpack it first' },
  { matches: (raw) => raw.startsWith('%PDF-'), is: 'a PDF, and no list of pages' },
  {
    matches: (raw) => raw.startsWith('mozLz40\0'),
    is: "a compressed backup of Firefox's bookmarks: its library writes one as JSON (Import and Backup, Backup…)",
  },
  {
    matches: (raw) => raw.startsWith('bplist0') || raw.slice(0, 200).includes('<!DOCTYPE plist'),
    is: 'a property list of Apple: Safari writes its bookmarks as HTML (File, Export Bookmarks…)',
  },
  {
    matches: (raw) => /^[^\r\n]+\r?\n- [^\r\n]+\r?\n\r?\n[\s\S]*?\r?\n={10}\r?\n/.test(raw),
    is: "Kindle's clippings: they are of books, which have no address that a page could be kept under",
  },
  {
    matches: (raw) => /^(?:\xef\xbb\xbf)?"?highlight"?,"?book title"?,/i.test(raw),
    is: "Readwise's highlights as CSV, which have no addresses: take its export interface (JSON), or Reader's library (CSV)",
  },
  {
    matches: (raw) => /^\s*(?:%[^\n]*\n\s*)*@\w+\s*\{/.test(raw),
    is: 'BibTeX: write the library as CSL JSON, CSV or RIS',
  },
];
