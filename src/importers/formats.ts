/**
 * The table of import formats: how content (never the name) identifies each, and its reader. A format of `--format` may
 * have several rows. docs/command-line.md shows the table.
 */
import type { ImportFormat, ImportItem } from '../domain/import.ts';
import type { EntryMarks } from './entry-marks.ts';
import { jsonElements } from './json-elements.ts';
import { readHypothesis } from './read-annotations.ts';
import { chromiumMark, firefoxMark, readChromiumBookmarks, readFirefoxBookmarks } from './read-bookmark-tree.ts';
import {
  activityMark,
  linkMark,
  netscapeLink,
  outlineMark,
  pocketLink,
  postMark,
  readActivity,
  readBookmarks,
  readOutlines,
  readPosts,
} from './read-bookmarks.ts';
import { addressColumns, readCsv, rowMark } from './read-csv.ts';
import { type OwnFile, readHtmlFile, readPackedFile, readPdfFile, readTextFile } from './read-documents.ts';
import {
  type Dialect,
  dialects,
  fieldsOf,
  itemReader,
  itemsWithin,
  readEntries,
  readJsonLines,
  readKarakeep,
  readLinkwarden,
  readOmnivore,
} from './read-entries.ts';
import { type Browser, type HistoryFile, readHistory } from './read-history.ts';
import { isMhtml, isSavedPage, readMhtml, readSavedPage, readWarc } from './read-pages.ts';
import { lineMark, markdownMark, readMarkdownLinks, readRis, readUrls, risMark } from './read-references.ts';

export type FileKind = 'SQLite' | 'HTML' | 'XML' | 'JSON' | 'CSV' | 'text' | 'PDF' | 'ZIP' | 'WARC';

export interface FileHead {
  kinds: readonly FileKind[];
  text: string;
  columns: readonly string[];
  browser: Browser | null;
}

export interface SourceFile {
  file: HistoryFile;
  name: string;
  head: FileHead;
  text(): AsyncIterable<string>;
  again(): AsyncIterable<string>;
  marks: EntryMarks;
  own: OwnFile;
  /** The text of another file of the export. */
  beside(path: string): Promise<string | null>;
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
  /** Of a history. */
  browser?: Browser;
}

