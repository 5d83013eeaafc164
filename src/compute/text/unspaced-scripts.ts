/**
 * Scripts written without spaces between words. Those of Thai, Lao, Khmer and Burmese are cut into words by the dictionaries of
 * `Intl.Segmenter`. Of Han, Hiragana, Katakana, and of Hangul, whose words change their endings, the unit is the character, and
 * search terms are overlapping pairs of characters, so that any part of a run is found by a query of two characters or more. An ideograph is
 * often a word by itself (猫, 本): texts are found by each of theirs, too, as a query of one has it (`ideographTerm`). Knows nothing of the tokenizer.
 */
import { normalizeText } from '../../domain/normalize-text.ts';

/** Cheap first look, on UTF-16 code units: false for nearly every text that has none of these scripts. */
const mayBeUnspaced =
  /[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u19e0-\u19ff\u2e80-\ua4cf\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7ff\ud840-\ud8bf\uf900-\ufaff\uff01-\uffef]/;
/**
 * A run of these scripts with their punctuation (full-width ASCII letters and digits are words of spaced scripts).
 * Bounded, so that the regular expression engine needs no stack for a text of millions of such characters.
 */
const unspacedRun =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}！-／：-＠［-｀｛-･]{1,4096}/gu;
/**
 * A character with its marks; marks are bounded, so that a pile of them is not one endless character. The letters of a Korean syllable may be written
 * apart, and the voicing mark of a halfwidth kana always is.
 */
const characters = String.raw`[\u1100-\u115f\ua960-\ua97c]{1,2}[\u1160-\u11a7\ud7b0-\ud7c6]{1,2}[\u11a8-\u11ff\ud7cb-\ud7fb]{0,2}|[\uff66-\uff9d][\uff9e\uff9f]|[^\p{M}]\p{M}{0,8}|\p{M}`;
const character = new RegExp(characters, 'gu');
const longestPiece = 256;
/** Text to be cut by dictionary, bounded because the segmenter's time is quadratic; or a character. */
const piece = new RegExp(
  String.raw`[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]{1,256}|${characters}`,
  'gu',
);
const ofDictionary = /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const ofPairs = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/u;
/** One for all of them: the dictionary goes by the script. */
const segmenter = new Intl.Segmenter('th', { granularity: 'word' });
const letterOrDigit = /[\p{L}\p{N}]/u;
const sentenceEnd = /[。｡．！？]/;
const ideograph = /^\p{Script=Han}\p{M}{0,8}$/u;
/** Ideographs begin here, in UTF-16 units: a cheap first look. */
const firstIdeograph = 0x2e80;

export interface CharacterRun {
  start: number;
  end: number;
}

/** One character of a run: `word` is the character, `term` its pair with the next one; or a word by dictionary. Both '' for punctuation. */
export interface CharacterToken {
  start: number;
  end: number;
  word: string;
  term: string;
  /** Characters. */
  cost: number;
  endsSentence: boolean;
}

/** Whether a word is of a script that a dictionary cuts into words. */
export function isOfDictionary(word: string): boolean {
  return ofDictionary.test(word);
}

/** Whether a word is of a script whose terms are pairs of characters. */
export function isOfPairs(word: string): boolean {
  return mayBeUnspaced.test(word) && ofPairs.test(word);
}

/** Whether a word or term is a single ideograph. */
export function isIdeograph(word: string): boolean {
  return word.charCodeAt(0) >= firstIdeograph && ideograph.test(word);
}

/** The term of a single ideograph, the one that it has in a query of its own; '' for any other word. */
export function ideographTerm(word: string): string {
  return isIdeograph(word) ? normalizeText(word, 'NFKC') : '';
}

/** Where the words of a run of characters begin that are searched for by pairs; ascending places of characters, without the first. */
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

/** The maximal runs of unspaced scripts in a text, ascending, without those that are only white space. */
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

/**
 * Call `emit` for each character of a run, white space left out.
 * The last letter of two or more has no term, since its pair is the one before; a lone letter is its own term.
 */
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

/** Tell the words of a piece; gives how far they go: the last word of a piece that was cut is left to the next. */
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
