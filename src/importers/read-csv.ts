/** Read-it-later exports as CSV: Pocket (title, url, time_added, tags separated by `|`, status) and Instapaper (URL, Title, Selection, Folder). */
import { parse } from 'csv-parse';
import type { ImportItem } from '../domain/import.ts';
import { fromUnix, itemOf, listOf, metadataOf } from './item-parts.ts';

type Row = Record<string, string | undefined>;

export async function* readPocket(pieces: AsyncIterable<string>): AsyncGenerator<ImportItem> {
  for await (const row of rows(pieces)) {
    yield itemOf({
      url: row.url ?? '',
      title: row.title ?? null,
      at: fromUnix(row.time_added),
      metadata: metadataOf({ tags: listOf(row.tags, '|'), status: row.status }),
    });
  }
}

export async function* readInstapaper(pieces: AsyncIterable<string>): AsyncGenerator<ImportItem> {
  for await (const row of rows(pieces)) {
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
async function* rows(pieces: AsyncIterable<string>): AsyncGenerator<Row> {
  const parser = parse({
    bom: true,
    columns: (names: string[]) => names.map((name) => name.trim().toLowerCase()),
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
  for await (const row of parser) yield row as Row;
  await feeding;
}
