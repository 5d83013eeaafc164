/**
 * Bookmark files in HTML. The Netscape format, of every browser and many bookmark services: links with dates and tags in nested lists whose
 * headings are the folders; `DD` after a link is its description. Pocket and Instapaper write plain lists, each below a heading. Closing
 * tags are mostly missing, so this reads the stream of tags.
 */
import { Parser } from 'htmlparser2';
import type { ImportItem } from '../domain/import.ts';
import { fromUnix, itemOf, listOf, metadataOf } from './item-parts.ts';

export interface Link {
  attributes: Record<string, string>;
  title: string;
  description: string;
  folder: string;
}

/** A text that never ends, and folders within folders without end, are cut. */
const maxTextChars = 65_536;
const maxFolderChars = 1000;

export const netscapeLink = ({ attributes, title, description, folder }: Link): ImportItem =>
  itemOf({
    url: attributes.href ?? '',
    title: title.trim(),
    at: fromUnix(attributes.add_date),
    metadata: metadataOf({
      tags: listOf(attributes.tags),
      folder,
      note: description.trim(),
      status: attributes.toread === '1' ? 'unread' : null,
    }),
  });

/** Pocket's `ril_export.html`; the states are called as in its CSV. */
export const pocketLink = ({ attributes, title, folder }: Link): ImportItem =>
  itemOf({
    url: attributes.href ?? '',
    title: title.trim(),
    at: fromUnix(attributes.time_added),
    metadata: metadataOf({ tags: listOf(attributes.tags), status: folder === 'Unread' ? 'unread' : 'archive' }),
  });

export async function* readBookmarks(
  pieces: AsyncIterable<string>,
  itemOfLink: (link: Link) => ImportItem,
): AsyncGenerator<ImportItem> {
  let done: Link[] = [];
  /** Each with those around it. */
  const folders: string[] = [];
  /** The heading that the next list belongs to. */
  let heading: string | null = null;
  /** The Netscape format has one `h1`, the file's own title. */
  let isTitle = false;
  let link: Link | null = null;
  let reading: 'heading' | 'title' | 'description' | null = null;

  const finish = () => {
    if (link !== null) done.push(link);
    link = null;
    reading = null;
  };
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === 'h3' || name === 'h1') {
          finish();
          heading = '';
          isTitle = name === 'h1';
          reading = 'heading';
        } else if (name === 'dl' || name === 'ul' || name === 'ol') {
          finish();
          const own = isTitle && name === 'dl' ? '' : heading?.trim();
          const path = [folders.at(-1), own].filter((part) => part != null && part !== '');
          folders.push(path.join('/').slice(0, maxFolderChars));
          heading = null;
        } else if (name === 'dt' || name === 'li' || name === 'hr') finish();
        else if (name === 'a' && reading !== 'description') {
          finish();
          link = { attributes, title: '', description: '', folder: folders.at(-1) ?? '' };
          reading = 'title';
        } else if (name === 'dd') reading = link === null ? null : 'description';
      },
      ontext(text) {
        if (reading === 'heading') heading = longer(heading ?? '', text);
        else if (reading === 'title' && link !== null) link.title = longer(link.title, text);
        else if (reading === 'description' && link !== null) link.description = longer(link.description, text);
      },
      onclosetag(name, implied) {
        if ((name === 'h3' || name === 'h1') && reading === 'heading') reading = null;
        else if (name === 'a' && reading === 'title') reading = null;
        else if ((name === 'dl' || name === 'ul' || name === 'ol') && !implied) {
          finish();
          folders.pop();
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  for await (const piece of pieces) {
    parser.write(piece);
    yield* done.map(itemOfLink);
    done = [];
  }
  parser.end();
  finish();
  yield* done.map(itemOfLink);
}

const longer = (text: string, added: string): string => (text.length < maxTextChars ? text + added : text);
