/** Browser bookmarks in JSON: nested folders, so the whole document is parsed. */
import { errorMessage } from '../domain/error-message.ts';
import type { ImportItem } from '../domain/import.ts';
import type { EntryMarks } from './entry-marks.ts';
import { fromUnix, fromWebkit, ImportError, itemOf, listOf, textOf } from './item-parts.ts';
import { elementsOf, type Fields, fieldsOf } from './read-entries.ts';

/** About 200,000 bookmarks. */
const maxTreeChars = 64 * 2 ** 20;

const maxFolderChars = 1000;

export const chromiumMark = /"type"\s{0,100}:\s{0,100}"url"/g;
export const firefoxMark = /"text\\?\/x-moz-place"/g;

interface TreeFile {
  name: string;
  marks: Pick<EntryMarks, 'reachedNext'>;
}

type TreeItem = (node: Fields, folder: string) => ImportItem | null;

/** Chromium's file `Bookmarks`: each root is a folder. */
export async function* readChromiumBookmarks(
  pieces: AsyncIterable<string>,
  file: TreeFile,
): AsyncGenerator<ImportItem> {
  const { roots } = fieldsOf(await wholeJson(pieces, file.name));
  yield* inOrder(Object.values(fieldsOf(roots)).map(fieldsOf), file, 'name', (node, folder) =>
    node.type === 'url'
      ? itemOf({
          url: node.url,
          title: node.name,
          at: fromWebkit(Number(node.date_added)),
          folder,
        })
      : null,
  );
}

/** A backup of Firefox bookmarks. In old ones each tag is a folder of copies below its own root. */
export async function* readFirefoxBookmarks(pieces: AsyncIterable<string>, file: TreeFile): AsyncGenerator<ImportItem> {
  const root = fieldsOf(await wholeJson(pieces, file.name));
  const isTags = (each: Fields) => each.root === 'tagsFolder';
  const [tags, roots] = [true, false].map((of) => elementsOf(root.children).filter((each) => isTags(each) === of));
  for (const _copy of inOrder(tags, file, 'title', placeItem));
  yield* inOrder(roots, file, 'title', placeItem);
}

const placeItem: TreeItem = (node, folder) =>
  node.type === 'text/x-moz-place'
    ? itemOf({
        url: node.uri,
        title: node.title,
        at: fromUnix(Number(node.dateAdded)),
        tags: listOf(node.tags),
        folder,
        note: noteOf(node),
      })
    : null;

function noteOf(node: Fields): string | null {
  const note = elementsOf(node.annos).find(({ name }) => name === 'bookmarkProperties/description');
  return textOf(note?.value);
}

/** Depth first, in file order. `nameKey` is the key of a folder's name. */
function* inOrder(
  roots: readonly Fields[],
  { marks }: TreeFile,
  nameKey: string,
  itemOfNode: TreeItem,
): Generator<ImportItem> {
  const open = roots.map((node) => ({ node, path: '' })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, path } = next;
    const item = itemOfNode(node, path);
    if (item !== null) {
      marks.reachedNext();
      yield item;
    }
    const names = [path, textOf(node[nameKey])].filter((part) => part !== null && part !== '');
    const inside = names.join('/').slice(0, maxFolderChars);
    for (const child of elementsOf(node.children).reverse()) open.push({ node: child, path: inside });
  }
}

async function wholeJson(pieces: AsyncIterable<string>, name: string): Promise<unknown> {
  const parts: string[] = [];
  let chars = 0;
  for await (const piece of pieces) {
    parts.push(piece);
    chars += piece.length;
    if (chars > maxTreeChars) throw new ImportError(`${name} has more than ${maxTreeChars} characters`);
  }
  try {
    return JSON.parse(parts.join(''));
  } catch (cause) {
    throw new ImportError(`${name} is no JSON, or cut off: ${errorMessage(cause)}`, { cause });
  }
}
