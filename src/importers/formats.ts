/** Import formats: the signs in the content that identify each (never its name), and its readers. */
import type { ImportColumn, ImportFormat, ImportItem } from '../domain/import.ts';
import type { EntryMarks } from './entry-marks.ts';
import { scalarText } from './item-parts.ts';
import { jsonElements } from './json-elements.ts';
import { readHypothesis } from './read-annotations.ts';
import {
  activityMark,
  instapaperLink,
  isOpml,
  linkMark,
  netscapeLink,
  outlineMark,
  pocketLink,
  postMark,
  readActivity,
  readBookmarks,
  readElements,
} from './read-bookmarks.ts';
import { addressColumns, namedColumns, readCsv, rowMark } from './read-csv.ts';
import { type OwnFile, readHtmlFile, readPackedFile, readPdfFile, readTextFile } from './read-documents.ts';
import {
  chromiumMark,
  type Dialect,
  dialects,
  fieldsOf,
  firefoxMark,
  itemReader,
  itemsWithin,
  kindOf,
  namedDialect,
  namedReader,
  plainName,
  readJsonLines,
  readKarakeep,
  readLinkwarden,
  readOmnivore,
  readTree,
} from './read-entries.ts';
import { type Browser, type HistoryFile, readHistory } from './read-history.ts';
import { isMhtml, isSavedPage, readMhtml, readSavedPage, readWarc } from './read-pages.ts';
import { isPropertyList, leafMark, readSafariBookmarks } from './read-property-list.ts';
import {
  isLinkList,
  isUrlList,
  lineMark,
  markdownMark,
  readMarkdownLinks,
  readRis,
  readUrls,
  risMark,
} from './read-references.ts';

export type FileKind = 'SQLite' | 'HTML' | 'XML' | 'JSON' | 'CSV' | 'text' | 'PDF' | 'ZIP' | 'WARC' | 'plist';

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
  /** Columns as named by the user; null: as detected. */
  columns: string | null;
  /** The text of another file of the export. */
  sibling(path: string): Promise<string | null>;
}

export interface FormatRow {
  format: ImportFormat;
  kind: FileKind;
  from: string;
  matches(head: FileHead): boolean;
  /** Matches the start of an entry (entry-marks.ts). Null for databases, whose rows are counted, and for pages. */
  mark: RegExp | null;
  read(file: SourceFile): AsyncIterable<ImportItem>;
}

type Sign = RegExp | ((text: string) => boolean);

const row = (
  format: ImportFormat,
  kind: FileKind,
  from: string,
  sign: Sign,
  mark: RegExp | null,
  read: FormatRow['read'],
): FormatRow => {
  const matches: FormatRow['matches'] = ({ text }) => (sign instanceof RegExp ? sign.test(text) : sign(text));
  return { format, kind, from, matches, mark, read };
};

const history = (browser: Browser, from: string): FormatRow => ({
  ...row(browser, 'SQLite', from, /^$/, null, ({ file }) => readHistory(file, browser)),
  matches: (head) => head.browser === browser,
});

const html = (format: ImportFormat, from: string, sign: RegExp, link: Parameters<typeof readBookmarks>[2]) =>
  row(format, 'HTML', from, sign, linkMark, ({ text, marks }) => readBookmarks(text(), marks, link));

/** Recognized by a unique set of columns, in lower case with spaces, as the functions of dialects use them. */
const csv = (format: ImportFormat, from: string, columns: string[], dialect: Dialect = dialects.usual): FormatRow => ({
  ...row(format, 'CSV', from, /^$/, rowMark, ({ text, head, name, marks }) =>
    readCsv(text(), { head: head.text, name, marks }, itemReader(dialect)),
  ),
  matches: (head) => columns.every((column) => head.columns.includes(column)),
});

/** Recognized by unique field names. */
function json(format: ImportFormat, from: string, fields: string[], dialect: Dialect = dialects.usual): FormatRow {
  const itemOfEntry = itemReader(dialect);
  return jsonBy(format, from, fields, dialect.mark ?? 'url', async function* (entries, file) {
    if (isJsonLines(file.head.text)) yield* readJsonLines(file, (entry) => [itemOfEntry(fieldsOf(entry))]);
    else for await (const entry of entries) yield itemOfEntry(fieldsOf(entry));
  });
}

