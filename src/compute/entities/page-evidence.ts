/** What a whole page says of its words' capitals: a word that is capitalised in mid-sentence somewhere is a name everywhere. */
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
  /** Whether most words of a line are all in capitals. */
  isShouted(line: number): boolean;
  /** ISO 639-1 code; '' for none that can be told. */
  language: string;
  /** Whether the page is in English: what is known of English words says nothing in other languages. */
  isEnglish: boolean;
}

/** Share of capitalised words from which a line without an end is a headline, and words that it takes to tell. */
const headlineShare = 0.6;
const headlineWords = 4;

/** Where a page is not in English, share of capitalised words in mid-sentence from which capitals say nothing: nouns of German have them. */
const capitalShare = 0.2;

/** `titleLine`: the line of the page's title, where it has one. A title is a headline even if it is short, or a question. */
export function weighPage(tokens: readonly TextToken[], language: string, titleLine = -1): PageEvidence {
  const isEnglish = language === 'en';
  const shouted = findShouted(tokens);
  const isShouted = (line: number) => shouted.has(line);
  const headlines = findHeadlines(tokens, titleLine);
  const capitalized = new Map<string, number>();
  const lowercased = new Map<string, number>();
  const alone = new Set<string>();
  let [inside, capitals] = [0, 0];
  const isCapital = (i: number, line: number) => tokens[i]?.isCapitalized && tokens[i].line === line;
  for (const [i, { isWord, isCapitalized, isFirst, lower, line }] of tokens.entries()) {
    if (!isWord) continue;
    if (!isFirst) inside++;
    if (!isCapitalized) {
      count(lowercased, lower);
    } else if (!isFirst && !headlines.has(line)) {
      capitals++;
      count(capitalized, lower);
      if (!isCapital(i - 1, line) && !isCapital(i + 1, line)) alone.add(lower);
    }
  }
  if (language === 'de' || (language === '' && capitals >= capitalShare * inside)) {
    capitalized.clear();
    alone.clear();
    const saysNothing = () => true;
    return weighed(
      { capitalized, lowercased, alone },
      {
        isHeadline: saysNothing,
        isTitle: saysNothing,
        isShouted,
        language,
        isEnglish,
      },
    );
  }
  const isHeadline = (line: number) => headlines.has(line);
  const isTitle = (line: number) => line === titleLine && headlines.has(line);
  return weighed({ capitalized, lowercased, alone }, { isHeadline, isTitle, isShouted, language, isEnglish });
}

interface CountedWords {
  capitalized: ReadonlyMap<string, number>;
  lowercased: ReadonlyMap<string, number>;
  alone: ReadonlySet<string>;
}

function weighed(
  { capitalized, lowercased, alone }: CountedWords,
  lines: Pick<PageEvidence, 'isHeadline' | 'isTitle' | 'isShouted' | 'language' | 'isEnglish'>,
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

function findShouted(tokens: readonly TextToken[]): ReadonlySet<number> {
  const counts = new Map<number, { words: number; capitals: number }>();
  for (const { isWord, text, lower, line } of tokens) {
    if (!isWord || text.length < 2) continue;
    const ofLine = counts.get(line) ?? { words: 0, capitals: 0 };
    ofLine.words++;
    if (text !== lower && text === text.toUpperCase()) ofLine.capitals++;
    counts.set(line, ofLine);
  }
  return new Set(
    [...counts].flatMap(([line, { words, capitals }]) => (capitals >= words * headlineShare ? [line] : [])),
  );
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
