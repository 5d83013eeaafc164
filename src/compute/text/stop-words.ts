/** Stop words of 60 languages by the package `stopword`, which uses ISO 639-3. */
import * as stopWords from 'stopword';
import lists from '../../../models/word-lists.json' with { type: 'json' };
import { memoized } from '../structures/memoized.ts';
import { accentsTellWords, foldAccents } from './scripts.ts';

/** English function words; the package lacks a third. Ambiguous ones are missing: `us`, `may`, `will`, `can`. */
export const englishFunctionWords: ReadonlySet<string> = new Set(lists.function_words);
/** Codes of the package whose language detectors use another code. */
const detectorCodes: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl' };

let written: ReadonlyMap<string, readonly string[]> | undefined;

/** Stop words of an ISO 639-1 code, in lower case. Empty if the language is unknown. */
export const stopWordsOf = memoized(1000, (language: string): ReadonlySet<string> => {
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
  for (const [name, words] of Object.entries(stopWords)) {
    if (!Array.isArray(words) || !/^[a-z]{3}/.test(name)) continue;
    const [canonical] = Intl.getCanonicalLocales(name.slice(0, 3));
    const language = detectorCodes[canonical] ?? canonical;
    found.set(language, [...(found.get(language) ?? []), ...words]);
  }
  return found;
}
