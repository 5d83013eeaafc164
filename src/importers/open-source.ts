/** Opens a file or export folder for import: its format, an id of its content, and its items in a stable order. */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { skipReason } from '../compute/import-progress.ts';
import { decodeText, EncodingGuess, streamDecoder } from '../compute/text/decode-text.ts';
import type { ImportFormat, ImportItem } from '../domain/import.ts';
import { EntryMarks } from './entry-marks.ts';
import { type FileHead, type FileKind, type FormatRow, formatRows, refusals } from './formats.ts';
import { ImportError, itemOf } from './item-parts.ts';
import { csvHead } from './read-csv.ts';
import { historyKind, visitsLeftOut } from './read-history.ts';

export interface ImportSource {
  format: ImportFormat;
  id: string;
  items(): AsyncGenerator<ImportItem>;
  isHistory: boolean;
  leftOut(): Promise<Record<string, number>>;
}

/** Enough for the head of every format: bookmark files may begin with comments. */
const headBytes = 64 * 1024;

/** `name` is for messages. Errors: ImportError for unreadable, unknown or mismatching files. */
export async function openSource(path: string, format: ImportFormat | null, name = path): Promise<ImportSource> {
  const files = filesOf(path, name);
  const heads = await Promise.all(files.map((file) => headOf(file, name)));
  const row = rowOf(heads[0], format, name);
  async function* items(): AsyncGenerator<ImportItem> {
    for (const [at, file] of files.entries()) {
      const marks = new EntryMarks(row.mark ?? /(?!)/g);
      const again = () => textOfFile(file);
      const text = () => passing(again(), (piece) => marks.add(piece));
      yield* row.read({ path: file, name: file === path ? name : file, head: heads[at], text, again, marks });
      for (const { line, count } of marks.lost()) {
        const lost = count === 1 ? '1 entry' : `${count} entries`;
        yield itemOf({ url: '', fault: `${lost} from line ${line} on could not be read` });
      }
    }
  }
  if (!row.matches(heads[0]) && !(await hasPage(items())))
    throw new ImportError(`${name} has no address of a page as ${row.format}`);
  const hash = createHash('sha256').update(`${row.format}\n`);
  const log = `${files[0]}-wal`;
  const hasLog = row.kind === 'SQLite' && statSync(log, { throwIfNoEntry: false }) !== undefined;
  for (const file of [...files, ...(hasLog ? [log] : [])])
    for await (const piece of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(piece);
  const { browser } = heads[0];
  return {
    format: row.format,
    id: hash.digest('hex').slice(0, 32),
    items,
    isHistory: browser !== null,
    leftOut: async () => (browser === null ? {} : visitsLeftOut(files[0], browser)),
  };
}

/** A folder means the lists of an Omnivore export, `metadata_*.json`. */
function filesOf(path: string, name: string): [string, ...string[]] {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined) throw new ImportError(`there is no ${name}`);
  if (!entry.isDirectory()) return [path];
  const names = readdirSync(path).filter((each) => /^metadata.*\.json$/.test(each));
  const numberIn = (each: string) => Number(/\d+/.exec(each)?.[0] ?? 0);
  const [first, ...rest] = names.sort((a, b) => numberIn(a) - numberIn(b)).map((each) => join(path, each));
  if (first === undefined)
    throw new ImportError(`${name} is a folder without metadata_*.json: name the file to import`);
  return [first, ...rest];
}

/** By content, or the named format if the content does not contradict it. */
function rowOf(head: FileHead, format: ImportFormat | null, name: string): FormatRow {
  const detected = formatRows.find((row) => head.kinds.includes(row.kind) && row.matches(head));
  if (detected !== undefined) {
    if (format === null || format === detected.format) return detected;
    throw new ImportError(`${name} is ${detected.format} by its content, not ${format}: leave the format out`);
  }
  if (format === null)
    throw new ImportError(
      `the format of ${name} is not recognised; known are ${[...new Set(formatRows.map((row) => row.format))].join(', ')}`,
    );
  const rows = formatRows.filter((row) => row.format === format);
  const row = rows.find(({ kind }) => head.kinds.includes(kind));
  if (row !== undefined) return row;
  const wanted = [...new Set(rows.map(({ kind }) => kind))].join(' or ');
  throw new ImportError(`${name} cannot be ${format}, which is ${wanted}`);
}

async function hasPage(items: AsyncIterable<ImportItem>): Promise<boolean> {
  for await (const item of items)
    if (item.fault === null && skipReason(item, { since: null, min_visits: 1 }) === null) return true;
  return false;
}

/** Errors: ImportError for files that are neither text nor database, or are unsupported. */
async function headOf(path: string, name: string): Promise<FileHead> {
  const bytes = await firstBytes(path);
  const raw = bytes.toString('latin1');
  const refused = refusals.find(({ matches }) => matches(raw));
  if (refused !== undefined) throw new ImportError(`${name} is ${refused.is}`);
  if (raw.startsWith('SQLite format 3\0')) {
    const browser = await historyKind(path);
    if (browser === null) throw new ImportError(`${name} is a database, but no history of Chromium, Firefox or Safari`);
    return { kinds: ['SQLite'], text: '', columns: [], browser };
  }
  // The detected signs are ASCII, so a wrong encoding here does no harm.
  const text = decodeText(bytes, null, true).text.trimStart();
  if (text === '') throw new ImportError(`${name} is empty`);
  if (text.includes('\0')) throw new ImportError(`${name} is neither text nor a database of a browser`);
  return { kinds: kindsOf(text), text, columns: csvHead(text).columns, browser: null };
}

/** CSV and text are recognized by content; markup and JSON by their first characters. */
function kindsOf(text: string): FileKind[] {
  if (text.startsWith('<')) return ['HTML', 'XML'];
  return /^[[{]/.test(text) ? ['JSON'] : ['CSV', 'text'];
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const pieceBytes = 1 << 18;

async function* passing(pieces: AsyncIterable<string>, show: (piece: string) => void): AsyncGenerator<string> {
  for await (const piece of pieces) {
    show(piece);
    yield piece;
  }
}

/** The file's text without a byte order mark, with line feeds, in pieces. Read twice: detecting the encoding needs all of it. */
async function* textOfFile(file: string): AsyncGenerator<string> {
  const pieces = () => createReadStream(file, { highWaterMark: pieceBytes });
  const guess = new EncodingGuess(null, true);
  for await (const piece of pieces()) guess.add(piece);
  const decoder = streamDecoder(guess.encoding());
  /** A final carriage return may be half of a line end. */
  let held = '';
  const lines = (text: string) => {
    const whole = held + text;
    held = whole.endsWith('\r') ? '\r' : '';
    return whole.slice(0, whole.length - held.length).replace(/\r\n?/g, '\n');
  };
  for await (const piece of pieces()) yield lines(decoder.next(piece));
  yield lines(decoder.end()) + held.replace('\r', '\n');
}
