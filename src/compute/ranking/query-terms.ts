/**
 * What of a query is searched for. Function words say how a question is put, not what it is about; and words like `what`
 * are rare in the texts that answer, so that their idf would outweigh the subject. They are set apart while
 * other terms remain; texts keep them. Pure; called by the searchers' query analysis and by the benches.
 */
import type { TermSequence } from '../embedding/embed-local.ts';
import { accentsTellWords, foldAccents } from '../text/fold-accents.ts';
import { bareTerm, stemIn } from '../text/stemmers.ts';
import { englishFunctionWords, stopWordsOf } from '../text/stop-words.ts';
import { ideographTerm, isOfPairs, wordBorders } from '../text/unspaced-scripts.ts';

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
  /** Words that share a stem have the same number; `OF_NONE` for a pair of characters of two words. */
  of: number;
}

/** Of what adds to a passage's score and is no word of the query: nobody asks whether a passage has it. */
export const OF_NONE = -1;

/**
 * The words of a query that are searched for, repeated ones repeated, each with its stem in every language of the library: a text has that of its
 * own. The stop words of the language that the query is in are set apart while others remain, but not English ones and articles without their vowel:
 * lists of other languages have words that mean something (`grupo`, `última`).
 * Shapes: `words` and `stems` aligned, the stems English; `languages` are the library's, `spoken` those that the query may be in, the commonest first; without one it is English.
 */
export function contentWords(
  { words, stems }: TermSequence,
  languages: readonly string[],
  spoken: readonly string[] = languages,
): { language: string; words: ContentWord[]; stopWords: ContentWord[] } {
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
  const stemsOf = (place: number) => [...new Set(asked.map((each) => stemOf(place, each)))];
  const ofNone = (place: number): ContentWord => ({ word: words[place], stems: stemsOf(place), of: OF_NONE });
  const numbers = new Map<string, number>();
  let next = 0;
  const numbered = (word: string, distinct: string[]): ContentWord => {
    const of = distinct.map((stem) => numbers.get(stem)).find((number) => number !== undefined) ?? next++;
    for (const stem of distinct) if (!numbers.has(stem)) numbers.set(stem, of);
    return { word, stems: distinct, of };
  };
  const { across, alone } = charactersOf({ words, stems }, language);
  const kept = content.length > 0 ? content : places;
  const hasWords = alone.length > 0 || kept.some((place) => !across.has(place));
  const found = [
    ...kept.map((place) => ({ place, stems: stemsOf(place), isOfWord: !across.has(place) || !hasWords })),
    ...alone.map((place) => ({ place, stems: [ideographTerm(words[place])], isOfWord: true })),
  ].sort((a, b) => a.place - b.place);
  const isSetApart = (place: number) =>
    language !== 'en' && !ELIDED.has(words[place]) && isFunctionWord(words[place], language);
  const stopWords = content.length === 0 ? [] : places.filter(isSetApart);
  return {
    language,
    words: found.map(({ place, stems, isOfWord }) => (isOfWord ? numbered(words[place], stems) : ofNone(place))),
    stopWords: stopWords.map(ofNone),
  };
}

/**
 * Of the characters that are searched for by pairs: the places of pairs that are `across` the border of two words, and those of ideographs that are a word
 * `alone`. A run of them ends with a character that has no pair with the next one.
 */
function charactersOf({ words, stems }: TermSequence, language: string): { across: Set<number>; alone: number[] } {
  const across = new Set<number>();
  const alone: number[] = [];
  let from = 0;
  for (let end = 1; end <= words.length; end++) {
    const isPair = isOfPairs(words[end - 1]) && stems[end - 1].length > words[end - 1].length;
    if (isPair) continue;
    const run = words.slice(from, end);
    if (run.length > 1 && run.every(isOfPairs)) {
      const borders = wordBorders(run);
      for (const border of borders) across.add(from + border - 1);
      const isAlone = (place: number) =>
        (place === 0 || borders.has(place)) && (place === run.length - 1 || borders.has(place + 1));
      const ideographs = [...run.keys()].filter((place) => isAlone(place) && ideographTerm(run[place]) !== '');
      alone.push(...ideographs.map((place) => from + place));
    }
    from = end;
  }
  return { across, alone: alone.filter((place) => !stopWordsOf(language).has(words[place])) };
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
