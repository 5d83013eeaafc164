/**
 * The text that a model embeds for a passage: its page's title and its section before it, since a passage alone often does
 * not say what it is about.
 */
import type { Chunk } from '../../domain/page.ts';

/** A long heading would push the passage out of what the model reads. UTF-16 units. */
const maxHeading = 300;

export interface PassageToEmbed {
  text: string;
  /** Length of the page's title at the beginning of its first passage, 0 without one and for other passages. */
  title: number;
  /** Where the body's part begins in the text, and in the body. */
  bodyAt: number;
  charStart: number;
}

type Place = Pick<Chunk, 'section_title' | 'char_start' | 'char_end'>;

/** What is read of a title. */
export function headingOf(title: string | null): string {
  return (title ?? '').trim().slice(0, maxHeading);
}

export function embeddingText(title: string | null, section_title: string | null, passage: string): string {
  const headings = [title, section_title].map(headingOf);
  return [...new Set([...headings, passage].filter((each) => each !== ''))].join('\n');
}

/** `from`: ordinal of the first of these chunks. Shape: one for each chunk, in their order. */
export function passagesToEmbed(
  title: string | null,
  body: string,
  chunks: readonly Place[],
  from = 0,
): PassageToEmbed[] {
  const heading = headingOf(title);
  return chunks.map(({ section_title, char_start, char_end }, at) => {
    const text = embeddingText(title, section_title, body.slice(char_start, char_end));
    // A passage that is its own heading is there once, in front.
    const bodyAt = Math.max(0, text.length - (char_end - char_start));
    const isTitled = from + at === 0 && heading !== '' && text.startsWith(heading) && bodyAt > 0;
    return { text, title: isTitled ? heading.length : 0, bodyAt, charStart: char_start };
  });
}

/** Shape: one text for each chunk of a page, in their order. */
export function embeddingTexts(title: string | null, body: string, chunks: readonly Place[]): string[] {
  return passagesToEmbed(title, body, chunks).map(({ text }) => text);
}
