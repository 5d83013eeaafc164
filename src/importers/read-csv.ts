/** Exports as CSV, a row a page. What separates fields is told from the first line; columns are called by their names in lower case. */
import { CsvError, parse } from 'csv-parse';
import type { ImportItem } from '../domain/import.ts';
import { ImportError } from './import-error.ts';
import {
  doiAddress,
  fromDateText,
  fromUnix,
  itemOf,
  listOf,
  metadataOf,
  paragraphsOf,
  textOf,
  withoutTags,
} from './item-parts.ts';
import { savedHtml } from './read-json.ts';

type Row = Record<string, string | undefined>;

/** Spreadsheets of countries whose decimals have a comma save a CSV with semicolons; some save it with tabs. */
const delimiters = [',', ';', '\t'];
/** Of one record, in characters: it may hold a page. A quotation mark that is not closed makes a record of all that follows. */
const maxRecordChars = 64 * 2 ** 20;

/** Column names of a CSV's first line that is not empty, in lower case, and what separates them. Names hold no separators, so the most columns are right. */
export function csvHead(text: string): { columns: string[]; delimiter: string } {
  const line = /[^\r\n]+/.exec(text)?.[0] ?? '';
  const heads = delimiters.map((delimiter) => ({ columns: line.split(delimiter).map(columnName), delimiter }));
  return heads.reduce((best, head) => (head.columns.length > best.columns.length ? head : best));
}

const columnName = (text: string): string =>
  text
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .trim()
    .toLowerCase();

export const pocketRow = (row: Row): ImportItem =>
  itemOf({
    url: row.url ?? '',
    title: row.title ?? null,
    at: fromUnix(row.time_added),
    metadata: metadataOf({ tags: listOf(row.tags, '|'), status: row.status }),
  });

export const instapaperRow = (row: Row): ImportItem =>
  itemOf({
    url: row.url ?? '',
    title: row.title ?? null,
    at: fromUnix(row.timestamp),
    metadata: metadataOf({ tags: quotedTags(row.tags), folder: row.folder, note: row.selection }),
  });

/** Dates are `day/month/year time`, of twelve hours without saying which: the day holds. */
export function wallabagRow(row: Row): ImportItem {
  const [, day, month, year] = /^(\d\d)\/(\d\d)\/(\d{4})/.exec(row['creation date'] ?? '') ?? [];
  return itemOf({
    url: row.url ?? '',
    title: row.title ?? null,
    at: fromDateText(`${year}-${month}-${day}`),
    metadata: metadataOf({ tags: listOf(row.tags), lang: textOf(row.language) }),
    body_html: savedHtml(row.content),
  });
}

export const raindropRow = (row: Row): ImportItem =>
  itemOf({
    url: row.url ?? '',
    title: row.title ?? null,
    at: fromDateText(row.created),
    metadata: metadataOf({
      tags: listOf(row.tags),
      folder: row.folder,
      note: row.note,
      highlights: listOf(row.highlights, '\n'),
      description: textOf(row.excerpt),
      starred: row.favorite === 'true' ? true : null,
    }),
  });

/** The library of Readwise Reader. */
export const readwiseRow = (row: Row): ImportItem =>
  itemOf({
    url: row.url ?? '',
    title: row.title ?? null,
    at: fromDateText(row['saved date']),
    metadata: metadataOf({ tags: quotedTags(row['document tags']), status: row.location }),
  });

/** A work without an address that has a DOI is at its resolver. */
export const zoteroRow = (row: Row): ImportItem =>
  itemOf({
    url: textOf(row.url) ?? doiAddress(row.doi),
    title: row.title ?? null,
    at: fromDateText(row['date added']) ?? fromDateText(row['access date']),
    metadata: metadataOf({
      tags: [...listOf(row['manual tags'], ';'), ...listOf(row['automatic tags'], ';')],
      note: paragraphsOf(withoutTags(row.notes), row.extra),
      description: textOf(row['abstract note']),
      author: textOf(row.author),
      published_at: textOf(row.date),
      site_name: textOf(row['publication title']),
      lang: textOf(row.language),
    }),
  });

/** Looking for pairs of quotation marks takes the square of the length where there are none. */
const maxTagsChars = 20_000;

/** A list in JSON, or as Python writes it; older exports have commas between the tags. */
function quotedTags(given: string | undefined): string[] {
  const text = given?.slice(0, maxTagsChars);
  const inside = /^\s*\[([\s\S]*)\]\s*$/.exec(text ?? '')?.[1];
  if (inside === undefined) return listOf(text);
  const quoted = [...inside.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/g)];
  return listOf(quoted.map(([, double, single]) => (double ?? single ?? '').replace(/\\(.)/g, '$1')));
}

/** `head` is the file's beginning; `name` is how messages call it. Errors: ImportError for what is no CSV. */
export async function* readCsv(
  pieces: AsyncIterable<string>,
  { head, name }: { head: string; name: string },
  itemOfRow: (row: Row) => ImportItem,
): AsyncGenerator<ImportItem> {
  for await (const row of rows(pieces, csvHead(head).delimiter, name)) yield itemOfRow(row);
}

/** Rows by column name. A field may hold line breaks; a row may have too few fields, or too many. */
async function* rows(pieces: AsyncIterable<string>, delimiter: string, name: string): AsyncGenerator<Row> {
  const parser = parse({
    columns: (names: string[]) => names.map(columnName),
    delimiter,
    max_record_size: maxRecordChars,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
  const feeding = (async () => {
    try {
      for await (const piece of pieces) {
        if (!parser.write(piece)) await new Promise((resolve) => parser.once('drain', resolve));
      }
      parser.end();
    } catch (error) {
      parser.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  })();
  try {
    for await (const row of parser) yield row as Row;
  } catch (error) {
    if (error instanceof CsvError) throw new ImportError(`${name} is no CSV: ${reasonOf(error)}`, { cause: error });
    throw error;
  }
  await feeding;
}

/** The parser tells the line at which the file ends, which is not where the mark is. */
function reasonOf(error: CsvError): string {
  if (error.code === 'CSV_MAX_RECORD_SIZE')
    return `record ${String(error.records)} has over ${maxRecordChars} characters`;
  if (error.code !== 'CSV_QUOTE_NOT_CLOSED') return error.message;
  return `a quotation mark after record ${String(error.records)} is not closed`;
}
