/** Highlights and notes of Hypothesis. */
import type { ImportItem } from '../domain/import.ts';
import { fromDateText, highlightOf, ImportError, itemOf, listOf, paragraphsOf, textOf } from './item-parts.ts';
import { elementsOf, fieldsOf } from './read-entries.ts';

/** Annotations of a page may be anywhere in the file, so all are kept in memory, up to this size. */
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
