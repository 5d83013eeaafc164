import type { ImportItem } from '../domain/import.ts';
import { doiAddress, fromDateText, itemOf, linesOf, listOf, paragraphsOf, type TextFile } from './item-parts.ts';

const risTag = /^([A-Z][A-Z0-9]) {2}- ?(.*)$/;

export const risMark = /(?<=\n)TY {2}- /g;

/** Lines `TAG  - value`. A work extends from `TY` to `ER`. A line without a tag continues the previous one. */
export async function* readRis({ text, name, marks }: TextFile): AsyncGenerator<ImportItem> {
  let work = new Map<string, string[]>();
  let values: string[] = [];
  for await (const { text: line, start } of linesOf(text(), name)) {
    const [, tag, value = ''] = risTag.exec(line) ?? [];
    if ((tag === 'ER' || tag === 'TY') && work.size > 0) {
      yield risItem(work);
      work = new Map();
      values = [];
    }
    if (tag === 'TY') marks.reached(start);
    if (tag === 'ER') values = [];
    else if (tag !== undefined) {
      values = work.get(tag) ?? [];
      values.push(value.trim());
      work.set(tag, values);
    } else if (values.length > 0 && line.trim() !== '') values.push(`${values.pop()} ${line.trim()}`);
  }
  if (work.size > 0) yield risItem(work);
}

function risItem(work: ReadonlyMap<string, string[]>): ImportItem {
  const all = (...tags: string[]) => listOf(tags.flatMap((tag) => work.get(tag) ?? []));
  return itemOf({
    url: all('UR', 'L1', 'LK')[0] ?? doiAddress(all('DO')[0]),
    title: all('TI', 'T1')[0] ?? null,
    at: fromDateText(risDate(all('Y2')[0])),
    tags: all('KW'),
    note: paragraphsOf(...all('N1', 'RN')),
    description: paragraphsOf(...all('AB', 'N2')),
    author: all('AU', 'A1').join('; '),
    published_at: risDate(all('DA', 'PY', 'Y1')[0]),
    site_name: all('JO', 'JF', 'T2')[0] ?? null,
    lang: all('LA')[0] ?? null,
  });
}

/** `2021/05/06/10:11:12`, possibly partial, as an ISO datetime. */
function risDate(text: string | undefined): string | null {
  if (text === undefined) return null;
  const [, year, month, day, time] = /^(\d{4})\/(\d\d)?\/?(\d\d)?\/?(\d\d:\d\d(?::\d\d)?)?/.exec(text) ?? [];
  if (year === undefined) return text;
  const date = [year, month, day].filter((part) => part !== undefined).join('-');
  return time === undefined || day === undefined ? date : `${date} ${time}`;
}

const firstLine = (text: string): string =>
  text.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '';

export const isUrlList = (text: string): boolean => /^\s*https?:\/\/\S+(?:$|\s)/i.test(firstLine(text));
/** Front matter belongs to notes. */
export const isLinkList = (text: string): boolean =>
  !text.startsWith('---\n') && /^[^\S\n]*(?:[-*+]|\d+[.)])\s[^\n]*?\]\(\s*<?https?:/im.test(text);

export const lineMark = /(?<=\n)[^\S\n]*[^\s#]/g;

/** One address per line, perhaps with a title, which OneTab writes after a bar. */
export async function* readUrls(file: TextFile): AsyncGenerator<ImportItem> {
  for await (const { text: line, start, end } of linesOf(file.text(), file.name)) {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    file.marks.reached(start, end);
    const [, url, title] = /^(\S+)\s*(?:\|\s)?(.*)$/.exec(text) ?? [];
    yield itemOf({ url, title });
  }
}

const markdownLink =
  /(!?)\[((?:[^[\]\\]|\\.|\[[^[\]]*\]){0,2000})\]\(\s*<?(https?:\/\/(?:[^\s()<>]|\([^\s()<>]*\))+)>?(?:\s+"[^"]*")?\s*\)|<(https?:\/\/[^\s<>]+)>/gi;

/** The address of a Markdown link, or an address in angle brackets. */
export const markdownMark = /\]\(\s{0,100}<?https?:|<https?:/gi;

/** Links in lists and texts, without pictures. Headings are folders; text after a line's only link is its note. */
export async function* readMarkdownLinks(file: TextFile): AsyncGenerator<ImportItem> {
  let folders: string[] = [];
  for await (const { text: line, start } of linesOf(file.text(), file.name)) {
    const [, level = '', written = ''] = /^(#{1,6})\s+(\S.*)/.exec(line.slice(0, 1000)) ?? [];
    let end = written.length;
    while (end > 0 && /[\s#]/.test(written[end - 1])) end--;
    const heading = written.slice(0, end);
    const links = [...line.matchAll(markdownLink)];
    if (level !== '' && links.length === 0) folders = [...folders.slice(0, level.length - 1), heading];
    for (const [index, link] of links.entries()) {
      const [whole, picture, title = '', url, bare] = link;
      file.marks.reached(start + link.index, start + link.index + whole.length);
      if (picture === '!') continue;
      const rest = links.length > 1 || index > 0 ? '' : line.slice(link.index + whole.length);
      yield itemOf({
        url: url ?? bare,
        title: title.replace(/\\(.)/g, '$1'),
        folder: folders.filter(Boolean).join('/'),
        note: rest.replace(/^[\s:–—-]+/, ''),
      });
    }
  }
}
