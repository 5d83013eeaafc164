/** Scores by word order: neighbours of the query, the whole query, and titles equal to it. */
import { isFunctionWord } from '../../compute/ranking/query-terms.ts';
import { type Bitmap, bitmapOf, hasBit } from '../../compute/structures/bitmap.ts';
import { memoizedByObject } from '../../compute/structures/memoized.ts';
import { firstAbove } from '../../compute/structures/sorted-search.ts';
import { BREAK, wordBytes } from '../../compute/text/word-bytes.ts';
import { withoutJoiners } from '../../domain/normalize-text.ts';
import type { Correction } from '../../domain/search.ts';
import type { CorpusSegment } from './corpus.ts';
import { hasRun } from './phrases.ts';
import { isDeleted, ordinalOf, type Segment } from './segment.ts';
import type { SparseResult } from './sparse-searcher.ts';

/**
 * A score is multiplied by 1 + this × the passage's share of the query's pairs. Chosen from .05 to .8: nDCG@10 is 1.005
 * times that without on cranfield, 1.000 on medline, 1.001 on xquad-de.
 */
const NEIGHBOURS = 0.5;
/** The same for passages with a whole query of function words, whose frequencies distinguish little. */
const FUNCTION_WORDS = 9;
/** Max pairs of a long query: the first ones. */
const mostPairs = 64;
/** Words of a distinctive phrase; two characters of an unspaced script are one. */
const leastWords = 4;
/** Max passages for a query of function words. If more match, it is too common to distinguish. */
const mostPassages = 1024;

/** Two words of the query, one byte each. */
interface Pair {
  first: number;
  second: number;
  distance: number;
}

export interface WordRun {
  bytes: Uint8Array;
  /** Number of words. In an unspaced script, two characters count as one. */
  words: number;
  isOfFunctionWords: boolean;
  pairs: readonly Pair[];
}

/**
 * Neighbours are consecutive words of the query except function words, at the same distance: `history of art` has one
 * pair. In an unspaced script a term is a pair of characters, so neighbours are three characters.
 */
export function readRun(query: string, language: string, corrected: readonly Correction[] = []): WordRun {
  const meant = new Map(corrected.map(({ word, taken }) => [word, taken[0] ?? word]));
  const written = withoutJoiners(query.toLowerCase()).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const words = written.map((word) => ({ run: wordBytes(meant.get(word) ?? word), word }));
  const isOfFunctionWords = words.every(({ word }) => isFunctionWord(word, language));
  const pairs = new Map<string, Pair>();
  const pair = (first: number, second: number, distance: number) => {
    if (pairs.size < mostPairs) pairs.set(`${first} ${second} ${distance}`, { first, second, distance });
  };
  let at = 0;
  let before: { byte: number; at: number } | undefined;
  let count = 0;
  for (const { run, word } of words) {
    if (!isFunctionWord(word, language)) {
      if (before !== undefined && run.length > 0) pair(before.byte, run[0], at - before.at);
      for (let i = 2; i < run.length; i++) pair(run[i - 2], run[i], 2);
      const last = run.length - 1;
      if (last >= 0) before = { byte: run[last], at: at + last };
    }
    at += run.length;
    count += run.length > 1 ? run.length / 2 : run.length;
  }
  return {
    bytes: Uint8Array.from(words.flatMap(({ run }) => run)),
    words: count,
    isOfFunctionWords: isOfFunctionWords && words.length > 1,
    pairs: [...pairs.values()],
  };
}

/** Hits, with scores raised by neighbours, best first, ties by label. */
export function byNeighbours(corpus: readonly CorpusSegment[], hits: SparseResult, run: WordRun): SparseResult {
  const { labels, scores, covered } = hits;
  if (labels.length === 0 || (run.pairs.length === 0 && !run.isOfFunctionWords)) return hits;
  const raised = scores.map((score, at) => {
    const found = passageOf(corpus, labels[at]);
    if (found === null) return score;
    if (run.isOfFunctionWords) return hasAll(found, run) ? score * (1 + FUNCTION_WORDS) : score;
    return score * (1 + (NEIGHBOURS * countPairs(found, run)) / run.pairs.length);
  });
  const order = Array.from(labels.keys()).sort((a, b) => raised[b] - raised[a] || labels[a] - labels[b]);
  return {
    labels: labels.map((_, at) => labels[order[at]]),
    scores: raised.map((_, at) => raised[order[at]]),
    covered: covered.map((_, at) => covered[order[at]]),
  };
}

