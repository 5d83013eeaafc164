/**
 * Netscape bookmark files, as every browser and many bookmark services write them: links with dates and tags in nested lists whose
 * headings are the folders; `DD` after a link is its description. Closing tags are mostly missing, so this reads the stream of tags.
 */
import { Parser } from 'htmlparser2';
import type { ImportItem } from '../domain/import.ts';
import { fromUnix, itemOf, listOf, metadataOf } from './item-parts.ts';

interface Link {
  attributes: Record<string, string>;
  title: string;
  description: string;
  folder: string;
}

export async function* readBookmarks(pieces: AsyncIterable<string>): AsyncGenerator<ImportItem> {
  const done: Link[] = [];
  const folders: string[] = [];
  /** The heading that the next list belongs to. */
  let heading: string | null = null;
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
        if (name === 'h3') {
          finish();
          heading = '';
          reading = 'heading';
        } else if (name === 'dl') {
          finish();
          folders.push((heading ?? '').trim());
          heading = null;
        } else if (name === 'dt' || name === 'hr') finish();
        else if (name === 'a' && reading !== 'description') {
          finish();
          link = { attributes, title: '', description: '', folder: folders.filter((each) => each !== '').join('/') };
          reading = 'title';
        } else if (name === 'dd') reading = link === null ? null : 'description';
      },
      ontext(text) {
        if (reading === 'heading') heading = (heading ?? '') + text;
        else if (reading === 'title' && link !== null) link.title += text;
        else if (reading === 'description' && link !== null) link.description += text;
      },
      onclosetag(name, implied) {
        if (name === 'h3' && reading === 'heading') reading = null;
        else if (name === 'a' && reading === 'title') reading = null;
        else if (name === 'dl' && !implied) {
          finish();
          folders.pop();
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  for await (const piece of pieces) {
    parser.write(piece);
    while (done.length > 0) {
      const next = done.shift();
      if (next !== undefined) yield itemOfLink(next);
    }
  }
  parser.end();
  finish();
  for (const each of done) yield itemOfLink(each);
}

function itemOfLink({ attributes, title, description, folder }: Link): ImportItem {
  return itemOf({
    url: attributes.href ?? '',
    title: title.trim(),
    at: fromUnix(attributes.add_date),
    metadata: metadataOf({ tags: listOf(attributes.tags), folder, note: description.trim() }),
  });
}
