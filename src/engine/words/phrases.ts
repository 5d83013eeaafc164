/** Documents with adjacent words, compared by one byte each: wrong for one in 60,000 pairs of neighbours. */
import { isFunctionWord } from '../../compute/ranking/query-terms.ts';
import { addBit, type Bitmap, bitsNotIn, createBitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { memoized, memoizedByObject } from '../../compute/structures/memoized.ts';
import { lookupTerm } from '../../compute/structures/term-table.ts';
import { foldAccents, isOfDictionary, isOfPairs } from '../../compute/text/scripts.ts';
import { porterStem, stemIn } from '../../compute/text/stemmers.ts';
import { wordBytes } from '../../compute/text/word-bytes.ts';
import { UNITS } from './bm25f.ts';
import { languagesOfSegment } from './languages.ts';
import { joinedTerm } from './marked-terms.ts';
import type { Segment } from './segment.ts';

const noBits = createBitmap(0);

/** Documents that contain every word in at least one of its stems. */
export function holdingAll(segment: Segment, words: readonly (readonly string[])[]): number[] {
  const [rarest, ...others] = words.map((stems) => documentsOf(segment, stems)).sort((a, b) => a.count - b.count);
  return rarest.ordinals().filter((ordinal) => others.every(({ holds }) => holds(ordinal)));
}

/** Documents with the phrase, searched near those with its rarest word, because it may cross into a neighbour. */
export function holdingPhrase(
  segment: Segment,
  words: readonly (readonly string[])[],
  phrase: readonly number[],
): number[] {
  if (phrase.length === 0) return [];
  const rarest = words.map((stems) => documentsOf(segment, stems)).reduce((a, b) => (b.count < a.count ? b : a));
  return havingRun(segment, rarest.ordinals(), phrase);
}

function havingRun(segment: Segment, ordinals: readonly number[], phrase: readonly number[]): number[] {
  const bytes = Uint8Array.from(phrase);
  return ordinals.filter((ordinal) => hasRun(segment, ordinal, bytes));
}

/** Whether a document contains the words in order. `before`: how many may be in the preceding document. */
export function hasRun(
  { runs, runStarts }: Segment,
  ordinal: number,
  phrase: Uint8Array,
  before = phrase.length,
): boolean {
  const within = runs.subarray(
    Math.max(0, runStarts[ordinal] - before),
    Math.max(0, runStarts[ordinal + 1] - 1) + phrase.length,
  );
  const isAt = (at: number) => phrase.every((byte, place) => within[at + place] === byte);
  let at = within.indexOf(phrase[0]);
  while (at >= 0 && !isAt(at)) at = within.indexOf(phrase[0], at + 1);
  return at >= 0;
}

function documentsOf({ terms, starts, postings, docs }: Segment, stems: readonly string[]) {
  const lists = stems.map((stem) => lookupTerm(terms, stem)).filter((id) => id >= 0);
  let held: Bitmap | undefined;
  const bits = (): Bitmap => {
    if (held !== undefined) return held;
    held = createBitmap(docs);
    for (const id of lists) for (let at = starts[id]; at < starts[id + 1]; at++) addBit(held, postings[at] >>> 16);
    return held;
  };
  return {
    count: lists.reduce((sum, id) => sum + starts[id + 1] - starts[id], 0),
    holds: (ordinal: number) => hasBit(bits(), ordinal),
    ordinals: () => [...bitsNotIn(bits(), noBits)],
  };
}

/* A word that texts write as two becomes a term with a space (`java script`), with the postings of that phrase. */

/** Max passages; a search that finds more is too slow for its benefit. */
const mostPassages = 1024;
const mostPairs = 1024;
/** Max languages per segment: less frequent ones have few words in it. */
const mostLanguages = 2;
const noPostings = new Uint32Array(0);

/** Min letters; shorter parts are adjacent by chance, except numbers. */
const leastLetters = 4;
const leastPart = 2;
const longestSplit = 24;
const spacedWord = /^[\p{L}\p{M}\p{N}]+$/u;
const digitBorder = /(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** Ways to write a lower-case word as two: cut between letters and digits, or with no stop word as a part. */
export function pairsOf(word: string, language: string): string[] {
  if (!spacedWord.test(word) || isOfPairs(word) || isOfDictionary(word) || word.length > longestSplit) return [];
  const around = word.split(digitBorder);
  if (around.length > 1) return around.length === 2 ? [around.join(' ')] : [];
  const found: string[] = [];
  for (let at = leastPart; at <= word.length - leastPart && word.length >= leastLetters; at++) {
    const parts = [word.slice(0, at), word.slice(at)];
    if (!/^\p{M}/u.test(parts[1]) && !parts.some((part) => isFunctionWord(part, language))) found.push(parts.join(' '));
  }
  return found;
}

export function isPair(term: string): boolean {
  return term.includes(' ') && term >= ' ';
}

/** Postings of a pair, as if it were a term; without documents with the joined word. None if both are common. */
export function pairPostings(segment: Segment, pair: string): Uint32Array {
  return pairsIn(segment)(pair);
}

const pairsIn = memoizedByObject((segment: Segment) =>
  memoized(mostPairs, (pair: string): Uint32Array => {
    const languages = languagesOfPairs([segment]);
    const words: string[][] = [];
    let fewest = mostPassages + 1;
    for (const word of pair.split(' ')) {
      const stems = stemsOf(word, languages);
      fewest = Math.min(fewest, documentsOf(segment, stems).count);
      if (fewest === 0) return noPostings;
      words.push(stems);
    }
    if (fewest > mostPassages) return noPostings;
    const whole = stemsOf(pair.replace(' ', ''), languages);
    const { holds } = documentsOf(segment, [...whole, ...whole.map(joinedTerm)]);
    const documents = havingRun(segment, holdingAll(segment, words), wordBytes(pair));
    return Uint32Array.from(
      documents.filter((ordinal) => !holds(ordinal)),
      (ordinal) => (ordinal << 16) | UNITS,
    );
  }),
);

/** Languages whose stems are tried for the words of pairs. */
export function languagesOfPairs(segments: readonly Segment[]): string[] {
  return [...new Set(segments.flatMap((segment) => languagesOfSegment(segment).slice(0, mostLanguages)))];
}

export function stemsOf(word: string, languages: readonly string[]): string[] {
  const inLanguages = languages.map((language) => stemIn(language, word) ?? word);
  return [...new Set([englishStem(word), ...inLanguages])];
}

/** A query asks for the same words' stems again and again. */
const englishStem = memoized(4096, (word: string) => porterStem(foldAccents(word)));
