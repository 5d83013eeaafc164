/** Bookmarks as browsers keep them in JSON: folders within folders, so that the document is read at once. */
import { errorMessage } from '../domain/error-message.ts';
import type { ImportItem } from '../domain/import.ts';
import { ImportError } from './import-error.ts';
import { fromUnix, fromWebkit, itemOf, listOf, metadataOf, textOf } from './item-parts.ts';
import { addressOf, elementsOf, type Fields, fieldsOf } from './read-json.ts';

/** Some 200,000 bookmarks. */
const maxTreeChars = 64 * 2 ** 20;

/** Of folders within folders without end. */
const maxFolderChars = 1000;

type TreeItem = (node: Fields, folder: string) => ImportItem | null;

/** Chromium's file `Bookmarks`: each root is a folder. */
export async function* readChromiumBookmarks(pieces: AsyncIterable<string>, name: string): AsyncGenerator<ImportItem> {
  const { roots } = fieldsOf(await wholeJson(pieces, name));
  yield* inOrder(Object.values(fieldsOf(roots)).map(fieldsOf), 'name', (node, folder) =>
    node.type === 'url'
      ? itemOf({
          url: addressOf(node.url),
          title: textOf(node.name),
          at: fromWebkit(Number(node.date_added)),
          metadata: metadataOf({ folder }),
        })
      : null,
  );
}

/** A backup of Firefox's bookmarks. Old ones have each tag as a folder of further copies, below a root of its own. */
export async function* readFirefoxBookmarks(pieces: AsyncIterable<string>, name: string): AsyncGenerator<ImportItem> {
  const root = fieldsOf(await wholeJson(pieces, name));
  const roots = elementsOf(root.children).filter((each) => each.root !== 'tagsFolder');
  yield* inOrder(roots, 'title', (node, folder) =>
    node.type === 'text/x-moz-place'
      ? itemOf({
          url: addressOf(node.uri),
          title: textOf(node.title),
          at: fromUnix(Number(node.dateAdded)),
          metadata: metadataOf({ tags: listOf(node.tags), folder, note: noteOf(node) }),
        })
      : null,
  );
}

function noteOf(node: Fields): string | null {
  const note = elementsOf(node.annos).find(({ name }) => name === 'bookmarkProperties/description');
  return textOf(note?.value);
}

/** Depth first, in the order of the file. `nameKey` is what folders keep their name under. */
function* inOrder(roots: readonly Fields[], nameKey: string, itemOfNode: TreeItem): Generator<ImportItem> {
  const open = roots.map((node) => ({ node, path: '' })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, path } = next;
    const item = itemOfNode(node, path);
    if (item !== null) yield item;
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
