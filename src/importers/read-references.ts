import type { ImportItem } from '../domain/import.ts';
import type { EntryMarks } from './entry-marks.ts';
import {
  doiAddress,
  fromDateText,
  ImportError,
  itemOf,
  listOf,
  paragraphsOf,
  textOf,
  withoutTags,
} from './item-parts.ts';
import { elementsOf, type Fields, fieldsOf } from './read-json.ts';

/** Its only dates are of publication and last access. */
export const cslItem = (work: Fields): ImportItem =>
  itemOf({
    url: textOf(work.URL) ?? doiAddress(work.DOI),
    title: work.title,
    at: fromDateText(cslDate(work.accessed)),
    tags: listOf(work.keyword),
    note: work.note,
    description: work.abstract,
    author: namesOf(elementsOf(work.author).map(({ given, family, literal }) => [given, family ?? literal])),
    published_at: cslDate(work.issued),
    site_name: work['container-title'],
    lang: work.language,
  });

function cslDate(value: unknown): string | null {
  const date = fieldsOf(value);
  const parts = Array.isArray(date['date-parts']) ? date['date-parts'][0] : null;
  if (!Array.isArray(parts)) return textOf(date.literal) ?? textOf(date.raw);
  return parts.map((part) => String(part).padStart(2, '0')).join('-') || null;
}

export const zoteroItem = (work: Fields): ImportItem =>
  itemOf({
    url: textOf(work.url) ?? doiAddress(work.DOI),
    title: work.title,
    at: fromDateText(work.dateAdded) ?? fromDateText(work.accessDate),
    tags: listOf(elementsOf(work.tags).map(({ tag }) => tag)),
    note: paragraphsOf(...notesOf(work.notes), work.extra),
    description: work.abstractNote,
    author: namesOf(elementsOf(work.creators).map(({ firstName, lastName, name }) => [firstName, lastName ?? name])),
    published_at: work.date,
    site_name: textOf(work.publicationTitle) ?? textOf(work.websiteTitle),
    lang: work.language,
  });

/** HTML texts, plain or in objects. */
const notesOf = (notes: unknown): unknown[] =>
  Array.isArray(notes) ? notes.map((each) => withoutTags(typeof each === 'string' ? each : fieldsOf(each).note)) : [];

const namesOf = (names: readonly unknown[][]): string =>
  names
    .map((parts) => listOf(parts).join(' '))
    .filter((name) => name !== '')
    .join(', ');

const risTag = /^([A-Z][A-Z0-9]) {2}- ?(.*)$/;

export const risMark = /(?<=\n)TY {2}- /g;

/**
 * Lines `TAG  - value`; a work begins with `TY` and ends with `ER`. A line without a tag continues the previous one.
 */
export async function* readRis(pieces: AsyncIterable<string>, { name, marks }: LineFile): AsyncGenerator<ImportItem> {
  let work = new Map<string, string[]>();
  let values: string[] = [];
  for await (const { text: line, start } of linesOf(pieces, name)) {
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

const maxLineChars = 2 ** 20;

export const lineMark = /(?<=\n)[^\S\n]*[^\s#]/g;

interface LineFile {
  name: string;
  marks: Pick<EntryMarks, 'reached'>;
}

export async function* readUrls(pieces: AsyncIterable<string>, file: LineFile): AsyncGenerator<ImportItem> {
  for await (const { text: line, start, end } of linesOf(pieces, file.name)) {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    file.marks.reached(start, end);
    const blank = text.search(/\s/);
    if (blank < 0) yield itemOf({ url: text });
    else yield itemOf({ url: text.slice(0, blank), title: text.slice(blank).trim() });
  }
}

interface Line {
  text: string;
  /** In the file, in characters; `end` is after the line feed. */
  start: number;
  end: number;
}

/** Errors: ImportError for a too long line. `name` is for messages. */
async function* linesOf(pieces: AsyncIterable<string>, name: string): AsyncGenerator<Line> {
  let rest = '';
  let start = 0;
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineChars) throw new ImportError(`${name} has a line of more than ${maxLineChars} characters`);
    for (const text of lines) {
      const end = start + text.length + 1;
      yield { text, start, end };
      start = end;
    }
  }
  yield { text: rest, start, end: start + rest.length };
}
