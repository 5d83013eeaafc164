/**
 * Turns the sections of a text into ranges of its tokens, joining those that are too small for a chunk of their own.
 * Called by the chunker.
 */
import type { Section } from '../../domain/page.ts';
import { firstAtLeast } from '../structures/sorted-search.ts';
import type { AnalyzedText } from './analyze-text.ts';

/** Each chunk of a section has its title, which may be a heading around half a document. UTF-16 units. */
const maxTitle = 500;

export interface TokenSection {
  title: string | null;
  start_s: number | null;
  token_from: number;
  token_to: number;
}

/**
 * The sections as token ranges that follow each other and cover all tokens; text before the first has a section without a
 * title. A section that costs less than `smallest` is joined to what follows, the last one to what precedes; the joined
 * section has the title and the time of the first in it that has one.
 * `costBefore[i]` is the cost of all tokens before token i.
 */
export function mergeSections(
  analyzed: AnalyzedText,
  sections: readonly Section[],
  costBefore: Uint32Array,
  smallest: number,
): TokenSection[] {
  const count = analyzed.starts.length;
  const merged: TokenSection[] = [];
  const push = (section: TokenSection): void => {
    const last = merged.at(-1);
    if (last !== undefined && costBefore[last.token_to] - costBefore[last.token_from] < smallest) join(last, section);
    else merged.push(section);
  };
  for (let i = -1; i < sections.length; i++) {
    const section = i < 0 ? { char_start: 0, title: null } : sections[i];
    const token_from = i < 0 ? 0 : firstAtLeast(analyzed.starts, section.char_start);
    const token_to = i + 1 < sections.length ? firstAtLeast(analyzed.starts, sections[i + 1].char_start) : count;
    const title = section.title?.slice(0, maxTitle).toWellFormed() ?? null;
    if (token_from < token_to) push({ title, start_s: section.start_s ?? null, token_from, token_to });
  }
  const last = merged.at(-1);
  if (merged.length > 1 && last !== undefined && costBefore[count] - costBefore[last.token_from] < smallest) {
    merged.pop();
    join(merged[merged.length - 1], last);
  }
  return merged;
}

function join(first: TokenSection, second: TokenSection): void {
  first.title ??= second.title;
  first.start_s ??= second.start_s;
  first.token_to = second.token_to;
}
