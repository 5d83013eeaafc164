/**
 * Cuts an analyzed text into the chunks that are embedded, indexed and shown. Chunks are made of whole sentences up to a
 * target, start anew with each section, and repeat the last sentences of the chunk before them. Pure; called by the thread
 * that indexes a page.
 */
import type { Section } from '../../domain/page.ts';
import { firstAbove, firstAtLeast } from '../structures/sorted-search.ts';
import type { AnalyzedText } from './analyze-text.ts';
import { mergeSections, type TokenSection } from './merge-sections.ts';

export interface ChunkingSettings {
  target_tokens: number;
  overlap_tokens: number;
  /** No chunk costs more; the target is lowered to it. */
  hard_max_tokens: number;
}

export interface TextChunk {
  /** UTF-16 offsets into the text; the chunk's text is the slice, which neither begins nor ends with white space. */
  char_start: number;
  char_end: number;
  token_count: number;
  section_title: string | null;
  section_start_s: number | null;
  /** The analyzed tokens in it, `token_to` exclusive. A token cut into several chunks is in the range of each. */
  token_from: number;
  token_to: number;
}

/** A section below this share of the target is joined to the next: alone it would be a passage too short to be found. */
const smallestSectionShare = 0.2;
/** Overlap may fill at most this share of a chunk, so that every chunk brings something new. */
const largestOverlapShare = 0.5;

/**
 * Cut a text into chunks, in text order.
 * Shapes: `sections` ascending by `char_start`.
 * Holds: every word is in a chunk; no chunk is over `hard_max_tokens` or without a word; none holds the whole of the one
 * before. A sentence over the maximum is cut between tokens, a token over it between characters. The overlap is whole
 * sentences, or, where the border lies inside a sentence, tokens.
 * Errors: none; a text without words gives an empty list. Settings are trusted: integers, target and maximum >= 1.
 */
export function chunkText(
  analyzed: AnalyzedText,
  sections: readonly Section[],
  settings: ChunkingSettings,
): TextChunk[] {
  const max = settings.hard_max_tokens;
  const target = Math.min(settings.target_tokens, max);
  const overlap = Math.min(settings.overlap_tokens, Math.floor(target * largestOverlapShare));
  const costBefore = runningSum(analyzed.costs.length, (i) => analyzed.costs[i]);
  const wordsBefore = runningSum(analyzed.terms.length, (i) => (analyzed.terms[i] === 0 ? 0 : 1));
  const chunks: TextChunk[] = [];
  for (const section of mergeSections(analyzed, sections, costBefore, target * smallestSectionShare)) {
    let overlapFrom = section.token_from;
    for (let from = section.token_from; from < section.token_to; ) {
      const { first, end } = nextChunk(analyzed, section, costBefore, { overlapFrom, from, target, max });
      const cost = costBefore[end] - costBefore[first];
      if (wordsBefore[end] > wordsBefore[from]) {
        if (cost > max) chunks.push(...cutToken(analyzed, section, first, cost, max));
        else chunks.push(wholeTokens(analyzed, section, first, end, cost));
      }
      overlapFrom = cost > max ? end : overlapStart(analyzed, costBefore, first, end, overlap);
      from = end;
    }
  }
  return chunks;
}

/** First token and end of the chunk that continues at `from`, with the overlap from `overlapFrom` if that leaves room. */
function nextChunk(
  analyzed: AnalyzedText,
  section: TokenSection,
  costBefore: Uint32Array,
  { overlapFrom, from, target, max }: { overlapFrom: number; from: number; target: number; max: number },
): { first: number; end: number } {
  const { sentenceEnds } = analyzed;
  /** The furthest token border that the chunk may reach within a budget. */
  const reach = (first: number, budget: number) =>
    Math.min(firstAbove(costBefore, costBefore[first] + budget) - 1, section.token_to);
  const sentenceEnd = Math.min(sentenceEnds[firstAbove(sentenceEnds, from)], section.token_to);
  for (const first of overlapFrom < from ? [overlapFrom, from] : [from]) {
    const furthest = reach(first, target);
    if (furthest === section.token_to) return { first, end: furthest };
    const lastSentenceEnd = sentenceEnds[firstAbove(sentenceEnds, furthest) - 1] ?? 0;
    if (lastSentenceEnd > from) return { first, end: lastSentenceEnd };
    // The sentence does not fit the target: whole if the maximum allows, else as many tokens as do fit.
    if (sentenceEnd <= reach(first, max)) return { first, end: sentenceEnd };
    if (sentenceEnd > reach(from, max) && furthest > from) return { first, end: furthest };
  }
  return { first: from, end: from + 1 };
}

/** Where the chunk after `first .. end` begins to repeat: its last whole sentences, or tokens if it ends inside one. */
function overlapStart(analyzed: AnalyzedText, costBefore: Uint32Array, first: number, end: number, overlap: number) {
  const earliest = Math.max(firstAtLeast(costBefore, costBefore[end] - overlap), first + 1);
  const nextSentence = firstAbove(analyzed.sentenceEnds, earliest - 1);
  const start = analyzed.sentenceEnds[nextSentence];
  if (start < end) return start;
  const cutInsideSentence = start !== end;
  return cutInsideSentence ? Math.min(earliest, end) : end;
}

function wholeTokens(
  analyzed: AnalyzedText,
  section: TokenSection,
  first: number,
  end: number,
  cost: number,
): TextChunk {
  return {
    char_start: analyzed.starts[first],
    char_end: analyzed.ends[end - 1],
    token_count: cost,
    section_title: section.title,
    section_start_s: section.start_s,
    token_from: first,
    token_to: end,
  };
}

/** Chunks of `max` each over one token of a higher cost, cut evenly between characters, never inside a surrogate pair. */
function cutToken(
  analyzed: AnalyzedText,
  section: TokenSection,
  token: number,
  cost: number,
  max: number,
): TextChunk[] {
  const chunks: TextChunk[] = [];
  const tokenStart = analyzed.starts[token];
  const length = analyzed.ends[token] - tokenStart;
  let char_start = tokenStart;
  for (let spent = 0; spent < cost; spent += max) {
    let char_end = tokenStart + Math.min(length, Math.round((length * (spent + max)) / cost));
    if (isInsidePair(analyzed.text, char_end)) char_end--;
    const token_count = Math.min(max, cost - spent);
    chunks.push({ ...wholeTokens(analyzed, section, token, token + 1, token_count), char_start, char_end });
    char_start = char_end;
  }
  return chunks;
}

function isInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/** Running sum before each index; one longer than `length`. */
function runningSum(length: number, valueAt: (index: number) => number): Uint32Array {
  const sums = new Uint32Array(length + 1);
  for (let i = 0; i < length; i++) sums[i + 1] = sums[i] + valueAt(i);
  return sums;
}
