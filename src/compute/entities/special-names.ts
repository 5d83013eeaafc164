/** Names that are known by their form: elections with their year, and titles in quotation marks. */
import { electionWords, functionWords } from './name-cues.ts';
import { canBeInName, continues, maxTokens, type NameContext, sameLine, year } from './name-words.ts';

/** `2001 United Kingdom general election`: the last token of such a name that begins at i, or -1. */
export function electionAt(context: NameContext, i: number): number {
  const { tokens } = context;
  const token = tokens[i];
  if (!year.test(token.text) && !(canBeInName(context, i) && !token.isFirst)) return -1;
  let at = i + 1;
  for (; at < tokens.length && at - i < maxTokens && sameLine(context, at); at++) {
    const { lower, isCapitalized, isWord } = tokens[at];
    if (/^(?:elections?|referendum|primaries|by-elections?)$/.test(lower)) {
      if (at - i <= 1 && !isCapitalized) return -1;
      return year.test(token.text) ? withPlace(context, at) : at;
    }
    if (!isWord && lower !== "'s") return -1;
    if (
      !isCapitalized &&
      !electionWords.has(lower) &&
      !(lower === 'of' && continues(context, at + 1)) &&
      !(lower === 'for' && continues(context, at + 1))
    )
      return -1;
  }
  return -1;
}

/** `… election in the United Kingdom`. */
function withPlace(context: NameContext, at: number): number {
  const { tokens } = context;
  if (tokens[at + 1]?.lower !== 'in') return at;
  let end = tokens[at + 2]?.lower === 'the' ? at + 3 : at + 2;
  if (!continues(context, end)) return at;
  while (continues(context, end + 1)) end++;
  return end;
}

/** A title in quotation marks: the index of the closing mark, or -1. Its words are capitalised, but for small ones. */
export function quotedTitleAt({ tokens, kinds }: NameContext, i: number): number {
  if (!/^["“]$/.test(tokens[i].text) || !tokens[i + 1]?.isCapitalized) return -1;
  let small = 0;
  for (let at = i + 1; at < tokens.length && at - i < 10 && tokens[at].line === tokens[i].line; at++) {
    const { text, isWord, isCapitalized, lower } = tokens[at];
    if (/^["”]$/.test(text)) return at - i > 2 && small * 2 < at - i - 1 ? at : -1;
    if (isWord && !isCapitalized && !/\d/.test(text)) {
      if (!functionWords.has(lower)) return -1;
      small++;
    }
    if (/^[.;]$/.test(text) || (at === i + 1 && kinds.kindsOf(lower).given > 0.6)) return -1;
  }
  return -1;
}
