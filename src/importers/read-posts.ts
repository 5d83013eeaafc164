/** `<posts>` of `<post>`s in XML, as the interfaces of Delicious and Pinboard give a whole collection. */
import { Parser } from 'htmlparser2';
import type { ImportItem } from '../domain/import.ts';
import { ImportError } from './import-error.ts';
import { pinboardItem } from './read-json.ts';

/** Errors: ImportError for a file that ends before its list does. */
export async function* readPosts(pieces: AsyncIterable<string>, name: string): AsyncGenerator<ImportItem> {
  let found: ImportItem[] = [];
  let isWhole = false;
  /** What is open at the end of the file is closed by the parser, as if it had been closed in it. */
  let isOver = false;
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (tag === 'post') found.push(pinboardItem(attributes));
      },
      onclosetag(tag, implied) {
        if (tag === 'posts' && !(implied && isOver)) isWhole = true;
      },
    },
    { xmlMode: true },
  );
  for await (const piece of pieces) {
    parser.write(piece);
    yield* found;
    found = [];
  }
  isOver = true;
  parser.end();
  yield* found;
  if (!isWhole) throw new ImportError(`${name} is cut off: it ends within its list`);
}
