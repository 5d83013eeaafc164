/**
 * The form that all exact variants of a name share: without case, accents, punctuation, spacing and a possessive at the end, with known
 * abbreviations written out. Two names of one type are merged automatically if and only if they share it.
 *
 * The form keeps what distinguishes names: `&` as in `AT&T`, `+`, `#` and signs of money (`C++`, `Disney+`), breaks between numbers (`3.10`), the
 * capitals of abbreviations (`B.O.B` is not `Bob`), and a single letter as a word of its own (`Model S` is not `Models`), unless it stands
 * next to letters or numbers alone (`J. R. R.` is `JRR`, `F-16` is `F16`).
 */
import { foldName, withoutJoiners } from '../../domain/normalize-text.ts';
import { foldAccents } from './scripts.ts';

/** Each is a value, so two that differ are never the same. */
const neverMerged: ReadonlySet<string> = new Set(['date', 'amount']);

/** Names with their abbreviations. An abbreviation of several things (`ECB`, `IRA`) does not belong here. */
const abbreviated: readonly (readonly [name: string, ...short: string[]])[] = [
  ['United States', 'US', 'USA', 'United States of America'],
  ['United Kingdom', 'UK'],
  ['United Arab Emirates', 'UAE'],
  ['Soviet Union', 'USSR', 'Union of Soviet Socialist Republics'],
  ['European Union', 'EU'],
  ['United Nations', 'UN'],
  ['New York City', 'NYC'],
  ['World War I', 'WWI', 'WW1'],
  ['World War II', 'WWII', 'WW2'],
  ['North Atlantic Treaty Organization', 'North Atlantic Treaty Organisation', 'NATO'],
  ['World Health Organization', 'World Health Organisation', 'WHO'],
  ['World Trade Organization', 'World Trade Organisation', 'WTO'],
  ['International Monetary Fund', 'IMF'],
  ['Organisation for Economic Co-operation and Development', 'OECD'],
  ['Federal Bureau of Investigation', 'FBI'],
  ['Central Intelligence Agency', 'CIA'],
  ['National Security Agency', 'NSA'],
  ['National Aeronautics and Space Administration', 'NASA'],
  ['European Space Agency', 'ESA'],
  ['British Broadcasting Corporation', 'BBC'],
  ['International Business Machines', 'IBM'],
  ['Massachusetts Institute of Technology', 'MIT'],
  ['National Basketball Association', 'NBA'],
  ['National Football League', 'NFL'],
  ['Deutsche Demokratische Republik', 'DDR'],
  ['Estados Unidos', 'EE. UU.', 'EEUU'],
  ['Соединённые Штаты', 'США', 'Соединённые Штаты Америки'],
  ['Советский Союз', 'СССР'],
];
/** Abbreviations of words, by their place in a name. */
const abbreviatedWords = {
  inFront: { st: 'saint', mt: 'mount', ft: 'fort' },
  atEnd: {
    st: 'street',
    ave: 'avenue',
    rd: 'road',
    blvd: 'boulevard',
    corp: 'corporation',
    inc: 'incorporated',
    ltd: 'limited',
    co: 'company',
    bros: 'brothers',
    jr: 'junior',
    sr: 'senior',
  },
  anywhere: { univ: 'university', dept: 'department', govt: 'government', intl: 'international' },
} as const satisfies Record<string, Readonly<Record<string, string>>>;
const [inFront, atEnd, anywhere] = Object.values(abbreviatedWords).map((words) => new Map(Object.entries(words)));

/** Organisations whose names end in a possessive. */
const possessiveNames: ReadonlySet<string> = new Set(
  `arby christie denny domino kellogg kohl lay levi lloyd lord lowe macy mcdonald moody reese sainsbury sotheby wendy`.split(
    ' ',
  ),
);

/** Most names: nothing has to be removed from them. */
const plainName = /^[A-Za-z]+(?: [A-Za-z]+)*$/;
const notWritten = /[™®©℠]/gu;
const apostrophes = /['’‘ʼʻ`´＇]/gu;
const possessive = /(?<=\p{L})['’ʼ＇]s$/iu;
const betweenNumbers = /(?<=\p{N})[^\p{L}\p{M}\p{N}&]+(?=\p{N})/gu;
/** `A-Z` is no `AZ`. */
const betweenLetters = /(?<=(?<!\p{L})\p{L})[-–/](?=\p{L}(?!\p{L}))/gu;
/** Words as they are left once punctuation is gone; a point is one between numbers. */
const parts = /&|[\p{L}\p{M}\p{N}.]+[+#\p{Sc}]*/gu;
const and: ReadonlySet<string> = new Set(['&', 'and', 'und', 'et']);
const capitals = /^[\p{Lu}\p{N}]+$/u;
/** A longer word in capitals is no abbreviation. */
const longestAbbreviation = 5;
/** One-word names of up to four letters keep a final point, those of up to three also their accents: `Mass.`, `Co.`, `Cơ`. */
const shortest = /^\p{Lu}?\p{Ll}{1,3}$/u;

const spaceOfInitials = /(?<=(?:^| )[\p{Lu}\p{Ll}]) (?=[\p{Lu}\p{Ll}](?: |$))/gu;
const spaceOfWords = /(?<!(?:^| )[\p{Lu}\p{Ll}]) (?![\p{Lu}\p{Ll}](?: |$))/gu;
const spaceOfDesignation = /(?<=(?:^| )[\p{Lu}\p{Ll}]) (?=\p{N})|(?<=\p{N}) (?=[\p{Lu}\p{Ll}](?: |$))/gu;

/** The form of an abbreviation → the form of the name. */
const written: ReadonlyMap<string, string> = new Map(
  abbreviated.flatMap(([name, ...short]) => short.map((each) => [formOf('', each), formOf('', name)] as const)),
);

/** Null for what is merged with nothing. Any text is a safe input; time is linear in it. */
export function variantOf(type: string, name: string): string | null {
  if (neverMerged.has(type)) return null;
  const form = formOf(type, name);
  return form === '' ? null : (written.get(form) ?? form);
}

function formOf(type: string, name: string): string {
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
  if (plain.every((word) => word.length > 1)) return plain.join('');
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

/** A word in capitals is an abbreviation; in a longer name that is all in capitals only a single letter is. */
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
