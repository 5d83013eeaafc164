/**
 * The form that all exact variants of a name share: without case, accents, punctuation, spacing and a possessive at the end, with known
 * abbreviations written out. Two names of one type are merged automatically if and only if they share it.
 *
 * The form keeps what distinguishes names: `&` as in `AT&T`, `+`, `#`, signs of money and pictures (`C++`, `A♣`), breaks between numbers (`3.10`), the
 * capitals of abbreviations (`B.O.B` is not `Bob`), and a single letter as a word of its own (`Model S` is not `Models`), unless it stands
 * next to letters or numbers alone (`J. R. R.` is `JRR`, `F-16` is `F16`).
 */
import lists from '../../../models/word-lists.json' with { type: 'json' };
import { foldName, withoutJoiners } from '../../domain/normalize-text.ts';
import { foldAccents } from './scripts.ts';

/** Dates and amounts are values, so two different ones are never merged. */
const neverMerged: ReadonlySet<string> = new Set(['date', 'amount']);

/** Abbreviations of words, by their position in a name. */
const [inFront, atEnd, anywhere] = Object.values<Record<string, string>>(lists.abbreviated_words).map(
  (words) => new Map(Object.entries(words)),
);

/** Organisations whose names end in a possessive. */
const possessiveNames: ReadonlySet<string> = new Set(lists.possessive_names);

/** Most names match this: nothing has to be removed from them. */
const plainName = /^[A-Za-z]+(?: [A-Za-z]+)*$/;
const notWritten = /[™®©℠]/gu;
const apostrophes = /['’‘ʼʻ`´＇]/gu;
const possessive = /(?<=\p{L})['’ʼ＇]s$/iu;
const betweenNumbers = /(?<=\p{N})[^\p{L}\p{M}\p{N}&]+(?=\p{N})/gu;
/** `A-Z` differs from `AZ`. */
const betweenLetters = /(?<=(?<!\p{L})\p{L})[-‐‑–−/]+(?=\p{L}(?!\p{L}))/gu;
/** Words after punctuation is removed; a point between numbers stays. */
const parts = /&|\p{So}|[\p{L}\p{M}\p{N}.]+[+#\p{Sc}]*/gu;
const and: ReadonlySet<string> = new Set(['&', 'and', 'und', 'et']);
const capitals = /^[\p{Lu}\p{N}]+$/u;
/** A longer word in capitals is not an abbreviation. */
const longestAbbreviation = 5;
/** One-word names of up to four letters keep a final point, those of up to three also their accents: `Mass.`, `Co.`, `Cơ`. */
const shortest = /^\p{Lu}?\p{Ll}{1,3}$/u;
/** `A.D.` is not `AD`, unless one is known: so short an abbreviation has many meanings. */
const twoInitials = /^\p{Lu}\. ?\p{Lu}\.?$/u;

/** Letters with spaces alone between them: `C H O`, which is not `CHO`. */
const spacedLetters = /^\p{Lu}(?: \p{Lu})+$/u;
/** Syllables with accents, of up to so many letters, keep their space: `Ba Tư` is not `Batu`. */
const longestSyllable = 3;

const spaceOfInitials = /(?<=(?:^| )[\p{Lu}\p{Ll}]) (?=[\p{Lu}\p{Ll}](?: |$))/gu;
const spaceOfWords = /(?<!(?:^| )[\p{Lu}\p{Ll}]) (?![\p{Lu}\p{Ll}](?: |$))/gu;
const spaceOfDesignation = /(?<=(?:^| )[\p{Lu}\p{Ll}]) (?=\p{N})|(?<=\p{N}) (?=[\p{Lu}\p{Ll}](?: |$))/gu;

/** Abbreviation → full name, both as forms. Ambiguous abbreviations (`ECB`, `IRA`) are left out. */
const written: ReadonlyMap<string, string> = new Map(
  Object.entries(lists.abbreviated_names).flatMap(([name, short]) =>
    short.map((each) => [formOf('', each), formOf('', name)] as const),
  ),
);

/** Null if the name is never merged. Any text is safe input; takes linear time. */
export function variantOf(type: string, name: string): string | null {
  if (neverMerged.has(type)) return null;
  const form = formOf(type, name);
  return form === '' ? null : (written.get(form) ?? (twoInitials.test(name.trim()) ? `${form}.` : form));
}

function formOf(type: string, name: string): string {
  if (spacedLetters.test(name)) return name;
  const isPlain = plainName.test(name);
  const whole = isPlain ? name : withoutJoiners(name.replace(notWritten, '')).trim();
  const base = isPlain ? name : whole.replace(possessive, '');
  const words = isPlain ? name.split(' ') : partsOf(base);
  const last = words.length - 1;
  const isShort = last === 0 && shortest.test(words[0]);
  if (isShort && (words[0].length <= 3 || base.endsWith('.'))) return foldName(base);
  const isKept = isAbbreviated(words);
  const lower = words.map((word) => (isKept(word) ? word : foldAccents(word.toLowerCase())));
  if (whole !== base && isPartOfName(type, lower)) lower[last] += 's';
  const plain = lower.map((word, at) => {
    if (last === 0) return word;
    if (and.has(word) && at > 0 && at < last) return '&';
    return anywhere.get(word) ?? (at === last ? atEnd : inFront).get(word) ?? word;
  });
  const isOfSyllables =
    !isPlain &&
    words.every((word) => word.length <= longestSyllable) &&
    words.some((word) => foldAccents(word) !== word);
  if (plain.every((word) => word.length > 1)) return plain.join(isOfSyllables ? ' ' : '');
  return plain.join(' ').replace(spaceOfInitials, '').replace(spaceOfWords, '').replace(spaceOfDesignation, '');
}

function partsOf(name: string): string[] {
  const text = name
    .replace(apostrophes, '')
    .replace(betweenLetters, '#')
    .replace(betweenNumbers, '\u0000')
    .replaceAll('.', ' ');
  return text.replaceAll('\u0000', '.').match(parts) ?? [];
}

/** A word in capitals is an abbreviation. In a long name all in capitals, only single letters are. */
function isAbbreviated(words: readonly string[]): (word: string) => boolean {
  const letters = words.join('');
  if (letters.length > longestAbbreviation && words.length > 1 && letters === letters.toUpperCase()) {
    return (word) => word.length === 1;
  }
  return (word) => word.length <= longestAbbreviation && capitals.test(word);
}

/** Whether the possessive at the end is part of the name: `McDonald's`, `St. John's`. */
function isPartOfName(type: string, words: readonly string[]): boolean {
  return /^(?:saint|st)$/.test(words.at(-2) ?? '') || (type !== 'person' && possessiveNames.has(words.at(-1) ?? ''));
}
