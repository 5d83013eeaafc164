/**
 * wink-nlp with its English model, reduced to what the analyzer needs: the tokens of stretches between white space, sentence
 * ends, and the Porter stemmer. wink gives token values without offsets; they are found again by their lengths, and where
 * they do not add up (wink rewrites a few contractions) the stretch is cut by a plain rule, so that offsets are exact in
 * every case. Called by the analyzer alone.
 */
import winkModel from 'wink-eng-lite-web-model';
import winkNlp from 'wink-nlp';

export interface TokenizedStretches {
  /** Tokens of stretch i: firsts[i] .. firsts[i + 1]. */
  firsts: number[];
  /** Offset in its stretch where each token ends; the next one begins there. */
  ends: number[];
  /** Stretches in which a sentence ends, ascending, and the offset in the stretch. */
  sentenceEnds: { stretch: number; at: number }[];
}

const plainToken = /[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}\s]/gu;

/**
 * A tokenizer of its own language model (180 ms, 40 MB). It remembers every distinct token for its whole life.
 * Stretches are not empty, hold no white space and are not very long.
 */
export function createWinkTokenizer(): (stretches: readonly string[]) => TokenizedStretches {
  const wink = winkNlp(winkModel, ['sbd']);
  return (stretches) => {
    const document = wink.readDoc(stretches.join(' '));
    const tokens = document.tokens();
    const values = tokens.out();
    const groups = groupByStretch(tokens.out(wink.its.precedingSpaces));
    const areAligned = groups.length === stretches.length;
    const result: TokenizedStretches = { firsts: [0], ends: [], sentenceEnds: [] };
    /** For each of wink's tokens its stretch, and the offset there at which it ends. */
    const places: { stretch: number; at: number }[] = [];
    stretches.forEach((text, stretch) => {
      const [from, to] = areAligned ? [groups[stretch], groups[stretch + 1] ?? values.length] : [0, 0];
      const firstEnd = result.ends.length;
      let at = 0;
      for (let token = from; token < to; token++) {
        if (text.startsWith(values[token], at)) at += values[token].length;
        else at = text.length + 1;
        result.ends.push(at);
        places.push({ stretch, at: Math.min(at, text.length) });
      }
      if (at !== text.length) {
        result.ends.length = firstEnd;
        for (const match of text.matchAll(plainToken)) result.ends.push(match.index + match[0].length);
      }
      result.firsts.push(result.ends.length);
    });
    if (areAligned) {
      for (const span of document.sentences().out(wink.its.span)) {
        if (typeof span !== 'string') result.sentenceEnds.push(places[span[1]]);
      }
    }
    return result;
  };
}

/** The first token of each stretch: those after a space. */
function groupByStretch(spacesBefore: readonly string[]): number[] {
  const groups: number[] = [];
  spacesBefore.forEach((spaces, token) => {
    if (token === 0 || spaces !== '') groups.push(token);
  });
  return groups;
}

/** The model's Porter stemmer, which expects lower case. Errors: throws if the installed model has none. */
export function winkStemmer(): (word: string) => string {
  const { stem } = winkModel.addons;
  if (typeof stem !== 'function') throw new Error('the language model has no stemmer');
  return (word) => String(stem(word));
}
