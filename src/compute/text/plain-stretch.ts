/**
 * The stretches of a text that need no tokenizer: a word or a number, with at most one mark before or after it. They are most of
 * the new ones in any text, and the tokenizer takes several microseconds for each. What is said here about a stretch is what
 * wink-nlp says about it alone (held by a test). Called by the analyzer.
 */
const plainWord = /^[("“[]?\p{L}[\p{L}\p{M}]*[,;:)\]"”]?$/u;
const plainNumber = /^[0-9]+[,;]?$/;
const mark = /[,;:)\]("“”[]/;
/** wink takes short words apart that look like contractions without their apostrophe: `cannot`, `dont`, `therell`. */
const mayBeContraction = /(?:nt|ve|ll|re|not|iam)$/i;
const longestContraction = 8;

/** The offsets at which the tokens of a stretch end, or null where the tokenizer has to be asked. */
export function plainTokenEnds(stretch: string): number[] | null {
  if (!plainWord.test(stretch) && !plainNumber.test(stretch)) return null;
  const { length } = stretch;
  const hasMarkBefore = mark.test(stretch[0]);
  if (mark.test(stretch[length - 1])) return hasMarkBefore ? null : [length - 1, length];
  if (length <= longestContraction + 1 && mayBeContraction.test(stretch)) return null;
  return hasMarkBefore ? [1, length] : [length];
}
