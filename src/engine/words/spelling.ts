/**
 * Words of a corpus that are nearest to one that it does not have: misspelt, or not finished. Surface forms are compared, not stems: those of
 * the word vectors that the segments' forward indexes name, and the stem of any other word, which mostly is the word.
 *
 * A segment's words are looked through by what takes a few instructions each, their length and the set of their letters; of some hundreds
 * that may be near the edits are counted. Both are made when a segment is first asked and live as long as it does.
 */
import type { WordVectors } from '../../compute/embedding/word-vectors.ts';
import { lookupTerm, type TermTable, termOf } from '../../compute/structures/term-table.ts';
import { editDistance, editsBetween } from '../../compute/text/edit-distance.ts';
import { type CorpusSegment, documentFrequency } from './corpus.ts';
import { languagesOf, spokenLanguages } from './languages.ts';
import type { Segment } from './segment.ts';

export interface NearWord {
  word: string;
  stem: string;
  /** Row of the word vectors, -1 for none. */
  row: number;
  /** Edits between the two; of an unfinished word those to what is written of it. */
  edits: number;
}

/** What a corpus knows of the words of queries. */
export interface KnownWords {
  /** The library's languages, the commonest first; and those of them that queries may be in. */
  languages: readonly string[];
  spoken: readonly string[];
  isKnown: (stem: string) => boolean;
  /** As of `nearestWords`, as many as there are guesses. */
  nearest: (word: string) => NearWord[];
  /** As of `completedWords`. */
  completions: (word: string) => NearWord[];
}

/** Where nothing is known of the texts. */
export const noWords: KnownWords = {
  languages: [],
  spoken: [],
  isKnown: () => true,
  nearest: () => [],
  completions: () => [],
};

/** What each of the words weighs that a word may be meant for, the nearest first (npm run bench:misspelt). */
export const GUESSES = [0.9, 0.5, 0.3];

/** What each of the words weighs that an unfinished word may become, the commonest first; the word as it stands weighs 1. */
export const COMPLETIONS = [0.8, 0.6, 0.5, 0.4, 0.3];
/** A beginning of fewer letters is of half the dictionary. */
const leastBeginning = 2;

/** A word of fewer letters may be anything; one of so many and more may have two edits. */
const leastLetters = 4;
const twoEditsFrom = 7;
const mostLetters = 40;
/** The word vectors' commonest words, which are no mistakes: further down are names, and misspelt ones. */
const commonWords = 50_000;
/** Only words of letters are misspelt: numbers and what holds marks are other things. */
const letters = /^[\p{L}\p{M}]+$/u;

/** Of each word of a segment, in the order of its forward index. */
interface WordShapes {
  /** Bytes. */
  lengths: Uint8Array;
  /** A bit for each byte value there is, by its last five bits: that of a letter. */
  sets: Uint32Array;
  /** Words of two bytes and more, by these and then in their order. */
  byBeginning: Uint32Array;
}

const shapes = new WeakMap<Segment, WordShapes>();
const encoder = new TextEncoder();

/**
 * The words of a corpus next to `word`, which it does not have, the nearest first; those that begin as it does before others. At most
 * `most`. With `unfinished` words that begin with it are as near as can be, otherwise an edit away.
 */
export function nearestWords(
  corpus: readonly CorpusSegment[],
  vectors: WordVectors | null,
  word: string,
  { most, unfinished = false }: { most: number; unfinished?: boolean },
): NearWord[] {
  if (!letters.test(word) || word.length < leastLetters || word.length > mostLetters) return [];
  if (vectors !== null && isCommon(vectors, word)) return [];
  const mostEdits = word.length < twoEditsFrom ? 1 : 2;
  const found = new Map<string, NearWord>();
  const bytes = encoder.encode(word);
  for (const { segment } of corpus) {
    for (const id of similarIds(segment, vectors, word, mostEdits)) {
      if (bytes.length === word.length && !isNear(placeOf(segment, vectors, id), bytes, mostEdits)) continue;
      const near = wordOf(segment, vectors, id);
      if (near === null || found.has(near.word)) continue;
      const begins = near.word.startsWith(word);
      const edits = begins ? Number(!unfinished) : editDistance(word, near.word, mostEdits);
      if (edits <= mostEdits) found.set(near.word, { ...near, edits });
    }
  }
  const all = [...found.values()];
  const rank = ({ word: other, edits }: NearWord) =>
    edits + (other[0] === word[0] ? 0 : 0.5) + Math.abs(other.length - word.length) / 100;
  const ranks = all.map(rank);
  const nearer = (a: number, b: number) => ranks[a] - ranks[b] || (all[a].word < all[b].word ? -1 : 1);
  const live: NearWord[] = [];
  // Dictionaries keep the words of what was forgotten until segments are merged.
  for (const at of [...all.keys()].sort(nearer)) {
    if (live.length < most && documentFrequency(corpus, all[at].stem) > 0) live.push(all[at]);
  }
  return live;
}

