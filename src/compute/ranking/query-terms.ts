/**
 * Search terms of a query. Function words, and words like `what`, which are rare in answers and so have a high idf, are dropped while
 * other terms remain; texts keep them. Pure.
 */
import lists from '../../../models/word-lists.json' with { type: 'json' };
import { accentsTellWords, foldAccents, ideographTerm, isOfPairs, wordBorders } from '../text/scripts.ts';
import { bareTerm, stemIn } from '../text/stemmers.ts';
import { englishFunctionWords, stopWordsOf } from '../text/stop-words.ts';

export interface TermSequence {
  /** Lower-cased surface forms, '' for punctuation; aligned with `stems`. */
  words: readonly string[];
  stems: readonly string[];
}

/** Elided articles and pronouns of French and Italian. */
const ELIDED: ReadonlySet<string> = new Set(lists.elided);

export interface ContentWord {
  word: string;
  /** Distinct stems in the languages asked, the query's first. */
  stems: string[];
  /** Equal for words with a common stem. `OF_NONE` for a pair of characters from two words. */
  of: number;
}

/** Marks terms that add to scores but belong to no word, so they are never required. */
export const OF_NONE = -1;

/**
 * The query's words, with repetitions, stemmed in every language of the library. Drops stop words of the query's
 * language, English ones and elided articles while others remain; other languages' lists contain meaningful words
 * (`grupo`). `spoken`: languages that the query may be in, most frequent first, default English.
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
  // Passages of unknown language have English stems, with folded accents.
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

/** In scripts searched by pairs: pairs `across` words, ideographs that are words `alone`. A run's last has no pair. */
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

/** The language with the most function words in the query. For the library's main language, one suffices. */
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

export function isFunctionWord(word: string, language: string): boolean {
  if (ELIDED.has(word)) return true;
  return language === 'en' ? englishFunctionWords.has(word) : stopWordsOf(language).has(word) && !isOfPairs(word);
}
