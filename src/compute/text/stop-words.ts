/**
 * Words of a language that are in texts on anything: articles, pronouns, auxiliaries. Lists of 60 languages by the package `stopword`, which
 * names them by ISO 639-3.
 */
import * as lists from 'stopword';
import { accentsTellWords, foldAccents } from './fold-accents.ts';

/** Languages that are detected under another code. */
const asDetected: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl' };

const none: ReadonlySet<string> = new Set();
const sets = new Map<string, ReadonlySet<string>>();
let written: ReadonlyMap<string, readonly string[]> | undefined;

/** The stop words of a language by its ISO 639-1 code, in small letters; none where no list is known. */
export function stopWordsOf(language: string): ReadonlySet<string> {
  const known = sets.get(language);
  if (known !== undefined) return known;
  written ??= readLists();
  const words = written.get(language);
  if (words === undefined) return none;
  const set = new Set(words.flatMap((word) => [word, ...withoutAccents(language, word)]));
  sets.set(language, set);
  return set;
}

/** As people write it who leave accents out; where accents tell words apart that is another word. */
function withoutAccents(language: string, word: string): string[] {
  if (accentsTellWords(language)) return [];
  const spelled = word.replace(/[äöü]/g, (letter) => `${foldAccents(letter)}e`);
  return [foldAccents(word), ...(language === 'de' ? [spelled.replaceAll('ß', 'ss')] : [])];
}

/** `porBr` and `por` are one language here. */
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
