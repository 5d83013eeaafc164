/** Lists of addresses, one a line; blank lines and lines that begin with `#` are nothing. */
import type { ImportItem } from '../domain/import.ts';
import { itemOf } from './item-parts.ts';

export async function* readUrls(pieces: AsyncIterable<string>): AsyncGenerator<ImportItem> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield* itemsOfLine(line);
  }
  yield* itemsOfLine(rest);
}

function itemsOfLine(line: string): ImportItem[] {
  const url = line.trim();
  return url === '' || url.startsWith('#') ? [] : [itemOf({ url })];
}
