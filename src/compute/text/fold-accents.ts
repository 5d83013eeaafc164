/**
 * Folds letters to the form under which they are searched: `café` = `cafe`, `straße` = `strasse`, full-width = ASCII.
 * Only marks that writers leave out are dropped (Latin, Greek and Cyrillic accents, Arabic and Hebrew pointing); the vowel
 * signs of Indic scripts are letters to their readers and stay. Called for terms of documents and of queries alike.
 */
import { normalizeText } from '../../domain/normalize-text.ts';

/** Letters that Unicode does not decompose, with the spelling used for them where the letter is missing. */
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
/** Languages whose accents tell words apart, as `ma`, `má` and `mà` in Vietnamese. */
const accented: ReadonlySet<string> = new Set(['vi']);

/** Whether a word of a language is another word without its accents. */
export function accentsTellWords(language: string): boolean {
  return accented.has(language);
}

const spelledOutLetters = /[ßæœøłđðþħıŧŋ]/g;
/** Combining diacritics; Hebrew points; Arabic harakat, superscript alef and tatweel. */
const droppedMarks =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]/g;
const plainAscii = /^[\0-\x7f]*$/;

/** Fold an already lower-cased string; the result is NFC and folding it again changes nothing. */
export function foldAccents(lowerCased: string): string {
  if (plainAscii.test(lowerCased)) return lowerCased;
  const folded = normalizeText(lowerCased, 'NFKD')
    .toLowerCase()
    .replace(droppedMarks, '')
    .replace(spelledOutLetters, (letter) => spelledOut.get(letter) ?? letter);
  return normalizeText(folded, 'NFC');
}
