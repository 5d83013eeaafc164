/** Read-it-later exports as CSV: Pocket (title, url, time_added, tags separated by `|`, status) and Instapaper (URL, Title, Selection, Folder). */
import { CsvError, parse } from 'csv-parse';
import type { ImportItem } from '../domain/import.ts';
import { ImportError } from './import-error.ts';
import { fromUnix, itemOf, listOf, metadataOf } from './item-parts.ts';

type Row = Record<string, string | undefined>;

/** `delimiter` is of its first line (`csvHead`); `name` is how messages call the file. */
export interface CsvText {
  pieces: AsyncIterable<string>;
  delimiter: string;
  name: string;
}

/** Spreadsheets of countries whose decimals have a comma save a CSV with semicolons; some save it with tabs. */
const delimiters = [',', ';', '\t'];

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

/** Errors, as of `readInstapaper`: ImportError for what is no CSV. */
export async function* readPocket(csv: CsvText): AsyncGenerator<ImportItem> {
  for await (const row of rows(csv)) {
    yield itemOf({
      url: row.url ?? '',
      title: row.title ?? null,
      at: fromUnix(row.time_added),
      metadata: metadataOf({ tags: listOf(row.tags, '|'), status: row.status }),
    });
  }
}

export async function* readInstapaper(csv: CsvText): AsyncGenerator<ImportItem> {
  for await (const row of rows(csv)) {
    yield itemOf({
      url: row.url ?? '',
      title: row.title ?? null,
      at: fromUnix(row.timestamp),
      metadata: metadataOf({ tags: tagsOf(row.tags), folder: row.folder, note: row.selection }),
    });
  }
}

/** Newer exports have a column with a JSON list. */
function tagsOf(text: string | undefined): string[] {
  if (text?.trimStart().startsWith('[') !== true) return listOf(text);
  try {
    return listOf(JSON.parse(text));
  } catch {
    // Not JSON after all: tags with commas between them.
    return listOf(text);
  }
}

/** Rows by column name in lower case. A field may hold line breaks; a row may have too few fields, or too many. */
async function* rows({ pieces, delimiter, name }: CsvText): AsyncGenerator<Row> {
  const parser = parse({
    columns: (names: string[]) => names.map(columnName),
    delimiter,
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
  if (error.code !== 'CSV_QUOTE_NOT_CLOSED') return error.message;
  return `a quotation mark after record ${String(error.records)} is not closed`;
}