/** Whether a word begins with this one of ASCII, or is so many edits from it: told by its bytes, before it is decoded. */
function isNear({ table, at }: { table: TermTable; at: number }, bytes: Uint8Array, mostEdits: number): boolean {
  const { offsets } = table;
  const length = offsets[at + 1] - offsets[at];
  if (length > bytes.length && beginsWith({ table, at }, bytes)) return true;
  return editsBetween(bytes, bytes.length, table.bytes, offsets[at], length, mostEdits) <= mostEdits;
}

/** A word as one of the segments that have it holds it. */
interface HeldWord {
  segment: Segment;
  id: number;
  /** In all segments. */
  passages: number;
}

/** The words of a corpus that begin with `word` and go on, those of most passages first; as many as there are weights. Words that are not so common are counted, and not read. */
function completedWords(corpus: readonly CorpusSegment[], vectors: WordVectors | null, word: string): NearWord[] {
  if (!letters.test(word) || word.length < leastBeginning || word.length > mostLetters) return [];
  const bytes = encoder.encode(word);
  const set = setOf(bytes, 0, bytes.length);
  const found = new Map<number | string, HeldWord>();
  for (const { segment } of corpus) {
    const { lengths, sets } = shapesOf(segment, vectors);
    for (const id of wordsBeginning(segment, vectors, bytes)) {
      if (lengths[id] <= bytes.length || (set & ~sets[id]) !== 0 || !beginsWith(placeOf(segment, vectors, id), bytes))
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
  const all = [...found.values()];
  const counts = Uint32Array.from(all, ({ passages }) => passages).sort();
  for (let count = 4 * COMPLETIONS.length; ; count *= 4) {
    const least = counts[Math.max(0, all.length - count)];
    const commonest = all.filter(({ passages }) => passages >= least);
    const completed = commonestOf(corpus, vectors, commonest);
    if (completed.length === COMPLETIONS.length || count >= all.length) return completed;
  }
}

/** Of words those of most passages first, one for each stem that a passage has; as many as there are weights. */
function commonestOf(corpus: readonly CorpusSegment[], vectors: WordVectors | null, held: HeldWord[]): NearWord[] {
  const words = held.flatMap(({ segment, id, passages }) => {
    const near = wordOf(segment, vectors, id);
    return near === null ? [] : { near: { ...near, edits: 0 }, passages };
  });
  const byStem = new Map<string, NearWord>();
  for (const { near } of words.sort((a, b) => b.passages - a.passages || (a.near.word < b.near.word ? -1 : 1))) {
    if (byStem.size === COMPLETIONS.length) break;
    if (!byStem.has(near.stem) && documentFrequency(corpus, near.stem) > 0) byStem.set(near.stem, near);
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

/** The words of a segment whose first two bytes are these. */
function wordsBeginning(segment: Segment, vectors: WordVectors | null, bytes: Uint8Array): Uint32Array {
  const { byBeginning } = shapesOf(segment, vectors);
  const beginningOf = (id: number) => {
    const { table, at } = placeOf(segment, vectors, id);
    return firstTwo(table.bytes, table.offsets[at]);
  };
  const firstNotBelow = (beginning: number) => {
    let [low, high] = [0, byBeginning.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (beginningOf(byBeginning[middle]) < beginning) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const beginning = firstTwo(bytes, 0);
  return byBeginning.subarray(firstNotBelow(beginning), firstNotBelow(beginning + 1));
}

const firstTwo = (bytes: Uint8Array, from: number) => 256 * bytes[from] + bytes[from + 1];

function beginsWith(
  { table: { bytes, offsets }, at }: { table: TermTable; at: number },
  beginning: Uint8Array,
): boolean {
  for (let place = 0; place < beginning.length; place++)
    if (bytes[offsets[at] + place] !== beginning[place]) return false;
  return true;
}

/** Documents that hold the stem of a word, deleted ones included. */
function passagesWith({ forward, starts }: Segment, id: number): number {
  const stem = forward === null ? id : forward.wordStems[id];
  return starts[stem + 1] - starts[stem];
}

/** Whether a word is one of English, as it is: that no text has it does not make it another. */
function isCommon({ vocabulary }: WordVectors, word: string): boolean {
  const rank = lookupTerm(vocabulary, word);
  return rank >= 0 && rank < commonWords;
}

/** Words of a segment that may be so near, or begin with the word. */
function similarIds(segment: Segment, vectors: WordVectors | null, word: string, edits: number): number[] {
  const { lengths, sets } = shapesOf(segment, vectors);
  const bytes = encoder.encode(word);
  const set = setOf(bytes, 0, bytes.length);
  // An edit changes a letter of one byte, or of up to three.
  const perEdit = bytes.length === word.length ? 1 : 3;
  const [farthest, differing] = [edits * perEdit, 2 * edits * perEdit];
  const ids: number[] = [];
  for (let id = 0; id < lengths.length; id++) {
    const longer = lengths[id] - bytes.length;
    if (longer > farthest) {
      if ((set & ~sets[id]) === 0) ids.push(id);
    } else if (longer >= -farthest && bitCount(sets[id] ^ set) <= differing) ids.push(id);
  }
  return ids;
}

function shapesOf(segment: Segment, vectors: WordVectors | null): WordShapes {
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
  /** By beginning, the place of its next word: sorted by counting. */
  const places = new Uint32Array(0x1_0001);
  for (let id = 0; id < count; id++) {
    const { table, at } = placeOf(segment, vectors, id);
    const [from, to] = [table.offsets[at], table.offsets[at + 1]];
    lengths[id] = Math.min(255, to - from);
    sets[id] = setOf(table.bytes, from, to);
    if (to - from < 2) continue;
    beginnings[id] = firstTwo(table.bytes, from);
    places[beginnings[id] + 1]++;
  }
  for (let beginning = 1; beginning < places.length; beginning++) places[beginning] += places[beginning - 1];
  const byBeginning = new Uint32Array(places[places.length - 1]);
  for (let id = 0; id < count; id++) if (lengths[id] >= 2) byBeginning[places[beginnings[id]]++] = id;
  return { lengths, sets, byBeginning };
}

/** Where the letters of a word are. */
function placeOf(
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

function wordOf(segment: Segment, vectors: WordVectors | null, id: number): Omit<NearWord, 'edits'> | null {
  const { table, at } = placeOf(segment, vectors, id);
  const word = termOf(table, at);
  if (!letters.test(word)) return null;
  const { forward, terms } = segment;
  if (forward === null) return { word, stem: word, row: -1 };
  return { word, stem: termOf(terms, forward.wordStems[id]), row: forward.wordRows[id] };
}

function setOf(bytes: Uint8Array, from: number, to: number): number {
  let set = 0;
  for (let i = from; i < to; i++) set |= 1 << (bytes[i] & 31);
  return set >>> 0;
}

function bitCount(bits: number): number {
  let left = bits - ((bits >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function wordsIn(corpus: readonly CorpusSegment[], vectors: WordVectors | null): KnownWords {
  return {
    languages: languagesOf(corpus),
    spoken: spokenLanguages(corpus),
    isKnown: (stem) => documentFrequency(corpus, stem) > 0,
    nearest: (word) => nearestWords(corpus, vectors, word, { most: GUESSES.length }),
    completions: (word) => completedWords(corpus, vectors, word),
  };
}
