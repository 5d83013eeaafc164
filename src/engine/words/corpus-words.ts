/** The written words of a corpus (`wordTerm`), filtered by cheap features that each segment computes once. */
import { memoizedByObject } from '../../compute/structures/memoized.ts';
import { hashBytes, termOf } from '../../compute/structures/term-table.ts';
import { foldAccents } from '../../compute/text/scripts.ts';
import { type CorpusSegment, documentFrequency } from './corpus.ts';
import { WORD_MARK, wordOfTerm } from './marked-terms.ts';
import type { Segment } from './segment.ts';

/** Excludes numbers and words with marks. */
export const letters = /^[\p{L}\p{M}]+$/u;

export interface CorpusWord {
  word: string;
  stem: string;
}

export type WordEnd = 'beginning' | 'end';

export const shapesOf = memoizedByObject(makeShapes);

const encoder = new TextEncoder();

export interface HeldWord {
  segment: Segment;
  id: number;
  passages: number;
}

/** Longer words of a corpus that begin or end with a text. */
export function wordsWith(corpus: readonly CorpusSegment[], part: string, end: WordEnd): HeldWord[] {
  const bytes = encoder.encode(part);
  const set = setOf(bytes, 0, bytes.length);
  /** Keyed by a hash of the word; two words have the same hash once in a billion. */
  const found = new Map<number, HeldWord>();
  for (const { segment } of corpus) {
    const { lengths, sets } = shapesOf(segment);
    for (const id of wordsAt(segment, bytes, end)) {
      if (lengths[id] <= bytes.length || (set & ~sets[id]) !== 0) continue;
      const place = placeOf(segment, id);
      if (!has(place, bytes, end)) continue;
      const key = 256 * hashBytes(place.bytes, place.from, place.to) + lengths[id];
      const passages = passagesWith(segment, id);
      const held = found.get(key);
      if (held === undefined) found.set(key, { segment, id, passages });
      else {
        held.segment = segment;
        held.id = id;
        held.passages += passages;
      }
    }
  }
  return [...found.values()];
}

/** Stems of words with this prefix, with and without accents; the most frequent first. */
export function stemsBeginning(corpus: readonly CorpusSegment[], part: string): string[] {
  const lower = part.toLowerCase();
  const counts = new Map<string, number>();
  for (const beginning of new Set([lower, foldAccents(lower)])) {
    for (const { segment, id, passages } of wordsWith(corpus, beginning, 'beginning')) {
      const { stem } = named(segment, id);
      counts.set(stem, passages + (counts.get(stem) ?? 0));
    }
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([stem]) => stem);
}

/** The `most` most frequent words that are `fit`, one per stem. Does not decode less frequent words. */
export function commonestOf(
  corpus: readonly CorpusSegment[],
  all: readonly HeldWord[],
  most: number,
  isFit: (word: CorpusWord) => boolean = () => true,
): CorpusWord[] {
  const counts = Uint32Array.from(all, ({ passages }) => passages).sort();
  for (let count = 4 * most; ; count *= 4) {
    const least = counts[Math.max(0, all.length - count)];
    const commonest = all.filter(({ passages }) => passages >= least);
    const fit = oneOfEachStem(corpus, commonest, most, isFit);
    if (fit.length === most || count >= all.length) return fit;
  }
}

function oneOfEachStem(
  corpus: readonly CorpusSegment[],
  held: readonly HeldWord[],
  most: number,
  isFit: (word: CorpusWord) => boolean,
): CorpusWord[] {
  const words = held.flatMap(({ segment, id, passages }) => {
    const near = wordOf(segment, id);
    return near === null ? [] : { near, passages };
  });
  const byStem = new Map<string, CorpusWord>();
  for (const { near } of words.sort((a, b) => b.passages - a.passages || (a.near.word < b.near.word ? -1 : 1))) {
    if (byStem.size === most) break;
    if (!byStem.has(near.stem) && isFit(near) && documentFrequency(corpus, near.stem) > 0) byStem.set(near.stem, near);
  }
  return [...byStem.values()];
}

