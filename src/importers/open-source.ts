/**
 * A file (or an export's folder) that is to be imported: which format it is in, what identifies its content, and its items, in the
 * same order at each reading. The content is told by its first bytes; a name says nothing.
 */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { decodeText } from '../compute/text/decode-text.ts';
import type { ImportFormat, ImportItem } from '../domain/import.ts';
import { ImportError } from './import-error.ts';
import { jsonElements } from './json-elements.ts';
import { readBookmarks } from './read-bookmarks.ts';
import { csvHead, readInstapaper, readPocket } from './read-csv.ts';
import { historyKind, readChromium, readFirefox } from './read-history.ts';
import { readKarakeep, readLinkding, readLinkwarden, readOmnivore } from './read-json.ts';
import { readUrls } from './read-urls.ts';
import { textOfFile } from './text-of-file.ts';

export interface ImportSource {
  format: ImportFormat;
  /** Of the content and the format: the same for the same file wherever it lies. */
  id: string;
  items(): AsyncGenerator<ImportItem>;
}

/** Enough for the head of every format: bookmark files may have comments before their first link. */
const headBytes = 64 * 1024;

/** Errors: ImportError for what cannot be read or told. */
export async function openSource(path: string, format: ImportFormat | null): Promise<ImportSource> {
  const files = filesOf(path);
  if ((await headOf(files[0])).toString('latin1').startsWith('PK\x03\x04'))
    throw new ImportError(`${path} is a ZIP archive: unpack it first`);
  const detected = format ?? (await detectFormat(files[0]));
  const hash = createHash('sha256').update(`${detected}\n`);
  for (const file of files)
    for await (const piece of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(piece);
  if (detected === 'chromium' || detected === 'firefox') {
    const log = `${files[0]}-wal`;
    if (statSync(log, { throwIfNoEntry: false }) !== undefined) {
      for await (const piece of createReadStream(log)) hash.update(piece);
    }
  }
  return { format: detected, id: hash.digest('hex').slice(0, 32), items: () => readFiles(files, detected) };
}

/** A folder stands for the lists of an Omnivore export, `metadata_*.json`. */
function filesOf(path: string): [string, ...string[]] {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined) throw new ImportError(`there is no ${path}`);
  if (!entry.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => /^metadata.*\.json$/.test(name));
  const numberIn = (name: string) => Number(/\d+/.exec(name)?.[0] ?? 0);
  const [first, ...rest] = names.sort((a, b) => numberIn(a) - numberIn(b)).map((name) => join(path, name));
  if (first === undefined)
    throw new ImportError(`${path} is a folder without metadata_*.json: name the file to import`);
  return [first, ...rest];
}

async function* readFiles(files: readonly string[], format: ImportFormat): AsyncGenerator<ImportItem> {
  for (const file of files) {
    const text = () => textOfFile(file);
    const entries = () => jsonElements(text(), file);
    const csv = async () => ({
      pieces: text(),
      delimiter: csvHead(headText(await headOf(file))).delimiter,
      name: file,
    });
    switch (format) {
      case 'bookmarks':
        yield* readBookmarks(text());
        break;
      case 'chromium':
        yield* readChromium(file);
        break;
      case 'firefox':
        yield* readFirefox(file);
        break;
      case 'pocket':
        yield* readPocket(await csv());
        break;
      case 'instapaper':
        yield* readInstapaper(await csv());
        break;
      case 'omnivore':
        yield* readOmnivore(entries(), contentBeside(file));
        break;
      case 'karakeep':
        yield* readKarakeep(entries());
        break;
      case 'linkding':
        yield* readLinkding(entries());
        break;
      case 'linkwarden':
        yield* readLinkwarden(entries());
        break;
      case 'urls':
        yield* readUrls(text());
        break;
    }
  }
}

function contentBeside(file: string): string | null {
  const dir = join(dirname(file), 'content');
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true ? dir : null;
}

async function detectFormat(path: string): Promise<ImportFormat> {
  const bytes = await headOf(path);
  if (bytes.toString('latin1').startsWith('SQLite format 3\0')) {
    const kind = await historyKind(path);
    if (kind === null) throw new ImportError(`${path} is a database, but no history of Chromium or Firefox`);
    return kind;
  }
  const text = headText(bytes).trimStart();
  if (/^<!doctype\s+netscape-bookmark-file-1/i.test(text)) return 'bookmarks';
  const format = /^[[{]/.test(text) ? jsonFormat(text) : (csvFormat(text) ?? urlsFormat(text));
  if (format !== null) return format;
  throw new ImportError(`the format of ${path} is not recognised: name it with --format`);
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** What tells the format is ASCII, so that a wrong guess from the beginning alone does no harm. */
const headText = (head: Buffer): string => decodeText(head, null, true).text;

/** By field names that only one of them has. */
function jsonFormat(head: string): ImportFormat | null {
  const has = (name: string) => head.includes(`"${name}"`);
  if (has('savedAt') && has('slug')) return 'omnivore';
  if (has('collections') && has('links')) return 'linkwarden';
  if (has('tag_names') && has('date_added')) return 'linkding';
  return has('bookmarks') && has('content') ? 'karakeep' : null;
}

function csvFormat(head: string): ImportFormat | null {
  const { columns } = csvHead(head);
  const has = (...names: string[]) => names.every((name) => columns.includes(name));
  if (has('url', 'time_added')) return 'pocket';
  return has('url', 'selection', 'folder') ? 'instapaper' : null;
}

function urlsFormat(head: string): ImportFormat | null {
  const first = head.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#'));
  return first !== undefined && /^https?:\/\/\S+$/i.test(first.trim()) ? 'urls' : null;
}
