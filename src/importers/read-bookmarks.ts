/** Bookmark files in HTML, nested (Netscape) or flat (Pocket, Instapaper). Most closing tags are missing. */
import { decodeHTML, decodeHTMLAttribute } from 'entities';
import type { ImportItem } from '../domain/import.ts';
import type { EntryMarks } from './entry-marks.ts';
import { fromDateText, fromUnix, ImportError, itemOf, listOf, maxFolderChars, type TextFile } from './item-parts.ts';
import { type Dialect, inFolder, itemReader, listState } from './read-entries.ts';

export interface Link {
  attributes: Record<string, string>;
  title: string;
  description: string;
  folder: string;
}

export const linkMark = /<a\s[^<>]{0,3000}?\bhref\s*=/gi;

/** Max lengths of texts and folders, in case they are unclosed. */
const maxTextChars = 65_536;

export const netscapeLink = ({ attributes, title, description, folder }: Link, state = {}): ImportItem =>
  itemOf({
    url: attributes.href ?? '',
    title: title.trim(),
    at: fromUnix(attributes.add_date ?? attributes.time_added),
    tags: listOf(attributes.tags),
    folder,
    note: description.trim() || attributes.description?.trim(),
    status: attributes.toread && (attributes.toread === '1' ? 'unread' : 'read'),
    ...state,
  });

/** Pocket's `ril_export.html`, with the states of its CSV. */
export const pocketLink = (link: Link) => netscapeLink({ ...link, folder: '' }, listState(link.folder));

export const instapaperLink = (link: Link) => netscapeLink(link, listState(link.folder));

