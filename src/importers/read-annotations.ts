/** Highlights and notes of Hypothesis; highlights and documents of Readwise. */
import type { ImportItem } from '../domain/import.ts';
import { fromDateText, highlightOf, ImportError, itemOf, listOf, paragraphsOf, textOf } from './item-parts.ts';
import { elementsOf, type Fields, fieldsOf } from './read-json.ts';

/** Annotations of a page may be anywhere in the file, so all are in memory, up to this size. */
const maxHeldChars = 64 * 2 ** 20;

interface AnnotatedPage {
  title: string | null;
  at: number | null;
  tags: Set<string>;
  notes: string[];
  highlights: string[];
}

/** One item per page, at its first annotation. An annotation without a passage, or a reply, is a note on the page. */
export async function* readHypothesis(entries: AsyncIterable<unknown>, name: string): AsyncGenerator<ImportItem> {
  const pages = new Map<string, AnnotatedPage>();
  let chars = 0;
  for await (const entry of entries) {
    const annotation = fieldsOf(entry);
    const url = textOf(annotation.uri) ?? '';
    const page = pages.get(url) ?? { title: null, at: null, tags: new Set(), notes: [], highlights: [] };
    pages.set(url, page);
    const passage = elementsOf(annotation.target)
      .flatMap(({ selector }) => elementsOf(selector))
      .find(({ type }) => type === 'TextQuoteSelector')?.exact;
    const added = textOf(passage) === null ? page.notes : page.highlights;
    added.push(...highlightOf(passage, annotation.text));
    chars += url.length + (added.at(-1)?.length ?? 0);
    if (chars > maxHeldChars)
      throw new ImportError(`${name}: its annotations have more than ${maxHeldChars} characters`);
    page.title ??= listOf(fieldsOf(annotation.document).title)[0] ?? null;
    for (const tag of listOf(annotation.tags)) page.tags.add(tag);
    const at = fromDateText(annotation.created);
    if (at !== null) page.at = Math.min(page.at ?? at, at);
  }
  for (const [url, { title, at, tags, notes, highlights }] of pages) {
    yield itemOf({
      url,
      title,
      at,
      tags: [...tags],
      note: paragraphsOf(...notes),
      highlights,
    });
  }
}

/** A source with highlights (export API), or a document of Reader (list API). Books have no address. */
export function readwiseItem(entry: Fields): ImportItem {
  const highlights = elementsOf(entry.highlights).filter(({ is_discard }) => is_discard !== true);
  const tags = Array.isArray(entry.book_tags)
    ? elementsOf(entry.book_tags).map(({ name }) => name)
    : Object.entries(fieldsOf(entry.tags)).map(([key, tag]) => textOf(fieldsOf(tag).name) ?? key);
  const dates = highlights.flatMap((each) => fromDateText(each.highlighted_at ?? each.created_at) ?? []);
  return itemOf({
    url: entry.source_url,
    title: textOf(entry.title) ?? textOf(entry.readable_title),
    at: fromDateText(entry.saved_at) ?? fromDateText(entry.created_at) ?? dates.sort((a, b) => a - b)[0] ?? null,
    tags: listOf(tags),
    note: paragraphsOf(entry.document_note, entry.notes),
    highlights: highlights.flatMap(({ text, note }) => highlightOf(text, note)),
    description: entry.summary,
    author: entry.author,
    published_at: typeof entry.published_date === 'string' ? textOf(entry.published_date) : null,
    site_name: entry.site_name,
    status: entry.location,
    body_html: entry.html_content,
  });
}
