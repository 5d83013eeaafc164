/**
 * What of a query is searched for. Function words say how a question is put, not what it is about; and words like `what`
 * are rare in the texts that answer, so that their idf would outweigh the subject. They are left out of the query while
 * other terms remain; texts keep them. Pure; called by the searchers' query analysis and by the benches.
 */
import type { TermSequence } from '../embedding/embed-local.ts';
import { accentsTellWords, foldAccents } from '../text/fold-accents.ts';
import { bareTerm, stemIn } from '../text/stemmers.ts';
import { englishFunctionWords, stopWordsOf } from '../text/stop-words.ts';
import { isOfPairs } from '../text/unspaced-scripts.ts';

/** Articles and pronouns of French and Italian that lost their vowel. */
const ELIDED: ReadonlySet<string> = new Set(
  `c' d' j' l' m' n' s' t' v' qu' jusqu' quoiqu' lorsqu' puisqu' un' all' dall' dell' nell' sull' coll' gl' agl' dagl' degl' negl' sugl'`.split(
    ' ',
  ),
);

/** A word of a query. */
export interface ContentWord {
  word: string;
  /** Its distinct stems in the languages that are asked, that of the query's own language first. */
  stems: string[];
  /** Words that share a stem have the same number. */
  of: number;
}

/**
 * The words of a query that are searched for, repeated ones repeated, each with its stem in every language of the library: a text has that of its
 * own. The stop words of the language that the query is in are left out while others remain.
 * Shapes: `words` and `stems` aligned, the stems English; `languages` are the library's, `spoken` those that the query may be in, the commonest first; without one it is English.
 */
export function contentWords(
  { words, stems }: TermSequence,
  languages: readonly string[],
  spoken: readonly string[] = languages,
): { language: string; words: ContentWord[] } {
  const places = stems.map((_, place) => place).filter((place) => stems[place] !== '');
  const language = languageOfQuery(
    places.map((place) => words[place]),
    spoken,
  );
  const content = places.filter((place) => !isFunctionWord(words[place], language));
  // Passages whose language is not known have English stems, which fold accents.
  const asked = [language, ...languages, ...(accentsTellWords(language) ? [] : ['en'])];
  const isBare = words.every((word) => foldAccents(word) === word);
  const stemOf = (place: number, each: string): string => {
    if (each === 'en') return stems[place];
    return (isBare ? bareTerm(each, words[place]) : null) ?? stemIn(each, words[place]) ?? stems[place];
  };
  const numbers = new Map<string, number>();
  let next = 0;
  const found = (content.length > 0 ? content : places).map((place) => {
    const word = words[place];
    const distinct = [...new Set(asked.map((each) => stemOf(place, each)))];
    const of = distinct.map((stem) => numbers.get(stem)).find((number) => number !== undefined) ?? next++;
    for (const stem of distinct) if (!numbers.has(stem)) numbers.set(stem, of);
    return { word, stems: distinct, of };
  });
  return { language, words: found };
}

/** The language most of whose function words a query has; one of them is enough for the commonest of the library. */
function languageOfQuery(words: readonly string[], [commonest = 'en', ...others]: readonly string[]): string {
  const distinct = [...new Set(words)];
  const countOf = (language: string) => distinct.filter((word) => isFunctionWord(word, language)).length;
  let found = commonest;
  let most = Math.max(1, countOf(commonest));
  for (const language of others) {
    const count = countOf(language);
    if (count <= most || 3 * count < distinct.length) continue;
    found = language;
    most = count;
  }
  return found;
}

function isFunctionWord(word: string, language: string): boolean {
  if (ELIDED.has(word)) return true;
  return language === 'en' ? englishFunctionWords.has(word) : stopWordsOf(language).has(word) && !isOfPairs(word);
}