const tagStart = /<(\/?)(a|dd|dl|dt|h1|h3|hr|li|ol|ul)(?=[\s/>])/gi;
const wordMarkup =
  /<\/?(?:b|big|blockquote|br|code|em|font|i|img|p|pre|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?\/?>/gi;
/** A link in a description belongs to it; a link with a date is the next bookmark. */
const isDated = (attributes: Link['attributes']) => 'add_date' in attributes || 'time_added' in attributes;

export async function* readBookmarks(
  pieces: AsyncIterable<string>,
  marks: Pick<EntryMarks, 'reached'>,
  itemOfLink: (link: Link) => ImportItem,
): AsyncGenerator<ImportItem> {
  let done: Link[] = [];
  const folders: string[] = [];
  let heading: string | null = null;
  /** In the Netscape format `h1` is the file's title. */
  let isTitle = false;
  let link: Link | null = null;
  let reading: 'heading' | 'title' | 'description' | null = null;

  const finish = () => {
    if (link !== null) done.push({ ...link, title: wordsOf(link.title), description: wordsOf(link.description) });
    link = null;
    reading = null;
  };
  const read = (text: string) => {
    if (reading === 'heading') heading = longer(heading ?? '', text);
    else if (reading === 'title' && link !== null) link.title = longer(link.title, text);
    else if (reading === 'description' && link !== null) link.description = longer(link.description, text);
  };
  for await (const part of scanTags(pieces, tagStart)) {
    if (typeof part === 'string') {
      read(part);
      continue;
    }
    const { name, isEnd, attributes, offset, end } = part;
    if (name === 'a' && !isEnd) {
      if (!('href' in attributes)) continue;
      const isOwn = reading !== 'description' || isDated(attributes);
      if (isOwn) finish();
      yield* done.map(itemOfLink);
      done = [];
      marks.reached(offset, end);
      if (!isOwn) continue;
      link = { attributes, title: '', description: '', folder: folders.at(-1) ?? '' };
      reading = 'title';
    } else if (name === 'h3' || name === 'h1') {
      if (isEnd) {
        if (reading === 'heading') reading = null;
        continue;
      }
      finish();
      heading = '';
      isTitle = name === 'h1';
      reading = 'heading';
    } else if (reading === 'description' && (name === 'li' || name === 'ol' || name === 'ul')) {
    } else if (name === 'dl' || name === 'ul' || name === 'ol') {
      finish();
      if (isEnd) folders.pop();
      else {
        const own = isTitle && name === 'dl' ? '' : wordsOf(heading ?? '').trim();
        folders.push(folderIn(folders.at(-1) ?? '', own));
        heading = null;
      }
    } else if (name === 'a') {
      if (reading === 'title') reading = null;
    } else if (name === 'dd') {
      if (!isEnd) reading = link === null ? null : 'description';
    } else if (!isEnd) finish();
    yield* done.map(itemOfLink);
    done = [];
  }
  finish();
  yield* done.map(itemOfLink);
}

function folderIn(outer: string, name: string): string {
  if (name === '' || outer.length >= maxFolderChars) return outer;
  return outer === '' ? name.slice(0, maxFolderChars) : `${outer}/${name}`.slice(0, maxFolderChars);
}

const wordsOf = (text: string): string => decodeHTML(text.replace(wordMarkup, ''));

const longer = (text: string, added: string): string => (text.length < maxTextChars ? text + added : text);

export const postMark = /<post\s/g;

export const outlineMark = /<outline\s/g;
export const isOpml = (text: string): boolean => /^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<opml[\s>]/i.test(text);

const elements = { post: /<(\/?)(posts?)(?=[\s/>])/gi, outline: /<(\/?)(outline|opml)(?=[\s/>])/gi };

/** XML entries: elements `name` in `root`; those without an address are folders. Errors: ImportError if truncated. */
export async function* readElements(
  file: TextFile,
  name: keyof typeof elements,
  root: string,
  dialect: Dialect,
): AsyncGenerator<ImportItem> {
  const itemOfElement = itemReader(dialect);
  const folders: string[] = [];
  let isWhole = false;
  for await (const part of scanTags(file.text(), elements[name])) {
    if (typeof part === 'string') continue;
    if (part.name === root) isWhole = part.isEnd || part.isEmpty;
    else if (part.isEnd) folders.pop();
    else {
      file.marks.reached(part.offset, part.end);
      const item = itemOfElement(part.attributes);
      const folder = folders.at(-1) ?? '';
      if (item.url !== '' || part.isEmpty) yield inFolder(item, folder);
      if (!part.isEmpty) folders.push(item.url === '' ? folderIn(folder, item.title ?? '') : folder);
    }
  }
  if (!isWhole) throw new ImportError(`${file.name} is cut off: it ends within its list`);
}

export const activityMark = /<div\s+class="outer-cell/g;

/** Activity of a Google account as HTML: cells with a link, its channel as the author, and the time in words. */
export async function* readActivity({ text, marks }: TextFile): AsyncGenerator<ImportItem> {
  let cell: { links: { url: string; title: string }[]; words: string[]; isOver: boolean } | null = null;
  let isLink = false;
  const items = (): ImportItem[] => {
    if (cell === null) return [];
    const [link, channel] = cell.links;
    const times = cell.words.filter((words) => /\d:\d\d/.test(words));
    const at = times.map((words) => fromDateText(wordsOf(words))).find((each) => each !== null) ?? null;
    return [itemOf({ url: link?.url, title: wordsOf(link?.title ?? ''), at, author: wordsOf(channel?.title ?? '') })];
  };
  for await (const part of scanTags(text(), /<(\/?)(a|br|div)(?=[\s/>])/gi)) {
    if (typeof part === 'string') {
      const open = isLink ? cell?.links.at(-1) : undefined;
      if (open !== undefined) open.title = longer(open.title, part);
      else if (cell?.isOver === false) cell.words.push(longer(cell.words.pop() ?? '', part));
      continue;
    }
    const { name, isEnd, attributes, offset, end } = part;
    if (name === 'div' && attributes.class?.startsWith('outer-cell')) {
      yield* items();
      marks.reached(offset, end);
      cell = { links: [], words: [], isOver: false };
    } else if (cell !== null && name === 'div' && attributes.class?.includes('caption')) cell.isOver = true;
    cell?.words.push('');
    isLink = name === 'a' && !isEnd && cell?.isOver === false;
    if (isLink) cell?.links.push({ url: attributes.href ?? '', title: '' });
  }
  yield* items();
}

/* Scans markup for a few tag names. Everything else is text, even `<title>` or `<!--` in a bookmark's name. Linear. */

interface ScannedTag {
  name: string;
  isEnd: boolean;
  isEmpty: boolean;
  attributes: Record<string, string>;
  /** Offset of its `<` in the file, in characters. */
  offset: number;
  end: number;
}

/** Attributes may contain site icons. Longer tags are text. */
const maxTagChars = 2 ** 20;
const nameChars = 16;
/** An attribute that contains a tag has no closing quotation mark. */
const swallowedTag = /<\/?(?:a|dd|dl|dt|h3|li|posts?)[\s>]/i;

/** Tags that match `begin` (global; groups: slash and name), and the raw text between. */
export async function* scanTags(
  pieces: AsyncIterable<string> | string[],
  begin: RegExp,
): AsyncGenerator<ScannedTag | string> {
  // A copy with its own `lastIndex`.
  const start = structuredClone(begin);
  let buffer = '';
  let base = 0;
  function* scan(isLast: boolean): Generator<ScannedTag | string> {
    let at = 0;
    let end = isLast ? buffer.length : Math.max(0, buffer.length - nameChars);
    start.lastIndex = 0;
    for (let found = start.exec(buffer); found !== null; found = start.exec(buffer)) {
      const tag = attributesFrom(buffer, start.lastIndex);
      if (tag === null) {
        if (isLast || buffer.length - found.index > maxTagChars) continue;
        end = found.index;
        break;
      }
      if (found.index > at) yield buffer.slice(at, found.index);
      const [, slash, name] = found;
      yield {
        name: name.toLowerCase(),
        isEnd: slash !== '',
        isEmpty: buffer.startsWith('/>', tag.end - 2),
        attributes: tag.attributes,
        offset: base + found.index,
        end: base + tag.end,
      };
      at = start.lastIndex = tag.end;
    }
    if (end > at) yield buffer.slice(at, end);
    const next = Math.max(at, end);
    base += next;
    buffer = buffer.slice(next);
  }
  for await (const piece of pieces) {
    buffer += piece;
    yield* scan(false);
  }
  yield* scan(true);
}

const blank = /[\s/]*/y;
const attributeName = /[^\s=>/<]+/y;
const equals = /\s*=\s*/y;
const bareValue = /[^\s<>]*/y;

/** Attributes after a tag's name, and the tag's end; null if incomplete. */
function attributesFrom(text: string, from: number): { attributes: Record<string, string>; end: number } | null {
  const attributes: Record<string, string> = Object.create(null);
  let at = from;
  const matched = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0] ?? '';
    at += match.length;
    return match;
  };
  for (;;) {
    matched(blank);
    if (at >= text.length) return null;
    if (text[at] === '>') return { attributes, end: at + 1 };
    if (text[at] === '<') return { attributes, end: at };
    const name = matched(attributeName).toLowerCase();
    if (matched(equals) === '') {
      attributes[name] ??= '';
      continue;
    }
    const quote = text[at];
    let value: string;
    if (quote === '"' || quote === "'") {
      const close = text.indexOf(quote, at + 1);
      if (close < 0) return null;
      value = text.slice(at + 1, close);
      const isClosed = !value.includes('\n') && /[\s/>]/.test(text[close + 1] ?? ' ');
      if (!isClosed && swallowedTag.test(value)) {
        at++;
        value = matched(bareValue);
      } else at = close + 1;
    } else value = matched(bareValue);
    attributes[name] ??= decodeHTMLAttribute(value);
  }
}
