/**
 * The text by which a passage is embedded outside: its page's title and its section before it, since a passage alone often does
 * not say what it is about. The embedded model does the same in its own way (embed-local.ts).
 */
import type { Chunk } from '../../domain/page.ts';

/** Headings are for orientation; one that goes on would push the passage out of what the model reads. UTF-16 units. */
const maxHeading = 300;

/** The text of one passage; of a page without a text the title, '' where there is none. */
export function embeddingText(title: string | null, section_title: string | null, passage: string): string {
  const headings = [title, section_title].flatMap((each) => (each === null ? [] : [each.trim().slice(0, maxHeading)]));
  return [...new Set([...headings, passage].filter((each) => each !== ''))].join('\n');
}

/** Shape: one text for each chunk of a page, in their order. */
export function embeddingTexts(
  title: string | null,
  body: string,
  chunks: readonly Pick<Chunk, 'section_title' | 'char_start' | 'char_end'>[],
): string[] {
  return chunks.map(({ section_title, char_start, char_end }) =>
    embeddingText(title, section_title, body.slice(char_start, char_end)),
  );
}
