/**
 * The words of a corpus, as they are written: those of the word vectors that the segments' forward indexes name, and the stem of any other word,
 * which mostly is the word. A segment's words are looked through by what takes a few instructions each: their length, the set of their letters,
 * their first and last two bytes. All of it is made when a segment is first asked and lives as long as it does.
 */
import type { WordVectors } from '../../compute/embedding/word-vectors.ts';
import { lookupTerm, type TermTable, termOf } from '../../compute/structures/term-table.ts';
import { type CorpusSegment, documentFrequency } from './corpus.ts';
import type { Segment } from './segment.ts';

/** What is a word here: numbers and what holds marks are other things. */
export const letters = /^[\p{L}\p{M}]+$/u;

/** A word that a corpus has. */
export interface CorpusWord {
  word: string;
  stem: string;
  /** Row of the word vectors, -1 for none. */
  row: number;
}

/** Of each word of a segment, in the order of its forward index. */
export interface WordShapes {
  /** Bytes. */
  lengths: Uint8Array;
  /** A bit for each byte value there is, by its last five bits: that of a letter. */
  sets: Uint32Array;
  /** Words of two bytes and more, by their first two and by their last two, and then in their order. */
  byBeginning: Uint32Array;
  byEnd: Uint32Array;
}

/** Where in a word something stands. */
export type WordEnd = 'beginning' | 'end';

const shapes = new WeakMap<Segment, WordShapes>();
const encoder = new TextEncoder();

/** A word as one of the segments that have it holds it. */
export interface HeldWord {
  segment: Segment;
  id: number;
  /** In all segments. */
  passages: number;
}