interface Passage {
  segment: Segment;
  ordinal: number;
}

export function passageOf(corpus: readonly CorpusSegment[], label: number): Passage | null {
  for (const { segment } of corpus) {
    const ordinal = ordinalOf(segment, label);
    if (ordinal >= 0) return { segment, ordinal };
  }
  return null;
}

function countPairs({ segment: { runs, runStarts }, ordinal }: Passage, { pairs }: WordRun): number {
  const passage = runs.subarray(runStarts[ordinal], runStarts[ordinal + 1]);
  return pairs.filter(({ first, second, distance }) => {
    let at = passage.indexOf(first);
    while (at >= 0 && passage[at + distance] !== second) at = passage.indexOf(first, at + 1);
    return at >= 0;
  }).length;
}

function hasAll({ segment, ordinal }: Passage, { bytes }: WordRun): boolean {
  return hasRun(segment, ordinal, bytes, bytes.length - 1);
}

/** Labels of passages that contain the whole query. */
export function passagesWith(corpus: readonly CorpusSegment[], { bytes }: WordRun, allow?: Bitmap): Bitmap {
  const found: number[] = [];
  for (const { segment, deletions } of corpus) {
    const { labels, runStarts, runs } = segment;
    const all = Buffer.from(runs.buffer, runs.byteOffset, runs.length);
    for (let at = all.indexOf(bytes); at >= 0 && found.length < mostPassages; ) {
      const ordinal = firstAbove(runStarts, at) - 1;
      const label = labels[ordinal];
      if (!isDeleted(deletions, ordinal) && (allow === undefined || hasBit(allow, label))) found.push(label);
      at = all.indexOf(bytes, runStarts[ordinal + 1]);
    }
  }
  return bitmapOf(found, Math.max(0, ...found) + 1);
}

export interface Named {
  /** One passage of each page whose title has the query's words and no others. */
  titled: number[];
  /** Passages that contain the whole query, if it is long enough to be distinctive. */
  verbatim: number[];
}

export function namedBy(corpus: readonly CorpusSegment[], labels: Uint32Array, run: WordRun): Named {
  const { bytes, words } = run;
  const named: Named = { titled: [], verbatim: [] };
  if (bytes.length === 0) return named;
  const seen = new Map<Segment, Set<number>>();
  for (const label of labels) {
    const found = passageOf(corpus, label);
    if (found === null) continue;
    const { segment, ordinal } = found;
    if (words >= leastWords && hasAll(found, run)) named.verbatim.push(label);
    const first = firstOfPage(segment, ordinal);
    const known = seen.get(segment) ?? new Set();
    seen.set(segment, known);
    if (first === null || known.has(first)) continue;
    known.add(first);
    const title = titleOf(segment, first);
    if (title.length === bytes.length && title.every((byte, at) => byte === bytes[at])) named.titled.push(label);
  }
  return named;
}

/** The first passage of the page: its run begins with the title. Null in a segment without runs. */
export function firstOfPage(segment: Segment, ordinal: number): number | null {
  const first = firstsOf(segment)[ordinal];
  return first < 0 ? null : first;
}

/** By passage: the first passage of its page; -1 without runs. */
const firstsOf = memoizedByObject(({ runs, runStarts, docs }: Segment) => {
  let first = -1;
  return new Int32Array(docs).map((_, ordinal) => {
    if (runStarts[ordinal + 1] > runStarts[ordinal] && runs[runStarts[ordinal]] === BREAK) first = ordinal;
    return first;
  });
});

/** `first`: result of `firstOfPage`. */
export function titleOf({ runs, runStarts }: Segment, first: number): Uint8Array {
  const from = runStarts[first] + 1;
  return runs.subarray(from, runs.indexOf(BREAK, from));
}
