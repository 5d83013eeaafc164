/** Stems by language: Snowball for 24, wink's Porter stemmer for English; other words are their own stems. */
import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as armenian } from '@orama/stemmers/armenian';
import { stemmer as bulgarian } from '@orama/stemmers/bulgarian';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as hungarian } from '@orama/stemmers/hungarian';
import { stemmer as hindi } from '@orama/stemmers/indian';
import { stemmer as indonesian } from '@orama/stemmers/indonesian';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as serbian } from '@orama/stemmers/serbian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as tamil } from '@orama/stemmers/tamil';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian';
import porter from 'wink-eng-lite-web-model/dist/porter-stemmer.js';
import lists from '../../../models/word-lists.json' with { type: 'json' };
import { accentsTellWords, foldAccents, isOfPairs } from './scripts.ts';

const stemmers: ReadonlyMap<string, (word: string) => string> = new Map(
  Object.entries({
    ar: arabic,
    hy: armenian,
    bg: (word: string) => bulgarian(charactersOf(word)),
    da: danish,
    nl: dutch,
    fi: finnish,
    fr: french,
    de: german,
    el: greek,
    hu: hungarian,
    hi: hindi,
    ms: indonesian,
    it: italian,
    lt: lithuanian,
    no: norwegian,
    pt: portuguese,
    ro: romanian,
    ru: russian,
    sr: serbian,
    es: spanish,
    sv: swedish,
    ta: tamil,
    tr: turkish,
    uk: ukrainian,
  }),
);

/** The package's Bulgarian rules replace characters in place, which throws on strings. */
function charactersOf(word: string): string {
  const characters = Array.from(word);
  const substring = (from: number, to: number) => characters.slice(from, to).join('');
  return Object.assign(characters, { substring }) as unknown as string;
}

/** English forms that no stemmer handles, with their bases; without ambiguous ones such as `found` and `met`. */
export const irregularForms: ReadonlyMap<string, string> = new Map(
  Object.entries(lists.irregular_forms).flatMap(([base, forms]) => forms.map((form) => [form, base] as const)),
);

/** For lower-case English words, also irregular. Imported alone, because the rest of wink's model takes 40 MB. */
export function porterStem(word: string): string {
  return porter(irregularForms.get(word) ?? word);
}

const bareMark = '\u0002';

/** Languages with Latin letters. In texts of other languages, a word of these letters is nearly always English. */
const latin = new Set(
  'az ca cs da de es et eu fi fr hr hu is it ku lt lv ms nl no pl pt ro sk sl sq sr sv tl tr vi yo'.split(' '),
);
const ascii = /^[a-z']+$/;

/** Words only. No language has longer ones. */
const word = /^[\p{L}\p{M}][\p{L}\p{M}']{0,63}$/u;

/** Spellings that a stemmer does not know: letters to restore, or endings to remove first. */
const restored: ReadonlyMap<string, (word: string) => string> = new Map(
  Object.entries({
    // As german2 of Snowball, except `ue` after a vowel: `Frauen`, `neue` and `bauen` have no umlaut.
    de: (word: string) => word.replace(/ae|oe|(?<![aeq])ue/g, (pair) => umlauts[pair] ?? pair),
    // A name's ending follows an apostrophe: `Ankara'da`.
    az: beforeApostrophe,
    tr: beforeApostrophe,
    es: (word: string) => word.replace(/([cs])ion$/, '$1ión'),
    pt: (word: string) => word.replace(/cao$/, 'ção').replace(/coes$/, 'ções'),
  }),
);
function beforeApostrophe(word: string): string {
  return word.split("'", 1)[0];
}
const umlauts: Readonly<Record<string, string>> = { ae: 'ä', oe: 'ö', ue: 'ü' };

/** The folded stem of a lower-case NFC word. Null for a number, a pair of characters, or a name like `c++`. */
export function stemIn(language: string, given: string): string | null {
  if (!word.test(given) || isOfPairs(given) || (ascii.test(given) && !latin.has(language))) return null;
  if (accentsTellWords(language)) return given;
  const written = restored.get(language)?.(given) ?? given;
  // Some rules remove a word completely if it is only an ending.
  return foldAccents(stemmers.get(language)?.(written) || written);
}

/** If accents distinguish words: the term for a spelling without them; else null. A control character marks it. */
export function bareTerm(language: string, given: string): string | null {
  return accentsTellWords(language) && word.test(given) ? bareMark + foldAccents(given) : null;
}

export function isBareTerm(term: string): boolean {
  return term.startsWith(bareMark);
}
