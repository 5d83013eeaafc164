/** Finds the words of a corpus that an unknown word may stand for: it is misspelt or unfinished. */

import type { ContentWord } from '../../compute/ranking/query-terms.ts';
import { bitCount } from '../../compute/structures/bitmap.ts';
import { memoized, memoizedByObject } from '../../compute/structures/memoized.ts';
import { editDistance, editsBetween } from '../../compute/text/edit-distance.ts';
import { foldAccents } from '../../compute/text/scripts.ts';
import { isStopWord } from '../../compute/text/stop-words.ts';
import { compoundsOf, partsOf } from './compounds.ts';
import { type CorpusSegment, documentFrequency } from './corpus.ts';
import {
  type CorpusWord,
  commonestOf,
  letters,
  placeOf,
  setOf,
  shapesOf,
  stemsBeginning,
  type WordPlace,
  wordOf,
  wordsWith,
} from './corpus-words.ts';
import { languagesOf, spokenLanguages } from './languages.ts';
import { languagesOfPairs, pairsOf, stemsOf } from './phrases.ts';
import type { Segment } from './segment.ts';

/** Weights of the possible completions of an unfinished word, most frequent first. */
export const COMPLETIONS = [0.8, 0.6, 0.5, 0.4, 0.3];
/** The same if texts contain the word as it is: so small that these texts come first. */
export const COMPLETIONS_OF_WHOLE = COMPLETIONS.map((share) => share / 16);
/** Min letters of a prefix; a shorter one matches half of the dictionary. */
const leastBeginning = 2;

/** Min letters; a shorter word may be anything. Words of the second length may have two edits. */
const leastLetters = 4;
const twoEditsFrom = 10;
const mostLetters = 40;
const encoder = new TextEncoder();

/** The most frequent completion of `word`, else the word nearest to a spelling; null if a spelling is a known word. */
export function nearestWord(
  corpus: readonly CorpusSegment[],
  word: string,
  spellings: readonly string[],
): CorpusWord | null {
  const list = corpus[0]?.segment.list ?? null;
  const isListed = (each: string) => isStopWord(each) || (list?.has(each) ?? false);
  if (word.length < leastLetters || [word, ...spellings].some(isListed)) return null;
  const [goingOn] = completedWords(corpus, word);
  if (goingOn !== undefined) return goingOn;
  const near = spellings.flatMap((spelling) => nearTo(corpus, spelling) ?? []);
  return near.sort((a, b) => a.distance - b.distance)[0]?.word ?? null;
}

/** The nearest word by edits; another first letter adds half an edit. Ties by length, then by frequency. */
function nearTo(corpus: readonly CorpusSegment[], word: string): { word: CorpusWord; distance: number } | null {
  if (!letters.test(word) || word.length < leastLetters || word.length > mostLetters) return null;
  const mostEdits = word.length < twoEditsFrom ? 1 : 2;
  const known = new Set<string>();
  const bytes = encoder.encode(word);
  let best: { word: CorpusWord; distance: number } | null = null;
  for (const { segment } of corpus) {
    for (const id of similarIds(segment, word, mostEdits)) {
      if (bytes.length === word.length && !isNear(placeOf(segment, id), bytes, mostEdits)) continue;
      const near = wordOf(segment, id);
      if (near === null || known.has(near.word)) continue;
      known.add(near.word);
      const edits = editDistance(word, near.word, mostEdits);
      // Dictionaries keep the words of forgotten pages until segments are merged.
      const passages = edits > mostEdits ? 0 : documentFrequency(corpus, near.stem);
      if (passages === 0) continue;
      const byLength = Math.abs(near.word.length - word.length) / 100;
      const distance = edits + (near.word[0] === word[0] ? 0 : 0.5) + byLength + 0.001 / passages;
      if (best === null || distance < best.distance) best = { word: near, distance };
    }
  }
  return best;
}

/** Compares bytes of ASCII words before decoding them. */
function isNear({ bytes: all, from, to }: WordPlace, bytes: Uint8Array, mostEdits: number): boolean {
  return editsBetween(bytes, bytes.length, all, from, to - from, mostEdits) <= mostEdits;
}

/** Longer words that begin with `word`, most frequent first. If there are none, those that match without accents. */
function completedWords(corpus: readonly CorpusSegment[], word: string): CorpusWord[] {
  if (!letters.test(word) || word.length < leastBeginning || word.length > mostLetters) return [];
  const found = commonestOf(corpus, wordsWith(corpus, word, 'beginning'), COMPLETIONS.length);
  const folded = foldAccents(word);
  return found.length > 0 || folded === word ? found : completedWords(corpus, folded);
}

function similarIds(segment: Segment, word: string, edits: number): number[] {
  const { lengths, sets } = shapesOf(segment);
  const bytes = encoder.encode(word);
  const set = setOf(bytes, 0, bytes.length);
  // An edit changes a letter of one byte or, outside of ASCII, up to three bytes.
  const perEdit = bytes.length === word.length ? 1 : 3;
  const [farthest, differing] = [edits * perEdit, 2 * edits * perEdit];
  const ids: number[] = [];
  for (let id = 0; id < lengths.length; id++) {
    const longer = lengths[id] - bytes.length;
    if (Math.abs(longer) <= farthest && bitCount(sets[id] ^ set) <= differing) ids.push(id);
  }
  return ids;
}

/** Rarer spellings are words broken at the end of a line: `lan guage`. */
const leastApart = 0.1;

const mostParts = 4096;

/** Whether texts contained a word when this corpus was published. Cached, as users type most words letter by letter. */
const isPartOf = memoizedByObject((corpus: readonly CorpusSegment[]) => {
  const languages = languagesOfPairs(corpus.map(({ segment }) => segment));
  return memoized(mostParts, (part: string): boolean =>
    stemsOf(part, languages).some((stem) => documentFrequency(corpus, stem) > 0),
  );
});

/** Pairs that texts write for a word: `java script` for `javascript`. */
function writtenApart(
  corpus: readonly CorpusSegment[],
  { word, stems }: Pick<ContentWord, 'word' | 'stems'>,
  language: string,
): string[] {
  const whole = Math.max(...stems.map((stem) => documentFrequency(corpus, stem)));
  const least = Math.max(1, leastApart * whole);
  const hasParts = (pair: string) => pair.split(' ').every(isPartOf(corpus));
  return pairsOf(word, language).filter((pair) => hasParts(pair) && documentFrequency(corpus, pair) >= least);
}

export type KnownWords = ReturnType<typeof wordsIn>;

export function wordsIn(corpus: readonly CorpusSegment[]) {
  return {
    /** The library's languages, most frequent first, and those of them in which queries may be. */
    languages: languagesOf(corpus),
    spoken: spokenLanguages(corpus),
    isKnown: (stem: string) => documentFrequency(corpus, stem) > 0,
    nearest: (word: string, spellings: readonly string[]) => nearestWord(corpus, word, spellings),
    completions: (word: string) => completedWords(corpus, word),
    beginning: (part: string) => stemsBeginning(corpus, part),
    parts: (word: string, language: string) => partsOf(corpus, word, language),
    compounds: (stem: string, language: string) => compoundsOf(corpus, stem, language),
    apart: (word: Pick<ContentWord, 'word' | 'stems'>, language: string) => writtenApart(corpus, word, language),
  };
}
