/** Splits a text into chunks of whole sentences, per section. Each repeats the last sentences of the previous one. */
import type { Section } from '../../domain/page.ts';
import { firstAbove, firstAtLeast } from '../structures/sorted-search.ts';
import type { AnalyzedText } from './analyze-text.ts';

export interface ChunkingSettings {
  target_tokens: number;
  overlap_tokens: number;
  /** Max cost of a chunk. The target may not exceed it. */
  hard_max_tokens: number;
}

export interface TextChunk {
  /** UTF-16 offsets. The chunk's text has no white space at its ends. */
  char_start: number;
  char_end: number;
  token_count: number;
  section_title: string | null;
  section_start_s: number | null;
  /** Its tokens; `token_to` is exclusive. A token that is split into several chunks is in each range. */
  token_from: number;
  token_to: number;
}

/** Smaller sections, relative to the target, are joined with the next: they are hard to find alone. */
const smallestSectionShare = 0.2;
/** Max overlap per chunk, so that each chunk adds new text. */
const largestOverlapShare = 0.5;

/**
 * Shapes: `sections` ascending by `char_start`; chunks in text order, empty without words.
 * Invariants: every word is in a chunk; no chunk is over `hard_max_tokens`, without words, or contains the previous.
 * A sentence over the maximum is split between tokens, a token between characters. An overlap is whole sentences, or
 * tokens within a split sentence. Settings are trusted: integers, target and maximum >= 1.
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

/** First token and end of the chunk that continues at `from`. It starts at `overlapFrom` if the overlap fits. */
function nextChunk(
  analyzed: AnalyzedText,
  section: TokenSection,
  costBefore: Uint32Array,
  { overlapFrom, from, target, max }: { overlapFrom: number; from: number; target: number; max: number },
): { first: number; end: number } {
  const { sentenceEnds } = analyzed;
  /** The last token border within a budget. */
  const reach = (first: number, budget: number) =>
    Math.min(firstAbove(costBefore, costBefore[first] + budget) - 1, section.token_to);
  const sentenceEnd = Math.min(sentenceEnds[firstAbove(sentenceEnds, from)], section.token_to);
  for (const first of overlapFrom < from ? [overlapFrom, from] : [from]) {
    const furthest = reach(first, target);
    if (furthest === section.token_to) return { first, end: furthest };
    const lastSentenceEnd = sentenceEnds[firstAbove(sentenceEnds, furthest) - 1] ?? 0;
    if (lastSentenceEnd > from) return { first, end: lastSentenceEnd };
    // A sentence over the target: whole if the maximum allows it, otherwise as many tokens as fit.
    if (sentenceEnd <= reach(first, max)) return { first, end: sentenceEnd };
    if (sentenceEnd > reach(from, max) && furthest > from) return { first, end: furthest };
  }
  return { first: from, end: from + 1 };
}

/** Start of the next chunk's overlap with `first .. end`: its last whole sentences, or tokens within a sentence. */
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

/** Splits a token over `max` evenly between characters, never inside a surrogate pair. */
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

/** Prefix sums; one longer than `length`. */
function runningSum(length: number, valueAt: (index: number) => number): Uint32Array {
  const sums = new Uint32Array(length + 1);
  for (let i = 0; i < length; i++) sums[i + 1] = sums[i] + valueAt(i);
  return sums;
}

/** Maximum of a chunk's section title, UTF-16 units. */
const maxTitle = 500;

interface TokenSection {
  title: string | null;
  start_s: number | null;
  token_from: number;
  token_to: number;
}

/**
 * Adjacent token ranges that cover all tokens. A section below `smallest` joins the next one (the last the previous),
 * with the first title and time that exists. `costBefore[i]`: cost of all tokens before i.
 */
function mergeSections(
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
