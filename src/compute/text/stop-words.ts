/** Stop words of 60 languages by the package `stopword`, which uses ISO 639-3. */
import * as lists from 'stopword';
import { remembered } from '../structures/remembered.ts';
import { accentsTellWords, foldAccents } from './scripts.ts';

/** English function words, a third of which the package lacks. Without ambiguous ones: `us`, `may`, `will`, `can`. */
export const englishFunctionWords: ReadonlySet<string> = new Set(
  `a an the this that these those
  i me my myself we our ours ourselves you your yours yourself he him his himself she her hers herself
  it its itself they them their theirs themselves
  who whom whose which what when where why how
  be am is are was were been being do does did doing done have has had having
  would should could might must shall
  and or but nor so yet if then than because while although though whether as until unless
  of at by for with about against between into through during before after above below to from in out on off over
  under upon within without toward towards among per via onto
  not no nor only own same too very just also such both each few more most other some any all every either neither
  there here again further once now ever
  n't 's 're 've 'll 'd 'm nt ca wo`.split(/\s+/),
);
/** Codes that differ in detection. */
const asDetected: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl' };

let written: ReadonlyMap<string, readonly string[]> | undefined;

/** By ISO 639-1, lower case; empty if unknown. */
export const stopWordsOf = remembered(1000, (language: string): ReadonlySet<string> => {
  const words = writtenLists().get(language) ?? [];
  return new Set(words.flatMap((word) => [word, ...withoutAccents(language, word)]));
});

export function isStopWord(word: string): boolean {
  if (englishFunctionWords.has(word)) return true;
  return [...writtenLists().keys()].some((language) => stopWordsOf(language).has(word));
}

const writtenLists = () => (written ??= readLists());

/** Spelling without accents, unless accents are significant. */
function withoutAccents(language: string, word: string): string[] {
  if (accentsTellWords(language)) return [];
  const spelled = word.replace(/[äöü]/g, (letter) => `${foldAccents(letter)}e`);
  return [foldAccents(word), ...(language === 'de' ? [spelled.replaceAll('ß', 'ss')] : [])];
}

/** `porBr` and `por` are merged. */
function readLists(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [name, words] of Object.entries(lists)) {
    if (!Array.isArray(words) || !/^[a-z]{3}/.test(name)) continue;
    const [canonical] = Intl.getCanonicalLocales(name.slice(0, 3));
    const language = asDetected[canonical] ?? canonical;
    found.set(language, [...(found.get(language) ?? []), ...words]);
  }
  return found;
}
