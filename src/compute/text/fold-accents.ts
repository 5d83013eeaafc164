/**
 * Folds letters for search: `café` = `cafe`, `straße` = `strasse`, full-width = ASCII. Only drops optional marks (Latin, Greek and
 * Cyrillic accents, Arabic and Hebrew pointing); vowel signs of Indic scripts stay. The same for texts and queries.
 */
import { normalizeText } from '../../domain/normalize-text.ts';

/** Letters without a Unicode decomposition, with their usual respelling. */
const spelledOut: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ħ', 'h'],
  ['ı', 'i'],
  ['ŧ', 't'],
  ['ŋ', 'n'],
]);
/** Languages with significant accents, as `ma`, `má` and `mà` in Vietnamese. */
const accented: ReadonlySet<string> = new Set(['vi']);

export function accentsTellWords(language: string): boolean {
  return accented.has(language);
}

const spelledOutLetters = /[ßæœøłđðþħıŧŋ]/g;
/** Combining diacritics; Hebrew points; Arabic harakat, superscript alef and tatweel. */
const droppedMarks =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]/g;
const plainAscii = /^[\0-\x7f]*$/;

/** For lower-cased strings; NFC and idempotent. */
export function foldAccents(lowerCased: string): string {
  if (plainAscii.test(lowerCased)) return lowerCased;
  const folded = normalizeText(lowerCased, 'NFKD')
    .toLowerCase()
    .replace(droppedMarks, '')
    .replace(spelledOutLetters, (letter) => spelledOut.get(letter) ?? letter);
  return normalizeText(folded, 'NFC');
}
