/** Opens a file, a ZIP archive or a folder for import: its format, an id of its content, and its items in a stable order. */

import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join, posix, resolve } from 'node:path';
import { skipReason } from '../compute/import-progress.ts';
import { decodeText, EncodingGuess, streamDecoder } from '../compute/text/decode-text.ts';
import { errorCode } from '../domain/errors.ts';
import type { ImportColumn, ImportFormat, ImportItem } from '../domain/import.ts';
import { EntryMarks } from './entry-marks.ts';
import {
  type FileHead,
  type FileKind,
  type FormatRow,
  fieldsIn,
  formatRows,
  ownFileRow,
  refusals,
  textName,
} from './formats.ts';
import { ImportError, itemOf, wholeText } from './item-parts.ts';
import {
  type ArchiveEntry,
  archiveEntries,
  type Bytes,
  fileArchive,
  gunzipped,
  maxFiles,
  tooManyFiles,
  withInnerEntries,
} from './read-archive.ts';
import { addressColumns, columnsIn, csvHead } from './read-csv.ts';
import { isRead } from './read-entries.ts';
import { type Browser, historyKind, visitsLeftOut } from './read-history.ts';
import { isPropertyList } from './read-property-list.ts';

export interface ImportSource {
  format: ImportFormat;
  id: string;
  items(): AsyncGenerator<ImportItem>;
  isHistory: boolean;
  /** Columns of a CSV or JSON file of an unknown program. */
  columns: readonly ImportColumn[];
  /** Own files only: their import can be repeated, because unchanged files have no effect. */
  isOwn: boolean;
  /** For a folder: the files that are not skipped. */
  files?: KnownFiles | undefined;
  leftOut(): Promise<Record<string, number>>;
  /** File and line of the item that was read last. */
  place?: () => string;
}

/** Name of each file → its size and times. A change always alters one of them. */
export type KnownFiles = ReadonlyMap<string, string>;

/** Enough for the head of every format: bookmark files may begin with comments. */
const headBytes = 64 * 1024;

/** `name`: path in the folder or archive, or the file's name. */
interface Member extends ArchiveEntry {
  /** Time of the last change, ms. */
  at: number | null;
  /** Null within an archive. */
  path: string | null;
}

type Used = { member: Member; row: FormatRow };
type Unused = { file: string; reason: string; isFault?: boolean };

/**
 * `name` is for messages; `columns`: see `namedDialect`; `known`: files of a folder to leave out.
 * Errors: ImportError for unreadable, unknown or mismatching files.
 */
