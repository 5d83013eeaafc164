/**
 * Prepares a text for the tokenizer without moving a single character: the view has the length of the text, every kind of
 * white space is a plain space, and what the tokenizer cannot do (unspaced scripts) or does in quadratic time (very long
 * runs without a space) is blanked out and handed back as runs. Offsets in the view are offsets in the text.
 */
import { normalizeText } from '../../domain/normalize-text.ts';
import { type CharacterRun, findUnspacedRuns } from './unspaced-scripts.ts';
import { curlyApostrophes } from './word-terms.ts';

/**
 * Longest run without a space that the tokenizer is given. Measured with `$1$1…`, its slowest input: 1 ms for 256 units
 * and 7 ms for 1,024; words, nearly all URLs and any markup are shorter.
 */
export const longestRun = 128;

const spaceOrControl = /[\s\p{Cc}\u200b\ufeff]/gu;
const plainAscii = /^[\x20-\x7e\n]*$/;
/** The beginning of a longer run; of fixed length, because the engine's stack does not bear an open-ended one. */
const longRunStart = new RegExp(`(?<![^ ])[^ ]{${longestRun + 1}}`, 'g');
/** Invisible characters inside words; a letter in their place keeps the word together. */
const joiners = /[\u00ad\u2060]|(?<=[\p{L}\p{M}])\p{Join_C}(?=\p{L})/gu;
/** Letters, digits and their marks outside ASCII: the tokenizer knows Latin-1 only and cuts `Łódź` into three. */
const foreignLetters = /(?!\p{ASCII})(?:\p{L}|\p{N}|(?<=[\p{L}\p{N}\p{M}])\p{M})/gu;
const loneSurrogates = /\p{Surrogate}/gu;

export interface SetAsideRun extends CharacterRun {
  /** A run of unspaced scripts; otherwise a run that is too long for the tokenizer. */
  unspaced: boolean;
}

export interface TokenizerView {
  view: string;
  /** The runs that are blank in the view; ascending, not overlapping. */
  runs: SetAsideRun[];
}

/** Linear in the length of the text. Lone surrogates and control characters become spaces: they are in no token. */
export function tokenizerView(text: string): TokenizerView {
  if (plainAscii.test(text)) return setLongRunsAside(text.replaceAll('\n', ' '), []);
  const spaced = text
    .replace(spaceOrControl, ' ')
    .replace(curlyApostrophes, "'")
    .replace(joiners, 'x')
    .replace(loneSurrogates, ' ');
  const unspaced = findUnspacedRuns(spaced);
  return setLongRunsAside(
    blank(spaced, unspaced).replace(foreignLetters, standIn),
    unspaced.map((run) => ({ ...run, unspaced: true })),
  );
}

function setLongRunsAside(view: string, runs: SetAsideRun[]): TokenizerView {
  const long: SetAsideRun[] = [];
  longRunStart.lastIndex = 0;
  for (let match = longRunStart.exec(view); match !== null; match = longRunStart.exec(view)) {
    const space = view.indexOf(' ', longRunStart.lastIndex);
    const end = space === -1 ? view.length : space;
    long.push({ start: match.index, end, unspaced: false });
    longRunStart.lastIndex = end;
  }
  if (long.length === 0) return { view, runs };
  return { view: blank(view, long), runs: runs.concat(long).sort((a, b) => a.start - b.start) };
}

/** ASCII of the same length, case and kind (letter or digit): the base letter where there is one. */
function standIn(character: string): string {
  const known = standIns.get(character);
  if (known !== undefined) return known;
  const base = normalizeText(character, 'NFD')[0];
  let letter = 'x';
  if (/[a-z]/i.test(base)) letter = base;
  else if (/\p{N}/u.test(character)) letter = '1';
  else if (/\p{Lu}/u.test(character)) letter = 'X';
  const same = letter.repeat(character.length);
  standIns.set(character, same);
  return same;
}
/** At most one entry for each letter of Unicode that is written with spaces. */
const standIns = new Map<string, string>();

/** The text with spaces in place of runs. */
export function blank(text: string, runs: readonly CharacterRun[]): string {
  if (runs.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of runs) {
    pieces.push(text.slice(at, start), ' '.repeat(end - start));
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}
