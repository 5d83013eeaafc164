/**
 * Accents, and scripts without spaces. Thai, Lao, Khmer and Burmese words are split by `Intl.Segmenter`. For Han, Hiragana, Katakana and
 * Hangul (with changing endings) terms are overlapping character pairs, so queries of two characters or more find any part. Ideographs
 * are often words (猫, 本) and are found alone too (`ideographTerm`).
 */
import lists from '../../../models/word-lists.json' with { type: 'json' };
import { normalizeText } from '../../domain/normalize-text.ts';

/** Cheap test on code units: false for nearly all other texts. */
const mayBeUnspaced =
  /[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u19e0-\u19ff\u2e80-\ua4cf\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7ff\ud840-\ud8bf\uf900-\ufaff\uff01-\uffef]/;
/** A run of these scripts with punctuation (full-width ASCII is spaced). Bounded, to spare the regular expression engine's stack. */
const unspacedRun =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}！-／：-＠［-｀｛-･]{1,4096}/gu;
/** A character with a bounded number of marks. Includes decomposed Korean syllables and the voicing mark of halfwidth kana. */
const characters = String.raw`[\u1100-\u115f\ua960-\ua97c]{1,2}[\u1160-\u11a7\ud7b0-\ud7c6]{1,2}[\u11a8-\u11ff\ud7cb-\ud7fb]{0,2}|[\uff66-\uff9d][\uff9e\uff9f]|[^\p{M}]\p{M}{0,8}|\p{M}`;
const character = new RegExp(characters, 'gu');
const longestPiece = 256;
/** Text for the dictionary, bounded as the segmenter is quadratic; or a character. */
const piece = new RegExp(
  String.raw`[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]{1,256}|${characters}`,
  'gu',
);
const ofDictionary = /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const ofPairs = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/u;
/** The dictionary works for all these scripts. */
const segmenter = new Intl.Segmenter('th', { granularity: 'word' });
const letterOrDigit = /[\p{L}\p{N}]/u;
const sentenceEnd = /[。｡．！？]/;
const ideograph = /^\p{Script=Han}\p{M}{0,8}$/u;
/** In UTF-16 units, for a cheap test. */
const firstIdeograph = 0x2e80;

export interface CharacterRun {
  start: number;
  end: number;
}

/** A character with its pair as `term`, or a dictionary word. Both '' for punctuation. */
export interface CharacterToken {
  start: number;
  end: number;
  word: string;
  term: string;
  cost: number;
  endsSentence: boolean;
}

export function isOfDictionary(word: string): boolean {
  return ofDictionary.test(word);
}

export function isOfPairs(word: string): boolean {
  return mayBeUnspaced.test(word) && ofPairs.test(word);
}

export function isIdeograph(word: string): boolean {
  return word.charCodeAt(0) >= firstIdeograph && ideograph.test(word);
}

/** The term of an ideograph in a one-character query; '' for other words. */
export function ideographTerm(word: string): string {
  return isIdeograph(word) ? normalizeText(word, 'NFKC') : '';
}

/** Word borders in a run that is searched by pairs; ascending, without 0. */
export function wordBorders(characters: readonly string[]): Set<number> {
  const placeAt = new Map<number, number>();
  let length = 0;
  for (const [place, each] of characters.entries()) {
    placeAt.set(length, place);
    length += each.length;
  }
  const borders = Array.from(segmenter.segment(characters.join('')), ({ index }) => placeAt.get(index) ?? 0);
  return new Set(borders.filter((place) => place > 0));
}

/** Maximal runs, ascending, except those of white space only. */
export function findUnspacedRuns(text: string): CharacterRun[] {
  const runs: CharacterRun[] = [];
  if (!mayBeUnspaced.test(text)) return runs;
  for (const match of text.matchAll(unspacedRun)) {
    const end = match.index + match[0].length;
    const last = runs.at(-1);
    if (last?.end === match.index) last.end = end;
    else runs.push({ start: match.index, end });
  }
  return runs;
}

