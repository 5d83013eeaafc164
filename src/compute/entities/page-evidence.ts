/** What a whole page says of its words' capitals: a word that is capitalised in mid-sentence somewhere is a name everywhere. */
import { functionWords } from './name-cues.ts';
import type { TextToken } from './read-tokens.ts';

export interface PageEvidence {
  /** Times that a word is capitalised where nothing but its being a name asks for it. */
  capitalized(lower: string): number;
  /** Whether a word is capitalised somewhere without a capital beside it: not only inside longer names. */
  standsAlone(lower: string): boolean;
  /** Times that a word is in lower case. */
  lowercased(lower: string): number;
  /** Whether capitals on this line say nothing: a headline, a line of capitals. */
  isHeadline(line: number): boolean;
  /** Whether it is the headline that is the page's title, or in a language that capitalises more words than names. */
  isTitle(line: number): boolean;
  /** Whether the page is in English, as far as can be told: what is known of English words says nothing in other languages. */
  isEnglish: boolean;
}

/** Share of capitalised words from which a line without an end is a headline, and words that it takes to tell. */
const headlineShare = 0.6;
const headlineWords = 4;

/** Of a page's words in lower case, so many are function words of English where it is in English; fewer words do not tell. */
const englishShare = 0.2;
const tellingWords = 40;
/** Where it is not, share of capitalised words in mid-sentence from which capitals say nothing: nouns of German have them. */
const capitalShare = 0.2;
const letters = /^\p{L}/u;

/** `titleLine`: the line of the page's title, where it has one. A title is a headline even if it is short, or a question. */
export function weighPage(tokens: readonly TextToken[], titleLine = -1): PageEvidence {
  const headlines = findHeadlines(tokens, titleLine);
  const capitalized = new Map<string, number>();
  const lowercased = new Map<string, number>();
  const alone = new Set<string>();
  let [small, english, inside, capitals] = [0, 0, 0, 0];
  const isCapital = (i: number, line: number) => tokens[i]?.isCapitalized && tokens[i].line === line;
  for (const [i, { isWord, isCapitalized, isFirst, lower, line }] of tokens.entries()) {
    if (!isWord) continue;
    if (!isFirst) inside++;
    if (!isCapitalized) {
      count(lowercased, lower);
      if (letters.test(lower)) small++;
      if (functionWords.has(lower)) english++;
    } else if (!isFirst && !headlines.has(line)) {
      capitals++;
      count(capitalized, lower);
      if (!isCapital(i - 1, line) && !isCapital(i + 1, line)) alone.add(lower);
    }
  }
  const isEnglish = small < tellingWords || english >= englishShare * small;
  if (!isEnglish && capitals >= capitalShare * inside) {
    capitalized.clear();
    alone.clear();
    const saysNothing = () => true;
    return weighed({ capitalized, lowercased, alone }, { isHeadline: saysNothing, isTitle: saysNothing, isEnglish });
  }
  const isHeadline = (line: number) => headlines.has(line);
  const isTitle = (line: number) => line === titleLine && headlines.has(line);
  return weighed({ capitalized, lowercased, alone }, { isHeadline, isTitle, isEnglish });
}

interface CountedWords {
  capitalized: ReadonlyMap<string, number>;
  lowercased: ReadonlyMap<string, number>;
  alone: ReadonlySet<string>;
}

function weighed(
  { capitalized, lowercased, alone }: CountedWords,
  lines: Pick<PageEvidence, 'isHeadline' | 'isTitle' | 'isEnglish'>,
): PageEvidence {
  return {
    ...lines,
    capitalized: (lower) => capitalized.get(lower) ?? 0,
    standsAlone: (lower) => alone.has(lower),
    lowercased: (lower) => lowercased.get(lower) ?? 0,
  };
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function findHeadlines(tokens: readonly TextToken[], titleLine: number): ReadonlySet<number> {
  const headlines = new Set<number>();
  for (let from = 0; from < tokens.length; ) {
    const { line } = tokens[from];
    let to = from;
    let words = 0;
    let capitals = 0;
    let shouted = 0;
    for (; to < tokens.length && tokens[to].line === line; to++) {
      const { isWord, isCapitalized, text, lower } = tokens[to];
      if (!isWord || text.length < 4) continue;
      words++;
      if (isCapitalized) capitals++;
      if (text !== lower && text === text.toUpperCase()) shouted++;
    }
    const ends = /[.!?]/.test(tokens[to - 1].text);
    const least = line === titleLine ? 1 : headlineWords;
    const isTitled = (line === titleLine || !ends) && words >= least && capitals >= words * headlineShare;
    if (isTitled || (words >= least && shouted >= words * headlineShare)) headlines.add(line);
    from = to;
  }
  return headlines;
}