type Read = (entries: AsyncIterable<unknown>, file: SourceFile) => AsyncIterable<ImportItem>;

function jsonBy(format: ImportFormat, from: string, fields: string[], mark: string, read: Read): FormatRow {
  const hasAll = (text: string) => fields.every((field) => text.includes(`"${field}"`));
  return row(format, 'JSON', from, hasAll, new RegExp(`"${mark}"\\s{0,100}:`, 'g'), (file) =>
    read(jsonElements(file.text(), file.name, file.marks), file),
  );
}

/** One object per line; the first may be longer than the head. Lists are an array of objects instead. */
function isJsonLines(text: string): boolean {
  const [line, next] = text.split('\n', 2);
  if (!line.startsWith('{')) return false;
  const isList = /"\s*:\s*\[\s*\{/.test(line);
  try {
    JSON.parse(line);
    return next?.startsWith('{') === true || !isList;
  } catch {
    return next === undefined && !isList;
  }
}

const addressField =
  /"(?:url|link|href|uri|address|website|page_?url|title_?url|(?:given|source|original|canonical)_?url|permalink)"\s{0,100}:\s{0,100}"https?:/gi;

const hasAddress = new RegExp(addressField, 'i');
/** As services export it for who has nothing there: `[]`, `{"bookmarks":[]}`. */
const isWithoutValues = (text: string): boolean => /^[\s[\]{},]+$/.test(text.replace(/"[^"\\]*"\s*:/g, ''));

async function* everyAddress(file: SourceFile): AsyncGenerator<ImportItem> {
  const { head, name, marks, columns } = file;
  if (isWithoutValues(head.text)) return;
  const itemOfNode = columns === null ? undefined : namedReader(await namedFields(head.text, columns));
  if (isJsonLines(head.text)) yield* readJsonLines(file, (entry) => itemsWithin(entry, itemOfNode));
  else for await (const entry of jsonElements(file.text(), name, marks)) yield* itemsWithin(entry, itemOfNode);
}

/** Fields of the first entry in `text`, the beginning of a JSON file. */
export async function fieldsIn(text: string): Promise<Omit<ImportColumn, 'is_read'>[]> {
  try {
    const [line] = text.split('\n', 1);
    for await (const entry of isJsonLines(text) ? [JSON.parse(line)] : jsonElements([text], ''))
      return leavesOf(fieldsOf(entry))
        .slice(0, maxFields)
        .map(([name, value]) => ({ name, example: [value].flat().map(scalarText).join(', '), is: kindOf(name) }));
  } catch {} // The beginning has no complete entry.
  return [];
}

const maxFields = 200;
const maxPathDepth = 3;

/** Fields by their paths: `a.b` is inside. */
const leavesOf = (entry: object, depth = 0): [path: string, value: unknown][] =>
  Object.entries(entry).flatMap(([name, value]): [string, unknown][] => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]];
    return depth === maxPathDepth ? [] : leavesOf(value, depth + 1).map(([path, leaf]) => [`${name}.${path}`, leaf]);
  });

async function namedFields(text: string, columns: string): Promise<Dialect> {
  const names = (await fieldsIn(text)).map(({ name }) => name);
  return namedDialect(columns, names, (at, name) => plainName(names[at] ?? name));
}

function readAnyCsv({ text, head, name, marks, columns }: SourceFile): AsyncGenerator<ImportItem> {
  const named = columns === null ? null : namedColumns(head.text, columns);
  const file = { head: head.text, name, marks, columns: named ?? addressColumns(head.text) };
  return readCsv(text(), file, named === null ? itemReader(dialects.usual) : namedReader(named.dialect));
}

export const textName = /(?:^|\/)[^./]+$|\.(?:md|markdown|txt|text)$/i;

