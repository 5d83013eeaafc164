/** What the finders of names share: which tokens can be in a name, and what a found name is. */
import { calendarWords } from './language-words.ts';
import { alsoAcronyms, countingWords, functionWords } from './name-cues.ts';
import type { PageEvidence } from './page-evidence.ts';
import type { TextToken } from './read-tokens.ts';
import type { WordKinds } from './word-kinds.ts';

export interface NameContext {
  tokens: readonly TextToken[];
  evidence: PageEvidence;
  kinds: WordKinds;
}

export interface NameSpan {
  /** Token indexes, both inclusive. */
  first: number;
  last: number;
  /** A title that is none of the name stands right before it: `President`. */
  titled: boolean;
}

const dateWord =
  /^(?:january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\.?$/;
/** Longest name, in tokens: what is longer is a headline or a list. */
export const maxTokens = 14;
export const year = /^(?:1[0-9]|20)\d\d$/;

/** `I’m`, `Don’t`: what stands before the apostrophe, and what hangs on it. */
const contraction = /^(?:(\p{L}+)['’](?:m|re|ve|ll|d|s)|\p{L}+n['’]t)$/u;

const shout = /^(?:\p{Lu}{2,}|['’]\p{Lu}+)$/u;

/** Whether a capitalised token can be a part of a name at all. */
export function canBeInName(context: NameContext, i: number): boolean {
  const token = context.tokens[i];
  if (token === undefined || !token.isWord || !token.isCapitalized) return false;
  if (isNoName(token) || isCalendarWord(context, token)) return false;
  if (countingWords.has(token.lower)) return !token.isFirst;
  return !functionWords.has(token.lower) || isAcronym(context, i);
}

/** A month or weekday of a language other than English: `dateWord` has those. */
function isCalendarWord({ evidence }: NameContext, { lower }: TextToken): boolean {
  return !evidence.isEnglish && calendarWords(evidence.language).has(lower);
}

/** `US`, `WHO`: function words but for their capitals, which neither the line has nor a function word beside it: `IT'S OVER`. */
function isAcronym({ tokens, evidence }: NameContext, i: number): boolean {
  const { text, lower, line } = tokens[i];
  if (!alsoAcronyms.has(lower) || text !== text.toUpperCase() || evidence.isShouted(line)) return false;
  return !(isShoutedWord(tokens[i - 1]) || isShoutedWord(tokens[i + 1]));
}

function isShoutedWord(token: TextToken | undefined): boolean {
  if (token === undefined || !shout.test(token.text)) return false;
  return functionWords.has(token.lower) || !/^\p{L}/u.test(token.text);
}

/** Capitalised for another reason than being a name: `I`, `I’m`, `Monday`. */
export function isNoName({ lower }: TextToken): boolean {
  if (lower === 'i' || dateWord.test(lower)) return true;
  const contracted = contraction.exec(lower);
  return contracted !== null && (contracted[1] === undefined || functionWords.has(contracted[1]));
}

export function continues(context: NameContext, i: number): boolean {
  const token = context.tokens[i];
  return token !== undefined && canBeInName(context, i) && sameLine(context, i);
}

export function sameLine({ tokens }: NameContext, i: number): boolean {
  return i > 0 && tokens[i]?.line === tokens[i - 1].line;
}

/** A title without the full stop of an abbreviation, or without what says that it is to come: `president-elect`. */
export function bare(lower: string): string {
  if (lower.endsWith('-elect')) return lower.slice(0, -'-elect'.length);
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}