/** Skips white space. The last letter of several has no term, as its pair is the previous one; a lone letter is its own term. */
export function eachCharacter(text: string, run: CharacterRun, emit: (token: CharacterToken) => void): void {
  let previous: CharacterToken | undefined;
  let previousPaired = false;
  const flush = (): void => {
    if (previous !== undefined) emit(previous);
    previous = undefined;
  };
  const within = text.slice(run.start, run.end);
  const pieces = new RegExp(piece);
  for (let match = pieces.exec(within); match !== null; match = pieces.exec(within)) {
    const surface = match[0];
    if (ofDictionary.test(surface)) {
      flush();
      previousPaired = false;
      pieces.lastIndex = match.index + eachDictionaryWord(surface, run.start + match.index, emit);
      continue;
    }
    const isLetter = letterOrDigit.test(surface);
    const word = isLetter ? normalizeText(surface, 'NFC').toLowerCase() : '';
    if (previous !== undefined && previous.word !== '' && isLetter) {
      previous.term = normalizeText(previous.word + word, 'NFKC');
      previousPaired = true;
    } else previousPaired = false;
    flush();
    if (surface.trim() === '') continue;
    const start = run.start + match.index;
    const term = isLetter && !previousPaired ? normalizeText(word, 'NFKC') : '';
    previous = { start, end: start + surface.length, word, term, cost: 1, endsSentence: sentenceEnd.test(surface) };
  }
  flush();
}

/** Terms of a word, whose scripts may be mixed: pairs, dictionary words, and the text between. */
export function partsIn(word: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const run of findUnspacedRuns(word)) {
    parts.push(word.slice(from, run.start));
    eachCharacter(word, run, ({ term }) => parts.push(term));
    from = run.end;
  }
  return [...parts, word.slice(from)].filter((part) => part !== '');
}

/** Emits the words of a piece and returns where they end: the last word of a cut piece belongs to the next piece. */
function eachDictionaryWord(text: string, from: number, emit: (token: CharacterToken) => void): number {
  const words = [...segmenter.segment(text)];
  if (text.length === longestPiece && words.length > 1) words.pop();
  let read = 0;
  for (const { segment, index } of words) {
    read = index + segment.length;
    const start = from + index;
    const word = letterOrDigit.test(segment) ? normalizeText(segment, 'NFC') : '';
    const cost = segment.match(character)?.length ?? 1;
    emit({ start, end: start + segment.length, word, term: normalizeText(word, 'NFKC'), cost, endsSentence: false });
  }
  return read;
}

/** Letters without a Unicode decomposition, with their usual respelling. */
const spelledOut: ReadonlyMap<string, string> = new Map(Object.entries(lists.spelled_out_letters));
const spelledOutLetters = new RegExp(`[${[...spelledOut.keys()].join('')}]`, 'g');
/** Languages in which accents distinguish words, as `ma`, `má` and `mà` in Vietnamese. */
const accented: ReadonlySet<string> = new Set(['vi']);

export function accentsTellWords(language: string): boolean {
  return accented.has(language);
}

/** Combining diacritics; Hebrew points; Arabic harakat, superscript alef and tatweel. */
const droppedMarks =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]/g;
const plainAscii = /^[\0-\x7f]*$/;

/**
 * Folds letters of lower-cased strings for search: `café` = `cafe`, `straße` = `strasse`, full-width = ASCII. Only drops optional marks
 * (Latin, Greek and Cyrillic accents, Arabic and Hebrew pointing); vowel signs of Indic scripts stay. NFC and idempotent.
 */
export function foldAccents(lowerCased: string): string {
  if (plainAscii.test(lowerCased)) return lowerCased;
  const folded = normalizeText(lowerCased, 'NFKD')
    .toLowerCase()
    .replace(droppedMarks, '')
    .replace(spelledOutLetters, (letter) => spelledOut.get(letter) ?? letter);
  return normalizeText(folded, 'NFC');
}
