/** Libraries of works: CSL JSON and Better BibTeX's JSON of Zotero, and RIS, which all such programs write. */
import type { ImportItem } from '../domain/import.ts';
import {
  doiAddress,
  fromDateText,
  itemOf,
  listOf,
  metadataOf,
  paragraphsOf,
  textOf,
  withoutTags,
} from './item-parts.ts';
import { addressOf, elementsOf, type Fields, fieldsOf } from './read-json.ts';
import { linesOf } from './read-urls.ts';

/** Its only dates are of the publication and of the last look, each by year, month and day. */
export const cslItem = (work: Fields): ImportItem =>
  itemOf({
    url: addressOf(work.URL) || doiAddress(work.DOI),
    title: textOf(work.title),
    at: fromDateText(cslDate(work.accessed)),
    metadata: metadataOf({
      tags: listOf(work.keyword),
      note: textOf(work.note),
      description: textOf(work.abstract),
      author: namesOf(elementsOf(work.author).map(({ given, family, literal }) => [given, family ?? literal])),
      published_at: cslDate(work.issued),
      site_name: textOf(work['container-title']),
      lang: textOf(work.language),
    }),
  });

function cslDate(value: unknown): string | null {
  const date = fieldsOf(value);
  const parts = Array.isArray(date['date-parts']) ? date['date-parts'][0] : null;
  if (!Array.isArray(parts)) return textOf(date.literal) ?? textOf(date.raw);
  return parts.map((part) => String(part).padStart(2, '0')).join('-') || null;
}

/** An item as Zotero itself keeps it. */
export const zoteroItem = (work: Fields): ImportItem =>
  itemOf({
    url: addressOf(work.url) || doiAddress(work.DOI),
    title: textOf(work.title),
    at: fromDateText(work.dateAdded) ?? fromDateText(work.accessDate),
    metadata: metadataOf({
      tags: listOf(elementsOf(work.tags).map(({ tag }) => tag)),
      note: paragraphsOf(...notesOf(work.notes), work.extra),
      description: textOf(work.abstractNote),
      author: namesOf(elementsOf(work.creators).map(({ firstName, lastName, name }) => [firstName, lastName ?? name])),
      published_at: textOf(work.date),
      site_name: textOf(work.publicationTitle) ?? textOf(work.websiteTitle),
      lang: textOf(work.language),
    }),
  });

/** Texts in HTML, by themselves or in objects. */
const notesOf = (notes: unknown): unknown[] =>
  Array.isArray(notes) ? notes.map((each) => withoutTags(typeof each === 'string' ? each : fieldsOf(each).note)) : [];

const namesOf = (names: readonly unknown[][]): string =>
  names
    .map((parts) => listOf(parts).join(' '))
    .filter((name) => name !== '')
    .join(', ');

const risTag = /^([A-Z][A-Z0-9]) {2}- ?(.*)$/;

/** Lines `TAG  - value`; a work ends with `ER`. A line without a tag goes on with the one before. */
export async function* readRis(pieces: AsyncIterable<string>, name: string): AsyncGenerator<ImportItem> {
  let work = new Map<string, string[]>();
  let values: string[] = [];
  for await (const line of linesOf(pieces, name)) {
    const [, tag, value = ''] = risTag.exec(line) ?? [];
    if (tag === 'ER') {
      yield risItem(work);
      work = new Map();
    } else if (tag !== undefined) {
      values = work.get(tag) ?? [];
      values.push(value.trim());
      work.set(tag, values);
    } else if (values.length > 0) values.push(`${values.pop()} ${line.trim()}`);
  }
  if (work.size > 0) yield risItem(work);
}

function risItem(work: ReadonlyMap<string, string[]>): ImportItem {
  const all = (...tags: string[]) => listOf(tags.flatMap((tag) => work.get(tag) ?? []));
  return itemOf({
    url: all('UR', 'L1', 'LK')[0] ?? doiAddress(all('DO')[0]),
    title: all('TI', 'T1')[0] ?? null,
    at: fromDateText(risDate(all('Y2')[0])),
    metadata: metadataOf({
      tags: all('KW'),
      note: paragraphsOf(...all('N1', 'RN')),
      description: paragraphsOf(...all('AB', 'N2')),
      author: all('AU', 'A1').join('; '),
      published_at: risDate(all('DA', 'PY', 'Y1')[0]),
      site_name: all('JO', 'JF', 'T2')[0] ?? null,
      lang: all('LA')[0] ?? null,
    }),
  });
}

/** `2021/05/06/10:11:12`: a year, then month, day and time as far as they are known. Gives it as other formats write it. */
function risDate(text: string | undefined): string | null {
  if (text === undefined) return null;
  const [, year, month, day, time] = /^(\d{4})\/(\d\d)?\/?(\d\d)?\/?(\d\d:\d\d(?::\d\d)?)?/.exec(text) ?? [];
  if (year === undefined) return text;
  const date = [year, month, day].filter((part) => part !== undefined).join('-');
  return time === undefined || day === undefined ? date : `${date} ${time}`;
}