/** The words of a corpus that have this beginning, or this end, and more. */
export function wordsWith(
  corpus: readonly CorpusSegment[],
  vectors: WordVectors | null,
  part: string,
  end: WordEnd,
): HeldWord[] {
  const bytes = encoder.encode(part);
  const set = setOf(bytes, 0, bytes.length);
  const found = new Map<number | string, HeldWord>();
  for (const { segment } of corpus) {
    const { lengths, sets } = shapesOf(segment, vectors);
    for (const id of wordsAt(segment, vectors, bytes, end)) {
      if (lengths[id] <= bytes.length || (set & ~sets[id]) !== 0 || !has(placeOf(segment, vectors, id), bytes, end))
        continue;
      const key = keyOf(segment, vectors, id);
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

/** Of words the `most` of most passages that are `fit`, one for each stem. Words that are not so common are counted, and not read. */
export function commonestOf(
  corpus: readonly CorpusSegment[],
  vectors: WordVectors | null,
  all: readonly HeldWord[],
  most: number,
  isFit: (word: CorpusWord) => boolean = () => true,
): CorpusWord[] {
  const counts = Uint32Array.from(all, ({ passages }) => passages).sort();
  for (let count = 4 * most; ; count *= 4) {
    const least = counts[Math.max(0, all.length - count)];
    const commonest = all.filter(({ passages }) => passages >= least);
    const fit = oneOfEachStem(corpus, vectors, commonest, most, isFit);
    if (fit.length === most || count >= all.length) return fit;
  }
}

function oneOfEachStem(
  corpus: readonly CorpusSegment[],
  vectors: WordVectors | null,
  held: readonly HeldWord[],
  most: number,
  isFit: (word: CorpusWord) => boolean,
): CorpusWord[] {
  const words = held.flatMap(({ segment, id, passages }) => {
    const near = wordOf(segment, vectors, id);
    return near === null ? [] : { near, passages };
  });
  const byStem = new Map<string, CorpusWord>();
  for (const { near } of words.sort((a, b) => b.passages - a.passages || (a.near.word < b.near.word ? -1 : 1))) {
    if (byStem.size === most) break;
    if (!byStem.has(near.stem) && isFit(near) && documentFrequency(corpus, near.stem) > 0) byStem.set(near.stem, near);
  }
  return [...byStem.values()];
}

/** The same for the same word in every segment: its row of the word vectors, or its text. */
function keyOf(segment: Segment, vectors: WordVectors | null, id: number): number | string {
  const { table, at } = placeOf(segment, vectors, id);
  if (table === vectors?.vocabulary) return at;
  const text = termOf(table, at);
  const row = vectors === null ? -1 : lookupTerm(vectors.vocabulary, text);
  return row < 0 ? text : row;
}

/** The words of a segment whose first, or last, two bytes are those of `bytes`. */
function wordsAt(segment: Segment, vectors: WordVectors | null, bytes: Uint8Array, end: WordEnd): Uint32Array {
  const { byBeginning, byEnd } = shapesOf(segment, vectors);
  const sorted = end === 'beginning' ? byBeginning : byEnd;
  const firstNotBelow = (two: number) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { table, at } = placeOf(segment, vectors, sorted[middle]);
      if (twoAt(table.bytes, table.offsets[at], table.offsets[at + 1], end) < two) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const two = twoAt(bytes, 0, bytes.length, end);
  return sorted.subarray(firstNotBelow(two), firstNotBelow(two + 1));
}

/** The first or last two of the bytes from `from` to `to`, as a number. */
function twoAt(bytes: Uint8Array, from: number, to: number, end: WordEnd): number {
  const at = end === 'beginning' ? from : to - 2;
  return 256 * bytes[at] + bytes[at + 1];
}

/** Whether a word has these bytes at its beginning, or its end. */
export function has(
  { table: { bytes, offsets }, at }: { table: TermTable; at: number },
  part: Uint8Array,
  end: WordEnd,
): boolean {
  const from = end === 'beginning' ? offsets[at] : offsets[at + 1] - part.length;
  for (let place = 0; place < part.length; place++) if (bytes[from + place] !== part[place]) return false;
  return true;
}

/** Passages that hold the stem of a word, deleted ones included. */
function passagesWith({ forward, starts }: Segment, id: number): number {
  const stem = forward === null ? id : forward.wordStems[id];
  return starts[stem + 1] - starts[stem];
}

export function shapesOf(segment: Segment, vectors: WordVectors | null): WordShapes {
  let known = shapes.get(segment);
  if (known === undefined) {
    known = makeShapes(segment, vectors);
    shapes.set(segment, known);
  }
  return known;
}

function makeShapes(segment: Segment, vectors: WordVectors | null): WordShapes {
  const count = segment.forward === null ? segment.starts.length - 1 : segment.forward.wordStems.length;
  const lengths = new Uint8Array(count);
  const sets = new Uint32Array(count);
  const beginnings = new Uint16Array(count);
  const ends = new Uint16Array(count);
  for (let id = 0; id < count; id++) {
    const { table, at } = placeOf(segment, vectors, id);
    const [from, to] = [table.offsets[at], table.offsets[at + 1]];
    lengths[id] = Math.min(255, to - from);
    sets[id] = setOf(table.bytes, from, to);
    if (to - from < 2) continue;
    beginnings[id] = twoAt(table.bytes, from, to, 'beginning');
    ends[id] = twoAt(table.bytes, from, to, 'end');
  }
  const sorted = (keys: Uint16Array) => sortedWords(keys, lengths);
  return { lengths, sets, byBeginning: sorted(beginnings), byEnd: sorted(ends) };
}

/** The words of two bytes and more by these keys, by counting. */
function sortedWords(keys: Uint16Array, lengths: Uint8Array): Uint32Array {
  /** By key, the place of its next word. */
  const places = new Uint32Array(0x1_0001);
  for (let id = 0; id < keys.length; id++) if (lengths[id] >= 2) places[keys[id] + 1]++;
  for (let key = 1; key < places.length; key++) places[key] += places[key - 1];
  const sorted = new Uint32Array(places[places.length - 1]);
  for (let id = 0; id < keys.length; id++) if (lengths[id] >= 2) sorted[places[keys[id]]++] = id;
  return sorted;
}

/** Where the letters of a word are. */
export function placeOf(
  { forward, terms }: Segment,
  vectors: WordVectors | null,
  id: number,
): { table: TermTable; at: number } {
  if (forward === null) return { table: terms, at: id };
  const row = forward.wordRows[id];
  return row >= 0 && vectors !== null
    ? { table: vectors.vocabulary, at: row }
    : { table: terms, at: forward.wordStems[id] };
}

/** Null for what is no word of letters. */
export function wordOf(segment: Segment, vectors: WordVectors | null, id: number): CorpusWord | null {
  const { table, at } = placeOf(segment, vectors, id);
  const word = termOf(table, at);
  if (!letters.test(word)) return null;
  const { forward, terms } = segment;
  if (forward === null) return { word, stem: word, row: -1 };
  return { word, stem: termOf(terms, forward.wordStems[id]), row: forward.wordRows[id] };
}

/** As of `sets`. */
export function setOf(bytes: Uint8Array, from: number, to: number): number {
  let set = 0;
  for (let i = from; i < to; i++) set |= 1 << (bytes[i] & 31);
  return set >>> 0;
}

export function bitCount(bits: number): number {
  let left = bits - ((bits >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