export async function openSource(
  path: string,
  format: ImportFormat | null,
  name = path,
  columns: string | null = null,
  known?: KnownFiles,
): Promise<ImportSource> {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined) throw new ImportError(`there is no ${name}`);
  const isFolder = entry.isDirectory();
  const { members, unread, files } = isFolder
    ? await membersOfFolder(path, name, known ?? new Map())
    : { members: await membersOf(path, basename(name), name), unread: [], files: undefined };
  const [first] = members;
  const byName = new Map(members.map((member) => [member.name, member]));
  const isFile = !isFolder && members.length === 1 && first.size === entry.size && first.name === basename(name);
  // A single file must have a known format.
  const only = isFile ? await recognized(await headOf(first, name), format, name, columns) : null;
  if (only === null && columns !== null)
    throw new ImportError(`${name} is no single file: its columns cannot be named`);
  const { used, unused } =
    only === null
      ? await usable(members, unread, isFolder, format)
      : { used: [{ member: first, row: only.row }], unused: [] };
  const isEmptyArchive = !isFolder && members.length === 0;
  if (used.length === 0 && known === undefined && !isEmptyArchive) {
    const isRefused = ({ reason }: Unused) => refusals.some(({ is }) => reason === `${unnamed} is ${is}`);
    const { reason } = unused.find(isRefused) ?? unused[0] ?? { reason: 'it has no files' };
    throw new ImportError(`${name} has no file of ${format ?? 'a known format'}: ${reason}`);
  }
  let place = { file: name, marks: new EntryMarks(/(?!)/g) };
  /** Separates files of one name: the command's by path, uploaded ones by content. A folder is known by its name. */
  let ownFolder =
    isFolder || name !== path ? '' : `${createHash('sha256').update(realpathSync(path)).digest('hex').slice(0, 8)}/`;

  const itemsOf = async function* ({ member, row }: Used): AsyncGenerator<ImportItem> {
    const marks = new EntryMarks(row.mark ?? /(?!)/g);
    const label = only === null ? `${name}, ${member.name}` : name;
    place = { file: label, marks };
    const again = () => textOf(member.bytes);
    const text = () => passing(again(), (piece) => marks.add(piece));
    const own = {
      path: ownFolder + (only === null ? `${basename(resolve(name))}/${member.name}` : basename(name)),
      at: member.at,
      bytes: member.bytes,
    };
    const sibling = (file: string) => siblingText(byName, member, file);
    const head = only?.head ?? (await headOf(member, label));
    const file = member.path ?? member.bytes;
    yield* row.read({ file, name: label, head, text, again, marks, own, columns, sibling });
    for (const { line, count } of marks.lost()) {
      const lost = count === 1 ? '1 entry' : `${count} entries`;
      yield itemOf({ url: '', fault: `${lost} from line ${line} on could not be read` });
    }
  };
  const items = async function* (): AsyncGenerator<ImportItem> {
    for (const each of used) {
      try {
        for await (const item of itemsOf(each))
          yield item.fault === null || only !== null ? item : { ...item, fault: `${each.member.name}: ${item.fault}` };
      } catch (error) {
        // A failure of one file does not affect the others.
        if (only !== null) throw error;
        yield itemOf({ url: '', fault: namedFault(each.member.name, reasonOf(error)) });
      }
    }
    for (const { file, reason, isFault } of unused) {
      place = { file: `${name}, ${file}`, marks: new EntryMarks(/(?!)/g) };
      yield isFault
        ? itemOf({ url: '', fault: namedFault(file, reason) })
        : { ...itemOf({ url: '', title: file }), left_out: reason };
    }
  };
  const formats = new Set(used.map(({ row }) => row.format));
  for (const any of ['json', 'csv', 'urls'] as const) if (formats.size > 1) formats.delete(any);
  const [common] = formats;
  const own = formats.size === 1 ? common : 'files';
  const isForced = only !== null && (columns !== null || !only.row.matches(only.head));
  if (isForced && !(await hasPage(items()))) {
    const error = new ImportError(`${name} has no address of a page as ${own}`);
    throw Object.assign(error, { columns: only.columns });
  }
  const hash = createHash('sha256').update(`${own}\n${columns ?? ''}`);
  for (const { member, row } of used) {
    if (only === null) hash.update(`${member.name}\n`);
    try {
      for await (const piece of member.bytes()) hash.update(piece);
    } catch (error) {
      // The fault ends the items of this file.
      if (only !== null) throw error;
      hash.update(`${reasonOf(error)}\n`);
    }
    const log = `${member.path}-wal`;
    const hasLog = row.kind === 'SQLite' && statSync(log, { throwIfNoEntry: false }) !== undefined;
    if (hasLog) for await (const piece of createReadStream(log, { highWaterMark: 1 << 20 })) hash.update(piece);
  }
  const histories = used.filter((each) => each.row.kind === 'SQLite');
  const id = hash.digest('hex').slice(0, 32);
  if (!isFolder && name !== path) ownFolder = `${id.slice(0, 8)}/`;
  return {
    format: own,
    id,
    items,
    isHistory: used.length > 0 && histories.length === used.length,
    columns: only?.columns ?? [],
    isOwn: used.some(({ row }) => row.format === 'files'),
    files,
    leftOut: async () => {
      const counts: Record<string, number> = {};
      for (const { member, row: of } of histories) {
        const left = await visitsLeftOut(member.path ?? member.bytes, of.format as Browser);
        for (const [reason, count] of Object.entries(left)) counts[reason] = (counts[reason] ?? 0) + count;
      }
      return counts;
    },
    place: () => (place.marks.line === 0 ? place.file : `${place.file}, line ${place.marks.line}`),
  };
}

