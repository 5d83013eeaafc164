/** CSV exports, one page per row. The first line shows the delimiter; column names are compared in lower case. */
import type { ImportColumn, ImportItem } from '../domain/import.ts';
import type { EntryMarks } from './entry-marks.ts';
import { ImportError, lostItem } from './item-parts.ts';
import { type Dialect, dialects, itemReader, kindOf, namedDialect } from './read-entries.ts';

type Row = Record<string, string | undefined>;

/** Locales with decimal commas use semicolons, and some programs use tabs. */
const delimiters = [',', ';', '\t'];
/** The start or continuation of a row. */
export const rowMark = /(?<=\n)[^\n]/g;
/** Max characters of a record, which may contain a page. */
const maxRecordChars = 64 * 2 ** 20;
/** Max lines of an incomplete record: an unclosed quotation mark swallows all following lines. */
const maxOpenLines = 100_000;

/** Columns and delimiter of the first non-empty line. The delimiter that gives most columns is right. */
export function csvHead(text: string): { columns: string[]; delimiter: string } {
  const line = /[^\r\n]+/.exec(text)?.[0] ?? '';
  const possible = /^https?:[^\t]*\t/i.test(line) ? ['\t'] : delimiters;
  const heads = possible.map((delimiter) => ({ columns: line.split(delimiter).map(columnName), delimiter }));
  return heads.reduce((best, head) => (head.columns.length > best.columns.length ? head : best));
}

const columnName = (text: string): string =>
  text
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .trim()
    .toLowerCase();

const dateField = /^U?\d{10,18}(?:\.\d+)?$|^\d{4}-\d\d-\d\d/;

/** Columns of a file whose first line is a row: the address, the first date, and the last text. */
function guessedColumns(row: readonly string[]): string[] {
  const url = row.findIndex(isAddress);
  const at = row.findIndex((field, index) => index !== url && dateField.test(field));
  const title = row.findLastIndex((field, index) => index !== url && index !== at && /\p{L}/u.test(field));
  return row.map((_, index) => (index === url ? 'url' : index === at ? 'date' : index === title ? 'title' : ''));
}

const isAddress = (text: string): boolean => /^\s*https?:\/\/\S+\s*$/i.test(text);

export interface Columns {
  names: string[];
  isHeaded: boolean;
  /** Whether several columns may contain the addresses. */
  isUnclear?: boolean;
}

/** The first rows of a table of equal rows in `text`, the beginning of a file; empty for other files. */
function firstRows(text: string): string[][] {
  const { delimiter } = csvHead(text);
  const lines = text.replace(/\r\n?/g, '\n');
  const rows: string[][] = [];
  for (let at = 0; at < lines.length && rows.length < 5; at++) {
    if (lines[at] === '\n') continue;
    const row = wholeRecord(lines, at, delimiter);
    if (typeof row === 'string') break;
    if (row.end < lines.length || rows.length === 0) rows.push(row.fields.map((field) => field.trim()));
    at = row.end;
  }
  return rows.some(({ length }) => length !== rows[0].length) ? [] : rows;
}

/** Columns of any CSV with addresses, by names or first rows of `text`, its beginning; null for other files. */
export function addressColumns(text: string): Columns | null {
  const rows = firstRows(text);
  const [first = [], ...others] = rows;
  if (first.some(isAddress)) {
    const names = guessedColumns(first);
    const isTable =
      csvHead(text).delimiter === '\t' || names.includes('date') || rows.flat().some((field) => /\S\s/.test(field));
    return first.length > 1 && isTable ? { names, isHeaded: false } : null;
  }
  const names = first.map(columnName);
  const urlOf = (row: readonly string[]) => usualItem(Object.fromEntries(names.map((name, at) => [name, row[at]]))).url;
  const isEmpty = others.length === 0 && names.some((name) => /^(?:url|link|href|uri)$/.test(name));
  if (isEmpty || others.some((row) => isAddress(urlOf(row)))) return { names, isHeaded: true };
  const [found, ...more] = [...names.keys()].filter((at) => others.some((row) => isAddress(row[at])));
  if (found === undefined || first.length === 1) return null;
  return { names: names.with(found, 'url'), isHeaded: true, isUnclear: more.length > 0 };
}

/** Columns as named by the user (`namedDialect`). Errors: ImportError for a missing column. */
export function namedColumns(text: string, named: string): Columns & { dialect: Dialect } {
  const { columns } = csvHead(text);
  const isHeaded = !columns.some(isAddress);
  const names = columns.map((name) => (isHeaded ? name : ''));
  const dialect = namedDialect(named, isHeaded ? columns : [], (at, column) => {
    if (names[at] === undefined) throw new ImportError(`there is no column ${column}`);
    names[at] = `column${at}`;
    return names[at];
  });
  return { names, isHeaded, dialect };
}

/** Columns of a table with at least two columns and rows, or with addresses; empty for other files. */
export function columnsIn(text: string): Omit<ImportColumn, 'is_read'>[] {
  const rows = firstRows(text);
  const [first = []] = rows;
  const isHeaded = !first.some(isAddress);
  if (first.length < 2 || (isHeaded && rows.length < 2)) return [];
  const read = addressColumns(text)?.names ?? [];
  return first.map((name, at) => ({
    name: isHeaded ? name : `${at + 1}`,
    example: (isHeaded ? rows[1] : first)[at],
    is: kindOf(read[at] ?? ''),
  }));
}

const usualItem = itemReader(dialects.usual);

interface CsvFile {
  head: string;
  name: string;
  /** By default, columns of the first line. */
  columns?: Columns | null;
  marks: Pick<EntryMarks, 'reached'>;
}

