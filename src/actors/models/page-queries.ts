/** Queries of the library's own: of a stored page, by what is in it (compute/ranking/pseudo-queries.ts). */
import { pseudoQuery, withoutOneWord } from '../../compute/ranking/pseudo-queries.ts';
import type { StoreReader } from '../../store/store.ts';

/** UTF-16 units of a page that a sentence is taken from. */
const stretch = 4000;
/** As long as a query may be. */
const maxLength = 4000;

/** A query that is to find the page; null where the page is not there or has too few words. `naming` makes of a title or heading what is asked. */
export function queryOfPage(
  reader: StoreReader,
  no: number,
  random: () => number,
  naming: (name: string | null, random: () => number) => string | null = (name) => name,
): string | null {
  const page = reader.pages.head(no);
  if (page === undefined || page.chunk_count === 0) return null;
  const length = reader.pages.bodyLength(no) ?? 0;
  const from = Math.floor(random() * Math.max(1, length - stretch));
  const text = reader.pages.bodySlice(no, from, from + stretch);
  const sections = reader.pages.sections(no);
  const section = sections[Math.floor(random() * sections.length)]?.title ?? null;
  const query = pseudoQuery({ title: naming(page.title, random), section: naming(section, random), text }, random);
  return query?.slice(0, maxLength) ?? null;
}

/** The same where searches are measured, which know a page by its whole title: of titles and headings a word is dropped. */
export function measuringQuery(reader: StoreReader, no: number, random: () => number): string | null {
  return queryOfPage(reader, no, random, withoutOneWord);
}