const history = (browser: Browser, from: string, tables: string): FormatRow => ({
  format: browser,
  kind: 'SQLite',
  from,
  sign: `tables ${tables}`,
  matches: (head) => head.browser === browser,
  mark: null,
  read: ({ file }) => readHistory(file, browser),
  browser,
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
const csv = (format: ImportFormat, from: string, columns: string[], dialect: Dialect = dialects.usual): FormatRow => ({
  format,
  kind: 'CSV',
  from,
  sign: `columns ${columns.join(', ')}`,
  matches: (head) => columns.every((column) => head.columns.includes(column)),
  mark: rowMark,
  read: ({ text, head, name, marks }) => readCsv(text(), { head: head.text, name, marks }, itemReader(dialect)),
});

type Read = (entries: AsyncIterable<unknown>, file: SourceFile) => AsyncIterable<ImportItem>;

/** Recognized by unique field names; each entry has the field `mark`, by default `url`. */
const json = (
  format: ImportFormat,
  from: string,
  fields: string[],
  { mark = 'url', ...read }: { mark?: string; all?: Read; each?: Dialect } = {},
): FormatRow => ({
  format,
  kind: 'JSON',
  from,
  sign: `fields ${fields.join(', ')}`,
  matches: ({ text }) => fields.every((field) => text.includes(`"${field}"`)),
  mark: new RegExp(`"${mark}"\\s{0,100}:`, 'g'),
  read: (file) => {
    const itemOfEntry = itemReader(read.each ?? dialects.usual);
    if (read.all === undefined && isJsonLines(file.head.text))
      return readJsonLines(file.text(), file, (entry) => [itemOfEntry(fieldsOf(entry))]);
    const entries = jsonElements(file.text(), file.name, file.marks);
    return read.all === undefined ? readEntries(entries, itemOfEntry) : read.all(entries, file);
  },
});

/** One object a line, of which the first may be longer than the head; lists have an array of objects. */
function isJsonLines(text: string): boolean {
  const [line, ...others] = text.split('\n', 2);
  if (!line.startsWith('{')) return false;
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return others.length === 0 && !/"\s*:\s*\[\s*\{/.test(line);
  }
}

const addressField =
  /"(?:url|link|href|uri|address|website|page_?url|title_?url|(?:given|source|original|canonical)_?url|permalink)"\s{0,100}:\s{0,100}"https?:/gi;

async function* everyAddress(file: SourceFile): AsyncGenerator<ImportItem> {
  if (isJsonLines(file.head.text)) yield* readJsonLines(file.text(), file, itemsWithin);
  else for await (const entry of jsonElements(file.text(), file.name, file.marks)) yield* itemsWithin(entry);
}

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
  csv('pocket', 'Pocket, CSV', ['url', 'time_added']),
  csv('instapaper', 'Instapaper, CSV', ['url', 'selection', 'folder']),
  csv('wallabag', 'Wallabag, CSV', ['url', 'mime type', 'creation date'], dialects.wallabagCsv),
  csv('raindrop', 'Raindrop.io, CSV', ['url', 'excerpt', 'folder', 'created']),
  csv('readwise', 'library of Readwise Reader, CSV', ['url', 'document tags', 'saved date']),
  csv('zotero', 'Zotero, CSV', ['item type', 'url', 'date added'], dialects.zotero),
  json('wallabag', 'Wallabag, JSON', ['is_archived', 'is_starred', 'url'], { each: dialects.wallabag }),
  json('wallabag', 'Wallabag 1, JSON', ['is_read', 'is_fav', 'url'], { each: dialects.wallabag }),
  json('pinboard', 'Pinboard, JSON', ['href', 'extended', 'toread'], { mark: 'href', each: dialects.pinboard }),
  json('pinboard', 'Delicious, JSON', ['url', 'owner', 'others', 'created'], { each: dialects.delicious }),
  json('elcurator', 'elCurator, JSON', ['url', 'is_saved', 'created_at'], { each: dialects.elcurator }),
  json('readability', 'Readability, JSON', ['article__url'], { mark: 'article__url', each: dialects.readability }),
  json('readwise', 'highlights of Readwise, JSON of its export interface', ['user_book_id', 'highlights'], {
    mark: 'source_url',
    each: dialects.readwise,
  }),
  json('readwise', 'documents of Readwise Reader, JSON of its list interface', ['reading_progress', 'source_url'], {
    mark: 'source_url',
    each: dialects.readwise,
  }),
  json('hypothesis', 'annotations of Hypothesis, JSON', ['uri', 'target', 'user'], {
    mark: 'uri',
    all: (all, { name }) => readHypothesis(all, name),
  }),
  json('zotero', 'Zotero, JSON of Better BibTeX', ['itemType', 'dateAdded'], {
    mark: 'itemType',
    each: dialects.zotero,
  }),
  json('omnivore', 'Omnivore, its ZIP, folder, or metadata_*.json', ['savedAt', 'slug'], {
    mark: 'slug',
    all: (all, { beside }) => readOmnivore(all, beside),
  }),
  json('linkwarden', 'Linkwarden, JSON', ['collections', 'links'], {
    all: (entries, { again, name }) => readLinkwarden(entries, jsonElements(again(), name)),
  }),
  json('linkding', 'linkding, JSON', ['tag_names', 'date_added']),
  json('karakeep', 'Karakeep (Hoarder), JSON', ['bookmarks', 'content'], {
    mark: 'content',
    all: (entries, { again, name }) => readKarakeep(entries, jsonElements(again(), name)),
  }),
  json('zotero', 'CSL JSON of Zotero and its like', ['type', 'date-parts'], { mark: 'type', each: dialects.csl }),
  json('google', 'Google Takeout, history of Chrome, JSON', ['Browser History', 'time_usec']),
  json('google', 'Google Takeout, history of YouTube and activities, JSON', ['titleUrl', 'products'], {
    mark: 'products',
    each: dialects.youtube,
  }),
  json('safari', 'history of a Safari export, JSON', ['history', 'time_usec']),
  json('reader', 'stars of Inoreader, FreshRSS or Feedly, JSON', ['origin', 'alternate'], {
    mark: 'origin',
    each: dialects.reader,
  }),
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
    format: 'opml',
    kind: 'XML',
    from: 'OPML: subscriptions of feed readers, outlines with links',
    sign: 'element opml',
    matches: ({ text }) => /^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<opml[\s>]/i.test(text),
    mark: outlineMark,
    read: (file) => readOutlines(file.text(), file),
  },
  {
    format: 'google',
    kind: 'HTML',
    from: 'Google Takeout, history of YouTube and activities, HTML',
    sign: 'cells with the class outer-cell',
    matches: ({ text }) => /^<html><head><title>[^<]*<\/title>/i.test(text) && /\bouter-cell\b|\.mdl-/.test(text),
    mark: activityMark,
    read: (file) => readActivity(file.text(), file.marks),
  },
  {
    format: 'page',
    kind: 'HTML',
    from: 'a page saved by SingleFile or a browser, HTML',
    sign: 'a comment with its address, or a link canonical',
    matches: ({ text }) => isSavedPage(text),
    mark: null,
    read: ({ own, head, name }) => readSavedPage(own.bytes(), head.text, name),
  },
  {
    format: 'page',
    kind: 'text',
    from: 'a page saved as MHTML',
    sign: 'a header multipart/related',
    matches: ({ text }) => isMhtml(text),
    mark: null,
    read: ({ own, name }) => readMhtml(own.bytes(), name),
  },
  {
    format: 'warc',
    kind: 'WARC',
    from: 'pages of a web archive: WARC, WACZ',
    sign: 'a first line WARC/1',
    matches: () => true,
    mark: null,
    read: ({ own, name }) => readWarc(own.bytes(), name),
  },
  {
    format: 'files',
    kind: 'PDF',
    from: "one's own PDF",
    sign: 'a first line %PDF',
    matches: () => true,
    mark: null,
    read: ({ own }) => readPdfFile(own),
  },
  {
    format: 'files',
    kind: 'ZIP',
    from: "one's own EPUB or DOCX",
    sign: 'its parts',
    matches: () => true,
    mark: null,
    read: ({ own }) => readPackedFile(own),
  },
  {
    format: 'csv',
    kind: 'CSV',
    from: 'any CSV or TSV with a column of addresses: Matter, mymind, Readeck, History Trends, Google reading list …',
    sign: 'a column of addresses',
    matches: ({ text }) => addressColumns(text) !== null,
    mark: rowMark,
    read: ({ text, head, name, marks }) => {
      const columns = addressColumns(head.text);
      return readCsv(text(), { head: head.text, name, columns, marks }, itemReader(dialects.usual));
    },
  },
  {
    format: 'json',
    kind: 'JSON',
    from: 'any JSON or JSON lines with addresses: GoodLinks, Tab Session Manager, Hister, Readeck …',
    sign: 'a field url, link, href or the like',
    matches: ({ text }) => new RegExp(addressField, 'i').test(text),
    mark: addressField,
    read: everyAddress,
  },
  {
    format: 'urls',
    kind: 'text',
    from: 'a list of addresses, one a line, with titles or without; of OneTab',
    sign: 'a first line that begins with an address',
    matches: ({ text }) => /^https?:\/\/\S+(?:$|\s)/i.test(firstLine(text)),
    mark: lineMark,
    read: (file) => readUrls(file.text(), file),
  },
  {
    format: 'urls',
    kind: 'text',
    from: 'a Markdown list of links',
    sign: 'a line with a link in a list',
    matches: ({ text }) => /^\s*(?:[-*+]|\d+[.)])\s[^\n]*?\]\(\s*<?https?:/im.test(text) && !text.startsWith('---\n'),
    mark: markdownMark,
    read: (file) => readMarkdownLinks(file.text(), file),
  },
];

/** Files of a folder that are no lists: pages of their own. */
export const ownFileRow: Omit<FormatRow, 'matches'> & { matches(head: FileHead, name?: string): boolean } = {
  format: 'files',
  kind: 'text',
  from: "one's own HTML, Markdown and text",
  sign: 'in a folder or archive',
  matches: ({ kinds, text }, name = '') =>
    (kinds.includes('HTML') && /<(?:!doctype html|html|body|h1|p)\b/i.test(text)) ||
    (kinds.includes('CSV') && /(?:^|\/)[^./]+$|\.(?:md|markdown|txt|text)$/i.test(name)),
  mark: null,
  read: ({ own, head }) => (head.kinds.includes('HTML') ? readHtmlFile(own) : readTextFile(own)),
};

const firstLine = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .find((line) => line !== '' && !line.startsWith('#')) ?? '';

/** Recognized but unsupported files. `raw` is the file's start, one character per byte. */
export const refusals: readonly { matches(raw: string): boolean; is: string }[] = [
  {
    matches: (raw) => /^(?:\xef\xbb\xbf)?(?=[^\n]*\burl\b)(?:[^\n]*,)?"?password"?(?:,|\r?\n)/i.test(raw),
    is: 'passwords of a browser, which are not imported',
  },
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