/** Skips hidden files, links and `known` files. An unreadable file or folder is a fault of its own. */
async function membersOfFolder(path: string, name: string, known: KnownFiles) {
  const files: string[] = [];
  const unread: Unused[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for (const each of readdirSync(join(path, folder), { withFileTypes: true })) {
        if (each.name.startsWith('.')) continue;
        const file = posix.join(folder, each.name);
        if (each.isDirectory()) folders.push(file);
        else if (each.isFile()) files.push(file);
      }
    } catch (error) {
      unread.push({ file: folder === '' ? name : folder, reason: reasonOf(error), isFault: true });
    }
    if (files.length > maxFiles) throw tooManyFiles(name);
  }
  const changed = new Map(files.map((file) => [file, stateOf(join(path, file))]));
  for (const [file, state] of changed) if (known.get(file) === state) changed.delete(file);
  const members: Member[] = [];
  for (const file of [...changed.keys()].sort(inOrder)) {
    try {
      for (const each of await membersOf(join(path, file), file, file))
        members.push(each.name === file ? each : { ...each, name: `${file}/${each.name}` });
    } catch (error) {
      unread.push({ file, reason: reasonOf(error), isFault: true });
    }
    if (members.length > maxFiles) throw tooManyFiles(name);
  }
  return { members, unread, files: changed };
}

