/** Finds sentences that answer a question, by words, vectors and passage score. Constants: `npm run bench -- ask`. */
import { hasContent } from '../compute/embedding/encoder-windows.ts';
import { isStopWord } from '../compute/text/stop-words.ts';
import { highlightedWords, type Span, sentenceBorders } from './highlight.ts';
import { likelyRelevant } from './relevance.ts';

export interface AnswerPassage {
  page: string;
  title: string | null;
  /** Start of `text` in the page. */
  char_start: number;
  text: string;
  highlights: readonly Span[];
  score: number;
}

/** Offsets in the passage's text. */
export interface Sentence extends Span {
  /** Index of its passage. */
  passage: number;
  text: string;
  /** Share of the weight of the question's words that it contains, 0 to 1. */
  words: number;
  /** The passage's score relative to the best one. */
  share: number;
}

/** Weights of words and of the passage, in units of cosine. */
export const WEIGHTS = { words: 0.16, passage: 0.04 };
/** Sentences compared with a question. One takes the encoder 10 to 30 ms, without its native runtime 70. */
export const comparedSentences = 24;
/** Cosines of a question with unrelated and near sentences. `least`: 10 % of unanswerable questions get an answer. */
export const EVIDENCE = { unrelated: 0.79, near: 0.835, least: 0.058 };
/** Sentences whose cosine is further below the best are hardly about the question. */
const farBelow = 0.08;
/** Max UTF-16 code units. Longer ones (texts without punctuation) are cut between words. */
const longest = 600;
const cutLength = 400;
/** A full stop here does not end a sentence: initials, German ordinals and abbreviations. */
const abbreviation =
  /(?:^|[\s("„“«.])(?:\p{L}|\d{1,2}|Dr|Mrs?|Ms|Prof|St|Sra?|Dra|Jr|Nr|No|Bd|Vol|Fig|Art|Abs|Kap|bzw|ca|vgl|ggf|inkl|vs|etc|usw|cf|EE|UU|Hrsg|Mio|Mrd|Tel|Lt|Col|Gen|Mt)\.$/u;
const lowerCase = /^["'“„«(]?\p{Ll}/u;

/** Without white space around them. */
export function sentencesOf(text: string): Span[] {
  const borders = sentenceBorders(text);
  const sentences: Span[] = [];
  let start = 0;
  for (let at = 1; at < borders.length; at++) {
    const end = borders[at];
    const written = text.slice(Math.max(start, end - 40), end);
    const shown = written.trimEnd();
    const lineEnds = written.slice(shown.length).split('\n').length - 1;
    const goesOn = lowerCase.test(text.slice(end, end + 2)) ? lineEnds < 2 : lineEnds === 0 && abbreviation.test(shown);
    if (goesOn && end < text.length && end - start < longest) continue;
    sentences.push(...partsOf(text, start, end));
    start = end;
  }
  return sentences;
}

function partsOf(text: string, from: number, to: number): Span[] {
  const parts: Span[] = [];
  for (let start = from; start < to; ) {
    const space = to - start > longest ? text.lastIndexOf(' ', start + cutLength) : to;
    const end = space > start ? space : Math.min(to, start + cutLength);
    const written = text.slice(start, end);
    const lead = written.length - written.trimStart().length;
    const part = { start: start + lead, end: start + written.trimEnd().length };
    if (part.start < part.end && hasContent(written)) parts.push(part);
    start = end;
  }
  return parts;
}

const wordsOf = (text: string): Span[] =>
  Array.from(text.matchAll(/[\p{L}\p{M}\p{N}]+/gu), ({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
  }));

/** At most `most`, likeliest first by words and passage, without repeated texts. */
export function likelySentences(
  question: string,
  passages: readonly AnswerPassage[],
  most = comparedSentences,
): Sentence[] {
  const best = Math.max(...passages.map(({ score }) => score), Number.MIN_VALUE);
  const known = new Set<string>();
  const all = passages.flatMap(({ title, text, highlights, score, page, char_start }, passage) => {
    const ofTitle = new Set(highlightedWords(title ?? '', wordsOf(title ?? '')));
    const inTitle = highlightedWords(text, highlights).filter((word) => ofTitle.has(word));
    return sentencesOf(text).flatMap((span) => {
      const written = text.slice(span.start, span.end);
      const keys = [written.toLowerCase(), `${page} ${char_start + span.start}`];
      if (keys.some((key) => known.has(key))) return [];
      for (const key of keys) known.add(key);
      const within = highlights.filter(({ start, end }) => start >= span.start && end <= span.end);
      const found = new Set([...inTitle, ...highlightedWords(text, within)]);
      return [{ ...span, passage, text: written, found, share: Math.max(0, score) / best }];
    });
  });
  const counts = new Map<string, number>();
  for (const { found } of all) for (const word of found) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weight = (words: Iterable<string>) =>
    Array.from(words).reduce((sum, word) => sum + Math.log(1 + all.length / (counts.get(word) ?? 1)), 0);
  // A word in no passage gets the weight of a word in one sentence.
  const asked = new Set(highlightedWords(question, wordsOf(question)).filter((word) => !isStopWord(word)));
  const missing = Math.max(0, asked.size - counts.size);
  const whole = Math.max(weight(counts.keys()) + missing * Math.log(1 + all.length), Number.MIN_VALUE);
  return all
    .map(({ found, ...each }) => ({ ...each, words: weight(found) / whole }))
    .sort((a, b) => b.words + b.share - a.words - a.share || a.passage - b.passage || a.start - b.start)
    .slice(0, most);
}

/**
 * Whether the best sentence answers: how far its cosine exceeds the others and, in proportion to the relevance of the
 * best page, how high it is. Without cosines, `relevance` decides; it is null if not measured.
 */
export function isAnswer(
  cosines: readonly number[],
  relevance: number | null,
  { unrelated, near, least } = EVIDENCE,
): boolean {
  if (cosines.length === 0) return (relevance ?? 0) >= likelyRelevant;
  const others = new Array<number>(Math.max(0, comparedSentences - cosines.length)).fill(unrelated);
  const sorted = [...cosines, ...others].sort((a, b) => a - b);
  const middle = (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
  const best = Math.max(...cosines);
  return best - middle + (relevance ?? 1) * (best - near) >= least;
}

/** Best first. `cosines`: of the question with the first sentences. Without any, words and passages decide. */
export function scoredSentences(
  sentences: readonly Sentence[],
  cosines: readonly number[],
  weights = WEIGHTS,
): (Sentence & { score: number })[] {
  const compared = cosines.length === 0 ? sentences : sentences.slice(0, cosines.length);
  const least = Math.max(...cosines) - farBelow;
  return compared
    .map((each, at) => {
      const cosine = cosines[at] ?? 0;
      return { ...each, cosine, score: cosine + weights.words * each.words + weights.passage * each.share };
    })
    .sort((a, b) => b.score - a.score)
    .filter(({ cosine }, at) => at === 0 || cosine >= least);
}

/** The best ones, by page in the order of its best sentence, then in text order. */
export function inReadingOrder<Item extends { passage: number; start: number }>(
  best: readonly Item[],
  passages: readonly Pick<AnswerPassage, 'page' | 'char_start'>[],
): Item[] {
  const pages = [...new Set(best.map(({ passage }) => passages[passage].page))];
  const place = ({ passage }: Item) => pages.indexOf(passages[passage].page);
  const at = ({ passage, start }: Item) => passages[passage].char_start + start;
  return best.toSorted((a, b) => place(a) - place(b) || at(a) - at(b));
}
