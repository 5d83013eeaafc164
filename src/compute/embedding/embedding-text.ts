/** A passage alone often does not name its subject, so models embed it after its page's title and section. */
import type { Chunk } from '../../domain/page.ts';

/** Max UTF-16 units. A longer heading would push the passage out of the model's window. */
const maxHeading = 300;

export interface PassageToEmbed {
  text: string;
  /** Length of the page's title at the start of the page's first passage; 0 otherwise. */
  title: number;
  /** Where the part from the body begins: `bodyAt` in `text`, `charStart` in the body. */
  bodyAt: number;
  charStart: number;
}

type Place = Pick<Chunk, 'section_title' | 'char_start' | 'char_end'>;

export function headingOf(title: string | null): string {
  return (title ?? '').trim().slice(0, maxHeading);
}

export function embeddingText(title: string | null, section_title: string | null, passage: string): string {
  const headings = [title, section_title].map(headingOf);
  return [...new Set([...headings, passage].filter((each) => each !== ''))].join('\n');
}

/** `from`: ordinal of the first of these chunks. Result: one passage per chunk, in order. */
export function passagesToEmbed(
  title: string | null,
  body: string,
  chunks: readonly Place[],
  from = 0,
): PassageToEmbed[] {
  const heading = headingOf(title);
  return chunks.map(({ section_title, char_start, char_end }, at) => {
    const text = embeddingText(title, section_title, body.slice(char_start, char_end));
    // If a passage equals its heading, the text contains it once, at the start.
    const bodyAt = Math.max(0, text.length - (char_end - char_start));
    const isTitled = from + at === 0 && heading !== '' && text.startsWith(heading) && bodyAt > 0;
    return { text, title: isTitled ? heading.length : 0, bodyAt, charStart: char_start };
  });
}

export function embeddingTexts(title: string | null, body: string, chunks: readonly Place[]): string[] {
  return passagesToEmbed(title, body, chunks).map(({ text }) => text);
}