/** Read before the content, so that a change during the import is noticed the next time. */
function stateOf(path: string): string {
  try {
    const { size, mtimeMs, ctimeMs } = statSync(path);
    return `${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return ''; // reading it reports why
  }
}

/** The reason, also of a system error such as a missing permission. Throws all other errors. */
function reasonOf(error: unknown): string {
  if (error instanceof ImportError) return error.message;
  const code = errorCode(error);
  if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) throw error;
  return `it cannot be read (${code})`;
}

const namedFault = (file: string, reason: string): string => (reason.includes(file) ? reason : `${file}: ${reason}`);

const inOrder = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/** Files of an inner archive stay together, because only one inner archive is in memory. */
const archiveOf = ({ name }: { name: string }) => /^.*?\.zip\//i.exec(name)?.[0] ?? '';

/** A file, unpacked; or the files of a ZIP archive that is not itself a document. */
async function membersOf(path: string, name: string, source: string): Promise<Member[]> {
  const { size, mtimeMs } = statSync(path);
  const at = Math.trunc(mtimeMs);
  const file: Member = { name, size, at, path, bytes: () => createReadStream(path, { highWaterMark: pieceBytes }) };
  const raw = (await firstBytes(file)).toString('latin1');
  if (raw.startsWith('\x1f\x8b')) return [unpacked(file)];
  if (!(raw.startsWith('PK\x03\x04') || raw.startsWith('PK\x05\x06')) || isPackedDocument(raw)) return [file];
  const entries = await withInnerEntries(await archiveEntries(fileArchive(path, size), source), size, source);
  return entries
    .map((entry) => ({ ...entry, at, path: null }))
    .map((entry) => (/\.gz$/i.test(entry.name) ? unpacked(entry, Math.min(entry.size, size)) : entry))
    .sort(
      (a, b) => Number(archiveOf(a) > archiveOf(b)) - Number(archiveOf(a) < archiveOf(b)) || inOrder(a.name, b.name),
    );
}

/** `packed`: bytes that limit its unpacked size; for a file of an archive, at most those of the archive. */
const unpacked = (member: Member, packed = member.size): Member => ({
  ...member,
  path: null,
  bytes: gunzipped(member.bytes, packed, member.name),
});

const isPackedDocument = (raw: string): boolean =>
  raw.startsWith('PK\x03\x04') && /mimetypeapplication\/epub\+zip|\[Content_Types\]\.xml|word\/document\.xml/.test(raw);

const isOfBrowser = ({ kind, format }: FormatRow) => kind === 'SQLite' || /^\w+-bookmarks$/.test(format);

/** Selects files to read. Lists in a web archive repeat its pages; texts next to lists describe them; of a browser's profile, only history and bookmarks. */
async function usable(
  members: readonly Member[],
  unread: readonly Unused[],
  isFolder: boolean,
  format: ImportFormat | null,
) {
  const unused: Unused[] = [...unread];
  const found: Used[] = [];
  for (const member of members) {
    try {
      const head = await headOf(member, unnamed);
      const list = detected(head);
      const isNote = isFolder && list?.format === 'urls' && textName.test(member.name) && !isMostlyLinks(head.text);
      const row = isNote ? ownFileRow : (list ?? (isOwnText(head, member.name) ? ownFileRow : undefined));
      if (row === undefined) unused.push({ file: member.name, reason: 'a file of no known format' });
      else found.push({ member, row });
    } catch (error) {
      const reason = reasonOf(error);
      unused.push({ file: member.name, reason, isFault: !reason.startsWith(unnamed) });
    }
  }
  const has = (wanted: string) => found.some(({ row }) => row.format === wanted);
  const only = format ?? (isFolder ? undefined : ['omnivore', 'warc'].find(has));
  const hasLists = !isFolder && found.some(({ row }) => row.format !== 'files');
  const partsOfLists = found
    .filter(({ row }) => row.format === 'omnivore')
    .flatMap(({ member }) => ['content/', 'highlights/'].map((dir) => posix.join(posix.dirname(member.name), dir)));
  const listParts = [...new Set(partsOfLists)];
  const isOfList = (file: string) => listParts.some((dir) => file.startsWith(dir));
  const lists = found.filter(({ row }) => isOfBrowser(row)).map(({ member }) => member.name);
  const profiles = members
    .flatMap(({ name }) => /^(.*\/|)(?:Preferences|Local State|prefs\.js)$/.exec(name)?.[1] ?? [])
    .filter((dir) => lists.some((name) => name.startsWith(dir)));
  const isUsed = (each: Used) =>
    (only === undefined || each.row.format === only) &&
    (isOfBrowser(each.row) || !profiles.some((dir) => each.member.name.startsWith(dir))) &&
    !(hasLists && each.row === ownFileRow) &&
    !isOfList(each.member.name);
  const used = found.filter(isUsed);
  for (const each of found)
    if (!isUsed(each)) unused.push({ file: each.member.name, reason: 'not read with the others' });
  return { used, unused: only === 'omnivore' ? [] : unused.filter(({ file }) => !isOfList(file)) };
}

/** Reasons are grouped and counted, so they name no file. */
const unnamed = 'the file';

/** Whether a text is a list of links, not a note with links. */
function isMostlyLinks(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.filter((line) => /https?:/i.test(line)).length >= 0.8 * lines.length;
}

const isOwnText = ({ kinds, text }: FileHead, name: string): boolean =>
  textName.test(name) || (kinds.includes('HTML') && /<(?:!doctype html|html|body|h1|p)\b/i.test(text));

async function siblingText(members: ReadonlyMap<string, Member>, member: Member, file: string): Promise<string | null> {
  const name = posix.join(posix.dirname(member.name), file);
  const path = member.path === null ? null : join(member.path, '..', file);
  const isThere = path !== null && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const bytes = members.get(name)?.bytes ?? (isThere ? () => createReadStream(path) : null);
  if (bytes === null) return null;
  return wholeText(textOf(bytes), name);
}

const detected = (head: FileHead): FormatRow | undefined =>
  formatRows.find((row) => head.kinds.includes(row.kind) && row.matches(head));

/** The format by content, or the named format unless the content contradicts it. */
function rowOf(head: FileHead, format: ImportFormat | null, name: string): FormatRow {
  const found = detected(head);
  const isNamed = found !== undefined && (format === null || format === found.format);
  if (isNamed) return found;
  if (format === null && head.kinds.includes('text') && /\.(?:md|markdown)$/i.test(name)) return ownFileRow;
  if (format === null)
    throw new ImportError(
      `the format of ${name} is not recognised; known are ${[...new Set(formatRows.map((row) => row.format))].join(', ')}`,
    );
  // CSV and JSON may come from any program.
  if (found !== undefined && found.format !== 'csv' && found.format !== 'json')
    throw new ImportError(`${name} is ${found.format} by its content, not ${format}: leave the format out`);
  const rows = formatRows.filter((row) => row.format === format);
  const row = rows.find(({ kind }) => head.kinds.includes(kind));
  if (row !== undefined) return row;
  const wanted = [...new Set(rows.map(({ kind }) => kind))].join(' or ');
  throw new ImportError(`${name} cannot be ${format}, which is ${wanted}`);
}

const maxExampleChars = 200;

/** The row of a single file, and the columns that a user may name. Errors: ImportError, with these columns. */
async function recognized(head: FileHead, format: ImportFormat | null, name: string, named: string | null) {
  const isJson = head.kinds.includes('JSON');
  const found = isJson ? await fieldsIn(head.text) : head.kinds.includes('CSV') ? columnsIn(head.text) : [];
  const columns = found.map((each) => ({
    ...each,
    example: each.example.slice(0, maxExampleChars),
    is_read: each.is !== null || isRead(each.name),
  }));
  try {
    if (named !== null && format !== null && format !== (isJson ? 'json' : 'csv'))
      throw new ImportError(`columns are named of a CSV or JSON of any program: leave the format ${format} out`);
    if (named !== null && columns.length === 0) throw new ImportError(`${name} has no columns that can be named`);
    const plain = formatRows.find((row) => row.format === (isJson ? 'json' : 'csv'));
    const row = (named !== null && plain) || rowOf(head, format, name);
    const isAny = row.format === 'csv' || row.format === 'json';
    if (named === null && row.format === 'csv' && addressColumns(head.text)?.isUnclear)
      throw new ImportError(`${name} has addresses in several columns: it is unclear which are those of its pages`);
    return { head, row, columns: isAny ? columns : [] };
  } catch (error) {
    throw error instanceof ImportError ? Object.assign(error, { columns }) : error;
  }
}

async function hasPage(items: AsyncIterable<ImportItem>): Promise<boolean> {
  for await (const item of items)
    if (item.fault === null && skipReason(item, { since: null, min_visits: 1 }) === null) return true;
  return false;
}

/** Errors: ImportError if the file is neither text nor database, or not supported. */
async function headOf(member: Member, name: string): Promise<FileHead> {
  const bytes = await firstBytes(member);
  const raw = bytes.toString('latin1');
  const refused = refusals.find(({ matches }) => matches(raw));
  if (refused !== undefined) throw new ImportError(`${name} is ${refused.is}`);
  const binary = { text: '', columns: [], browser: null };
  if (raw.startsWith('SQLite format 3\0')) {
    const browser = await historyKind(member.path ?? member.bytes);
    if (browser === null) throw new ImportError(`${name} is a database, but no history of Chromium, Firefox or Safari`);
    return { ...binary, kinds: ['SQLite'], browser };
  }
  if (isPropertyList(raw)) return { ...binary, kinds: ['plist'], text: raw.startsWith('bplist0') ? '' : raw };
  if (/^\s*%PDF-/.test(raw)) return { ...binary, kinds: ['PDF'] };
  if (/^WARC\/\d/.test(raw)) return { ...binary, kinds: ['WARC'] };
  if (isPackedDocument(raw)) return { ...binary, kinds: ['ZIP'] };
  if (raw.startsWith('PK\x03\x04')) throw new ImportError(`${name} is an archive in an archive: unpack it first`);
  // The signs are ASCII, so a wrong encoding has no effect here.
  const text = decodeText(bytes, null, true).text.trimStart();
  if (text === '') throw new ImportError(`${name} is empty`);
  if (text.includes('\0')) throw new ImportError(`${name} is neither text nor a database of a browser`);
  return { kinds: kindsOf(text), text, columns: csvHead(text).columns, browser: null };
}

/** CSV and text are recognized by content; markup and JSON by their first characters. */
function kindsOf(text: string): FileKind[] {
  if (text.startsWith('<')) return ['HTML', 'XML', 'text'];
  return /^[[{]/.test(text) ? ['JSON', 'text'] : ['CSV', 'text'];
}

async function firstBytes({ bytes }: Member): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const piece of bytes()) {
    parts.push(piece);
    length += piece.length;
    if (length >= headBytes) break;
  }
  return Buffer.concat(parts).subarray(0, headBytes);
}

const pieceBytes = 1 << 18;

async function* passing(pieces: AsyncIterable<string>, show: (piece: string) => void): AsyncGenerator<string> {
  for await (const piece of pieces) {
    show(piece);
    yield piece;
  }
}

/** A file's text without byte order mark, with line feeds. Reads twice: detecting the encoding needs the whole file. */
async function* textOf(bytes: Bytes): AsyncGenerator<string> {
  const guess = new EncodingGuess(null, true);
  for await (const piece of bytes()) guess.add(piece);
  const decoder = streamDecoder(guess.encoding());
  /** A final carriage return may be the first half of a line end. */
  let held = '';
  const lines = (text: string) => {
    const whole = held + text;
    held = whole.endsWith('\r') ? '\r' : '';
    return whole.slice(0, whole.length - held.length).replace(/\r\n?/g, '\n');
  };
  for await (const piece of bytes()) yield lines(decoder.next(piece));
  yield lines(decoder.end()) + held.replace('\r', '\n');
}
