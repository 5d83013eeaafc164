/**
 * Words of a corpus that are nearest to one that it does not have: misspelt, or not finished. All words of a segment are looked through by length
 * and set of letters; of some hundreds that may be near the edits are counted.
 */
import type { WordVectors } from '../../compute/embedding/word-vectors.ts';
import { lookupTerm, type TermTable } from '../../compute/structures/term-table.ts';
import { editDistance, editsBetween } from '../../compute/text/edit-distance.ts';
import { compoundsOf, partsOf } from './compounds.ts';
import { type CorpusSegment, documentFrequency } from './corpus.ts';
import {
  bitCount,
  type CorpusWord,
  commonestOf,
  has,
  letters,
  placeOf,
  setOf,
  shapesOf,
  wordOf,
  wordsWith,
} from './corpus-words.ts';
import { languagesOf, spokenLanguages } from './languages.ts';
import type { Segment } from './segment.ts';

export interface NearWord extends CorpusWord {
  /** Edits between the two. */
  edits: number;
}

/** What a corpus knows of the words of queries. */
export interface KnownWords {
  /** The library's languages, the commonest first; and those of them that queries may be in. */
  languages: readonly string[];
  spoken: readonly string[];
  isKnown: (stem: string) => boolean;
  /** As of `nearestWords`, as many as there are guesses. */
  nearest: (spellings: readonly string[]) => NearWord[];
  /** As of `completedWords`. */
  completions: (word: string) => CorpusWord[];
  /** As of `partsOf`, and of `compoundsOf`. */
  parts: (word: string, language: string) => string[];
  compounds: (stem: string, language: string) => CorpusWord[];
}

/** Where nothing is known of the texts. */
export const noWords: KnownWords = {
  languages: [],
  spoken: [],
  isKnown: () => true,
  nearest: () => [],
  completions: () => [],
  parts: () => [],
  compounds: () => [],
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
const encoder = new TextEncoder();

/**
 * The words of a corpus next to one that it does not have, in the nearest of the `spellings` of that: of most languages a corpus has folded stems.
 * The first of these is the word itself. The nearest first; those that begin as it does before others, and those that begin with it as if they were an
 * edit away. At most `most`.
 */
export function nearestWords(
  corpus: readonly CorpusSegment[],
  vectors: WordVectors | null,
  spellings: readonly string[],
  most: number,
): NearWord[] {
  if (vectors !== null && isCommon(vectors, spellings[0])) return [];
  const near = spellings.flatMap((word) => nearestTo(corpus, vectors, word, most)).sort((a, b) => a.edits - b.edits);
  const words = new Map<string, NearWord>();
  for (const each of near) if (!words.has(each.word)) words.set(each.word, each);
  return [...words.values()].slice(0, most);
}

function nearestTo(
  corpus: readonly CorpusSegment[],
  vectors: WordVectors | null,
  word: string,
  most: number,
): NearWord[] {
  if (!letters.test(word) || word.length < leastLetters || word.length > mostLetters) return [];
  const mostEdits = word.length < twoEditsFrom ? 1 : 2;
  const found = new Map<string, NearWord>();
  const bytes = encoder.encode(word);
  for (const { segment } of corpus) {
    for (const id of similarIds(segment, vectors, word, mostEdits)) {
      if (bytes.length === word.length && !isNear(placeOf(segment, vectors, id), bytes, mostEdits)) continue;
      const near = wordOf(segment, vectors, id);
      if (near === null || found.has(near.word)) continue;
      const begins = near.word.startsWith(word);
      const edits = begins ? 1 : editDistance(word, near.word, mostEdits);
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
  if (length > bytes.length && has({ table, at }, bytes, 'beginning')) return true;
  return editsBetween(bytes, bytes.length, table.bytes, offsets[at], length, mostEdits) <= mostEdits;
}

/** The words of a corpus that begin with `word` and go on, those of most passages first; as many as there are weights. */
function completedWords(corpus: readonly CorpusSegment[], vectors: WordVectors | null, word: string): CorpusWord[] {
  if (!letters.test(word) || word.length < leastBeginning || word.length > mostLetters) return [];
  return commonestOf(corpus, vectors, wordsWith(corpus, vectors, word, 'beginning'), COMPLETIONS.length);
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

export function wordsIn(corpus: readonly CorpusSegment[], vectors: WordVectors | null): KnownWords {
  return {
    languages: languagesOf(corpus),
    spoken: spokenLanguages(corpus),
    isKnown: (stem) => documentFrequency(corpus, stem) > 0,
    nearest: (spellings) => nearestWords(corpus, vectors, spellings, GUESSES.length),
    completions: (word) => completedWords(corpus, vectors, word),
    parts: (word, language) => partsOf(corpus, word, language),
    compounds: (stem, language) => compoundsOf(corpus, vectors, stem, language),
  };
}