/** Rows by column name; they may have too few or too many fields. Errors: ImportError for a line that is too long. */
export async function* readCsv(
  pieces: AsyncIterable<string>,
  { head, name, columns: known = null, marks }: CsvFile,
  itemOfRow: (row: Row) => ImportItem,
): AsyncGenerator<ImportItem> {
  let columns: string[] | null = known?.isHeaded === false ? known.names : null;
  /** Lines after a damaged row belong to it, until a line has the right number of fields or an address. */
  let isDamaged = false;
  for await (const record of csvRecords(pieces, csvHead(head).delimiter, name)) {
    const { fields, line } = record;
    marks.reached(record.start, record.end);
    if (fields === null) {
      isDamaged = true;
      yield lostItem(line, 'a quotation mark is out of place or not closed');
      continue;
    }
    if (columns === null) {
      columns = known?.names ?? fields.map(columnName);
      continue;
    }
    isDamaged &&= fields.length !== columns.length && !fields.some((field) => field.includes('://'));
    if (isDamaged) continue;
    yield itemOfRow(Object.fromEntries(columns.map((column, at) => [column, fields[at]])));
  }
}

interface CsvRecord {
  /** Null if the quotation marks lead to a wrong number of fields. */
  fields: string[] | null;
  line: number;
  start: number;
  end: number;
}

/** Non-empty records, in linear time. If a mark is unclosed, or closed by a later record, the record is one line. */
async function* csvRecords(pieces: AsyncIterable<string>, delimiter: string, name: string): AsyncGenerator<CsvRecord> {
  let buffer = '';
  let base = 0;
  let line = 1;
  let columns: number | null = null;
  const isTooLong = (at: number) =>
    buffer.length - at > maxRecordChars || linesIn(buffer, at, buffer.length) > maxOpenLines;
  function* records(isLast: boolean): Generator<CsvRecord> {
    let at = 0;
    for (; at < buffer.length; at++) {
      if (buffer[at] !== '\n') {
        const whole = wholeRecord(buffer, at, delimiter);
        const isCut = whole === 'open' || (whole !== 'broken' && whole.end === buffer.length);
        if (isCut && !isLast && !isTooLong(at)) break;
        const lineEnd = buffer.indexOf('\n', at);
        if (lineEnd < 0 && !isLast)
          throw new ImportError(`${name}: line ${line} has over ${maxRecordChars} characters`);
        const first = buffer.slice(at, lineEnd < 0 ? buffer.length : lineEnd);
        const isWhole =
          typeof whole !== 'string' &&
          (columns === null ||
            whole.fields.length === columns ||
            !hasRow(buffer.slice(at + first.length, whole.end), columns, delimiter));
        const end: number = isWhole ? whole.end : at + first.length;
        const fields = isWhole ? whole.fields : fieldsOfLine(first, columns, delimiter);
        columns ??= fields?.length ?? 0;
        yield { fields, line, start: base + at, end: base + end };
        line += linesIn(buffer, at, end);
        at = end;
      }
      line++;
    }
    base += at;
    buffer = buffer.slice(at);
  }
  /** Number of characters after which an incomplete record is parsed again. */
  let enough = 0;
  for await (const piece of pieces) {
    buffer += piece;
    if (buffer.length < enough) continue;
    yield* records(false);
    enough = Math.min(2 * buffer.length, maxRecordChars + 1);
  }
  yield* records(true);
}

interface Fields {
  fields: string[];
  end: number;
}

/** The record at `from`. `open`: the text ends inside quotation marks; `broken`: a mark closes inside a field. */
function wholeRecord(text: string, from: number, delimiter: string): Fields | 'open' | 'broken' {
  const fields: string[] = [];
  for (let at = from; ; at++) {
    let end: number;
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1);
      while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
      if (close < 0) return 'open';
      end = close + 1;
      if (end < text.length && text[end] !== delimiter && text[end] !== '\n') return 'broken';
      fields.push(text.slice(at + 1, close).replaceAll('""', '"'));
    } else {
      end = at;
      while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end++;
      fields.push(text.slice(at, end));
    }
    at = end;
    if (text[at] !== delimiter) return { fields, end };
  }
}

/** Fields of a line without doubled quotation marks. A field ends at a mark before a delimiter, or at even marks. */
function fieldsOfLine(line: string, columns: number | null, delimiter: string): string[] | null {
  const parts = line.split(delimiter);
  for (const isOpenAfter of [isOpenUntilMark, isOpenUntilEven]) {
    const fields: string[] = [];
    let open: string | null = null;
    for (const part of parts) {
      const field: string = open === null ? part : open + delimiter + part;
      const isOpen: boolean = (open !== null || part.startsWith('"')) && isOpenAfter(part, open !== null);
      open = isOpen ? field : null;
      if (!isOpen) fields.push(unquoted(field));
    }
    if (open === null && fields.length === (columns ?? fields.length)) return fields;
  }
  return null;
}

const isOpenUntilMark = (part: string, wasOpen: boolean): boolean =>
  !part.endsWith('"') || (!wasOpen && part.length === 1);
const isOpenUntilEven = (part: string, wasOpen: boolean): boolean => (part.split('"').length % 2 === 1) === wasOpen;

function unquoted(field: string): string {
  const text = field.startsWith('"') ? field.trimEnd() : field;
  return text.length > 1 && text.startsWith('"') && text.endsWith('"')
    ? text.slice(1, -1).replaceAll('""', '"')
    : field;
}

function hasRow(text: string, columns: number, delimiter: string): boolean {
  return text.split('\n').some((line) => line.includes('://') && fieldsOfLine(line, columns, delimiter) !== null);
}

function linesIn(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
