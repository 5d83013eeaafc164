/** The text for the tokenizer, with equal offsets: plain spaces; unspaced scripts and long runs become blanks. */
import { normalizeText } from '../../domain/normalize-text.ts';
import { memoized } from '../structures/memoized.ts';
import { type CharacterRun, findUnspacedRuns } from './scripts.ts';
import { curlyApostrophes } from './word-terms.ts';

/** The slowest input, `$1$1…`, takes 1 ms for 256 units, 7 ms for 1,024. Words and nearly all URLs are shorter. */
export const longestRun = 128;

const spaceOrControl = /[\s\p{Cc}\u200b\ufeff]/gu;
const plainAscii = /^[\x20-\x7e\n]*$/;
/** Fixed length, as an open-ended pattern overflows the engine's stack. */
const longRunStart = new RegExp(`(?<![^ ])[^ ]{${longestRun + 1}}`, 'g');
/** Invisible characters inside words, replaced by a letter. */
const joiners = /[\u00ad\u2060]|(?<=[\p{L}\p{M}])\p{Join_C}(?=\p{L})/gu;
/** Non-ASCII letters and digits: the tokenizer knows Latin-1 only and splits `Łódź`. */
const foreignLetters = /(?!\p{ASCII})(?:\p{L}|\p{N}|(?<=[\p{L}\p{N}\p{M}])\p{M})/gu;
const loneSurrogates = /\p{Surrogate}/gu;

export interface SetAsideRun extends CharacterRun {
  /** False: the run is too long. */
  unspaced: boolean;
}

export interface TokenizerView {
  view: string;
  /** Blanked runs; ascending, disjoint. */
  runs: SetAsideRun[];
}

/** Linear. Lone surrogates and control characters become spaces. */
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

/** ASCII of equal length, case and kind: the base letter, if there is one. At most one entry per letter of Unicode. */
const standIn = memoized(Number.POSITIVE_INFINITY, (character: string) => {
  const base = normalizeText(character, 'NFD')[0];
  let letter = 'x';
  if (/[a-z]/i.test(base)) letter = base;
  else if (/\p{N}/u.test(character)) letter = '1';
  else if (/\p{Lu}/u.test(character)) letter = 'X';
  return letter.repeat(character.length);
});

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
