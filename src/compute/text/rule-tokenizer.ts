/**
 * A tokenizer by rules, for queries, because wink-nlp takes half a second and 40 MB per thread. It gives the same words
 * and terms as wink (a test compares them), but no costs or sentences.
 */
import type { Tokenizer } from './wink-tokenizer.ts';

/** Contractions without apostrophe that wink splits: a group for the word before each ending. */
const contraction =
  /^(?:(can)not|(i)am|(there)are|(ai|am|are|cai|ca|could|dares?|das|did|does|do|go|had|have|is|may|might|must|ought|shall|sha|should|was|were|wo|would)nt|(could|he|i|may|might|must|not|should|they|we|what|where|who|would|you)ve|(how|it|that|there|they|what|you)ll|(how|that|these|they|those|what|where|why|you)re)$/i;
/** Words with inner marks, or one other character. */
const piece = /[\p{L}\p{M}\p{N}\p{Join_C}\u00ad\u2060'.,:]+|./gsu;
const acronym = /^((?:\p{L}\.)+\p{L}?)[',:]*$/u;
const clitic = /^'(?:s|re|ve|ll|d|m|a)$/i;
const marks = /^['.,:]+|['.,:]+$/g;
/** The second part of `F-16A`, which stays whole. */
const afterLetter = /\p{L}-$/u;
/** Numbers with a suffix: ordinals and decades keep two digits with the letters, times stay whole, others are split. */
const number = /^(\p{N}+(?:[.,:]\p{N}+)*)(\p{L}.*)$/su;
const wholeNumber = /^(?:\p{N}{1,2}(?:st|nd|rd|th)|(?:\p{N}\p{N})?\p{N}0s|[\p{N}:]+[ap]m)$/u;
const suffixedPair = /^(\p{N}+)(\p{N}\p{N}(?:s|st|nd|rd|th))$/u;

/** Lengths of the parts of a piece that begins and ends with a letter or digit, or is an acronym. */
function partsOfWord(word: string): number[] {
  const parts = contraction
    .exec(word)
    ?.slice(1)
    .find((part) => part !== undefined);
  if (parts !== undefined) return [parts.length, word.length - parts.length];
  if (wholeNumber.test(word)) return [word.length];
  const [, before, rest] = suffixedPair.exec(word) ?? number.exec(word) ?? [];
  return before === undefined ? [word.length] : [before.length, rest.length];
}

function endsOf(stretch: string): number[] {
  const ends: number[] = [];
  const add = (length: number): void => {
    ends.push((ends.at(-1) ?? 0) + length);
  };
  for (const { 0: text, index } of stretch.matchAll(piece)) {
    if (clitic.test(text)) {
      add(text.length);
      continue;
    }
    const bare = acronym.exec(text)?.[1] ?? text.replace(marks, '');
    const lead = bare === '' ? text.length : text.indexOf(bare);
    for (let at = 0; at < lead; at++) add(1);
    if (bare === '') continue;
    const isPartOfName = afterLetter.test(stretch.slice(Math.max(0, index - 3), index));
    for (const length of isPartOfName ? [bare.length] : partsOfWord(bare)) add(length);
    for (let at = lead + bare.length; at < text.length; at++) add(1);
  }
  return ends;
}

/** For stretches of at most `longestRun`. */
export function createRuleTokenizer(): Tokenizer {
  return (stretches) => {
    const firsts = [0];
    const ends: number[] = [];
    for (const stretch of stretches) {
      ends.push(...endsOf(stretch));
      firsts.push(ends.length);
    }
    return { firsts, ends, sentenceEnds: [] };
  };
}
