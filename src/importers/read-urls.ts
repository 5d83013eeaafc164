/** Lists of addresses, one a line, what follows a blank being its title; blank lines and lines that begin with `#` are nothing. */
import type { ImportItem } from '../domain/import.ts';
import { ImportError } from './import-error.ts';
import { itemOf } from './item-parts.ts';

const maxLineChars = 2 ** 20;

export async function* readUrls(pieces: AsyncIterable<string>, name: string): AsyncGenerator<ImportItem> {
  for await (const line of linesOf(pieces, name)) {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    const end = text.search(/\s/);
    if (end < 0) yield itemOf({ url: text });
    else yield itemOf({ url: text.slice(0, end), title: text.slice(end).trim() });
  }
}

/** Errors: ImportError for a line that is too long to be one of a list. `name` is how messages call the file. */
export async function* linesOf(pieces: AsyncIterable<string>, name: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > maxLineChars) throw new ImportError(`${name} has a line of more than ${maxLineChars} characters`);
    yield* lines;
  }
  yield rest;
}
