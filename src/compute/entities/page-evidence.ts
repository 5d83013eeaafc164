/** What a whole page says of its words' capitals: a word that is capitalised in mid-sentence somewhere is a name everywhere. */
import type { TextToken } from './read-tokens.ts';

export interface PageEvidence {
  /** Times that a word is capitalised where nothing but its being a name asks for it. */
  capitalized(lower: string): number;
  /** Times that a word is in lower case. */
  lowercased(lower: string): number;
  /** Whether capitals on this line say nothing: a headline, a line of capitals. */
  isHeadline(line: number): boolean;
  /** Whether it is the headline that is the page's title: it has more words than names that are capitalised. */
  isTitle(line: number): boolean;
}

/** Share of capitalised words from which a line without an end is a headline, and words that it takes to tell. */
const headlineShare = 0.6;
const headlineWords = 4;

/** `titleLine`: the line of the page's title, where it has one. A title is a headline even if it is short, or a question. */
export function weighPage(tokens: readonly TextToken[], titleLine = -1): PageEvidence {
  const headlines = findHeadlines(tokens, titleLine);
  const capitalized = new Map<string, number>();
  const lowercased = new Map<string, number>();
  for (const token of tokens) {
    if (!token.isWord) continue;
    if (!token.isCapitalized) count(lowercased, token.lower);
    else if (!token.isFirst && !headlines.has(token.line)) count(capitalized, token.lower);
  }
  return {
    capitalized: (lower) => capitalized.get(lower) ?? 0,
    lowercased: (lower) => lowercased.get(lower) ?? 0,
    isHeadline: (line) => headlines.has(line),
    isTitle: (line) => line === titleLine && headlines.has(line),
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