/** Words of a segment with the first or last two bytes of `bytes`. */
function wordsAt(segment: Segment, bytes: Uint8Array, end: WordEnd): Uint32Array {
  const { byBeginning, byEnd } = shapesOf(segment);
  const sorted = end === 'beginning' ? byBeginning : byEnd;
  const firstNotBelow = (two: number) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { bytes, from, to } = placeOf(segment, sorted[middle]);
      if (twoAt(bytes, from, to, end) < two) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const two = twoAt(bytes, 0, bytes.length, end);
  return sorted.subarray(firstNotBelow(two), firstNotBelow(two + 1));
}

function twoAt(bytes: Uint8Array, from: number, to: number, end: WordEnd): number {
  const at = end === 'beginning' ? from : to - 2;
  return 256 * bytes[at] + bytes[at + 1];
}

function has({ bytes, from, to }: WordPlace, part: Uint8Array, end: WordEnd): boolean {
  const start = end === 'beginning' ? from : to - part.length;
  for (let place = 0; place < part.length; place++) if (bytes[start + place] !== part[place]) return false;
  return true;
}

/** Passages with a word, including deleted ones. */
function passagesWith(segment: Segment, id: number): number {
  const term = shapesOf(segment).terms[id];
  return segment.starts[term + 1] - segment.starts[term];
}

/**
 * By word of a segment, in term order. `terms`: their term numbers; `sets`: a bit per byte value, by its last five bits
 * (those of a letter); `byBeginning`, `byEnd`: words of two or more bytes, sorted by their first and last two.
 */
function makeShapes({ terms: { bytes, offsets } }: Segment) {
  const terms: number[] = [];
  for (let term = 0; term + 1 < offsets.length; term++) if (bytes[offsets[term]] === WORD_MARK) terms.push(term);
  const count = terms.length;
  const lengths = new Uint8Array(count);
  const sets = new Uint32Array(count);
  const beginnings = new Uint16Array(count);
  const ends = new Uint16Array(count);
  for (let id = 0; id < count; id++) {
    const from = offsets[terms[id]] + 1;
    const to = bytes.indexOf(WORD_MARK, from);
    lengths[id] = Math.min(255, to - from);
    sets[id] = setOf(bytes, from, to);
    if (to - from < 2) continue;
    beginnings[id] = twoAt(bytes, from, to, 'beginning');
    ends[id] = twoAt(bytes, from, to, 'end');
  }
  const sorted = (keys: Uint16Array) => sortedWords(keys, lengths);
  return { terms: Uint32Array.from(terms), lengths, sets, byBeginning: sorted(beginnings), byEnd: sorted(ends) };
}

/** Counting sort of words of two or more bytes. */
function sortedWords(keys: Uint16Array, lengths: Uint8Array): Uint32Array {
  const places = new Uint32Array(0x1_0001);
  for (let id = 0; id < keys.length; id++) if (lengths[id] >= 2) places[keys[id] + 1]++;
  for (let key = 1; key < places.length; key++) places[key] += places[key - 1];
  const sorted = new Uint32Array(places[places.length - 1]);
  for (let id = 0; id < keys.length; id++) if (lengths[id] >= 2) sorted[places[keys[id]]++] = id;
  return sorted;
}

/** Position of a word in the bytes of a segment's terms. */
export interface WordPlace {
  bytes: Uint8Array;
  from: number;
  to: number;
}

export function placeOf(segment: Segment, id: number): WordPlace {
  const { bytes, offsets } = segment.terms;
  const from = offsets[shapesOf(segment).terms[id]] + 1;
  return { bytes, from, to: bytes.indexOf(WORD_MARK, from) };
}

/** Null if it contains other characters than letters. */
export function wordOf(segment: Segment, id: number): CorpusWord | null {
  const found = named(segment, id);
  return letters.test(found.word) ? found : null;
}

function named(segment: Segment, id: number): CorpusWord {
  return wordOfTerm(termOf(segment.terms, shapesOf(segment).terms[id]));
}

export function setOf(bytes: Uint8Array, from: number, to: number): number {
  let set = 0;
  for (let i = from; i < to; i++) set |= 1 << (bytes[i] & 31);
  return set >>> 0;
}