/** Files of a folder that are pages, not lists. Alone, only Markdown is known by its name; others need a format. */
const ownText = "one's own Markdown, and in a folder HTML and text";
export const ownFileRow = row('files', 'text', ownText, /(?!)/, null, (file) =>
  textName.test(file.own.path) ? readTextFile(file) : readHtmlFile(file),
);

const anyCsv = 'any CSV or TSV with addresses: Matter, mymind, Readeck, Scuttle, History Trends, Google reading list …';
const anyJson = 'any JSON or JSON lines with addresses: GoodLinks, Tab Session Manager, Hister, Readeck …';
const isTree = /^(?=[\s\S]*"roots")[\s\S]*"bookmark_bar"/;
const isPosts = /^(?:<\?xml[^>]*>\s*)?<posts[\s>]/;
const isActivity = /^<html><head><title>[^<]*<\/title>(?=[\s\S]*(?:\bouter-cell\b|\.mdl-))/i;

/** The first match wins, so less specific formats come later. */
export const formatRows: readonly FormatRow[] = [
  history('chromium', 'history of Chrome, Chromium, Edge, Brave …: file History'),
  history('firefox', 'history and bookmarks of Firefox: file places.sqlite'),
  history('safari', 'history of Safari: file History.db'),
  html('pocket', 'Pocket, ril_export.html', /<a\s[^<>]*\btime_added=/i, pocketLink),
  html('instapaper', 'Instapaper, HTML', /<title>\s*Instapaper: Export/i, instapaperLink),
  html(
    'bookmarks',
    'bookmarks of browsers and of many services, HTML',
    /^<!doctype\s+netscape-bookmark-file-1|^(?!<!doctype|<html)<[\s\S]*<dt>\s*<(?:a|h3)\b/i,
    netscapeLink,
  ),
  row('chromium-bookmarks', 'JSON', 'bookmarks of Chrome and its like: file Bookmarks', isTree, chromiumMark, readTree),
  row(
    'firefox-bookmarks',
    'JSON',
    'backup of Firefox, bookmarks-DATE.json',
    /"text\/x-moz-place-c/,
    firefoxMark,
    readTree,
  ),
  row(
    'safari',
    'plist',
    'bookmarks and reading list of Safari: file Bookmarks.plist',
    /^/,
    leafMark,
    readSafariBookmarks,
  ),
  csv('pocket', 'Pocket, CSV', ['url', 'time_added']),
  csv('instapaper', 'Instapaper, CSV', ['url', 'selection', 'folder'], dialects.instapaper),
  csv('wallabag', 'Wallabag, CSV', ['url', 'mime type', 'creation date'], dialects.wallabagCsv),
  csv('raindrop', 'Raindrop.io, CSV', ['url', 'excerpt', 'folder', 'created']),
  csv('readwise', 'library of Readwise Reader, CSV', ['url', 'document tags', 'saved date']),
  csv('zotero', 'Zotero, CSV', ['item type', 'url', 'date added'], dialects.zotero),
  json('wallabag', 'Wallabag, JSON', ['is_archived', 'is_starred', 'url'], dialects.wallabag),
  json('wallabag', 'Wallabag 1, JSON', ['is_read', 'is_fav', 'url'], dialects.wallabag),
  json('pinboard', 'Pinboard, JSON', ['href', 'extended', 'toread'], dialects.pinboard),
  json('pinboard', 'Delicious, JSON', ['url', 'owner', 'others', 'created'], dialects.delicious),
  json('elcurator', 'elCurator, JSON', ['url', 'is_saved', 'created_at'], dialects.elcurator),
  json('readability', 'Readability, JSON', ['article__url'], dialects.readability),
  json('readwise', 'highlights of Readwise, JSON', ['user_book_id', 'highlights'], dialects.readwise),
  json('readwise', 'documents of Readwise Reader, JSON', ['reading_progress', 'source_url'], dialects.readwise),
  jsonBy('hypothesis', 'annotations of Hypothesis, JSON', ['uri', 'target', 'user'], 'uri', (all, { name }) =>
    readHypothesis(all, name),
  ),
  json('zotero', 'Zotero, JSON of Better BibTeX', ['itemType', 'dateAdded'], dialects.zotero),
  jsonBy('omnivore', 'Omnivore, its ZIP, folder, or metadata_*.json', ['savedAt', 'slug'], 'slug', (all, { sibling }) =>
    readOmnivore(all, sibling),
  ),
  jsonBy('linkwarden', 'Linkwarden, JSON', ['collections', 'links'], 'url', (entries, { again, name }) =>
    readLinkwarden(entries, jsonElements(again(), name)),
  ),
  json('linkding', 'linkding, JSON', ['tag_names', 'date_added']),
  jsonBy('karakeep', 'Karakeep (Hoarder), JSON', ['bookmarks', 'content'], 'content', (entries, { again, name }) =>
    readKarakeep(entries, jsonElements(again(), name)),
  ),
  json('zotero', 'CSL JSON of Zotero and its like', ['type', 'date-parts'], dialects.csl),
  json('google', 'Google Takeout, history of Chrome, JSON', ['Browser History', 'time_usec']),
  json('google', 'Google Takeout, YouTube and activities, JSON', ['titleUrl', 'products'], dialects.youtube),
  json('safari', 'history of a Safari export, JSON', ['history', 'time_usec']),
  json('reader', 'stars of Inoreader, FreshRSS or Feedly, JSON', ['origin', 'alternate'], dialects.reader),
  row('pinboard', 'XML', 'Delicious, Pinboard and Scuttle, XML', isPosts, postMark, (file) =>
    readElements(file, 'post', 'posts', dialects.pinboard),
  ),
  row('zotero', 'text', 'RIS of Zotero and its like', /^TY {2}- /, risMark, readRis),
  row('opml', 'XML', 'OPML: subscriptions of feed readers, outlines with links', isOpml, outlineMark, (file) =>
    readElements(file, 'outline', 'opml', dialects.opml),
  ),
  row('google', 'HTML', 'Google Takeout, YouTube and activities, HTML', isActivity, activityMark, readActivity),
  row('page', 'HTML', 'a page saved by SingleFile or a browser, HTML', isSavedPage, null, readSavedPage),
  row('page', 'text', 'a page saved as MHTML', isMhtml, null, readMhtml),
  row('warc', 'WARC', 'pages of a web archive: WARC, WACZ', /^/, null, readWarc),
  row('files', 'PDF', "one's own PDF", /^/, null, readPdfFile),
  row('files', 'ZIP', "one's own EPUB or DOCX", /^/, null, readPackedFile),
  row('csv', 'CSV', anyCsv, (text) => addressColumns(text) !== null, rowMark, readAnyCsv),
  row('json', 'JSON', anyJson, (text) => hasAddress.test(text) || isWithoutValues(text), addressField, everyAddress),
  row(
    'urls',
    'text',
    'a list of addresses, one a line, with titles or without; of OneTab',
    isUrlList,
    lineMark,
    readUrls,
  ),
  row('urls', 'text', 'a Markdown list of links', isLinkList, markdownMark, readMarkdownLinks),
  ownFileRow,
];

/** Recognized but unsupported files. `raw` is the file's start, one character per byte. */
export const refusals: readonly { matches(raw: string): boolean; is: string }[] = [
  {
    matches: (raw) => /^(?:\xef\xbb\xbf)?(?=[^\n]*\burl\b)(?:[^\n]*,)?"?password"?(?:,|\r?\n)/i.test(raw),
    is: 'passwords of a browser, which are not imported',
  },
  {
    matches: (raw) => /^(?:MANIFEST-\d+\n$|\d{4}(?:\/\d\d){2}-[\d:.]+ [\da-f]+ )/.test(raw),
    is: "part of a LevelDB, as browsers keep a reading list in: export Chrome's with Google Takeout",
  },
  {
    matches: (raw) => raw.startsWith('mozLz40\0'),
    is: "a compressed backup of Firefox's bookmarks: its library writes one as JSON (Import and Backup, Backup…)",
  },
  {
    matches: (raw) => isPropertyList(raw) && !raw.includes('WebBookmarkType'),
    is: "a property list of Apple without bookmarks: Safari's are in the file Bookmarks.plist",
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
