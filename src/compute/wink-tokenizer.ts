/**
 * wink-nlp with its English model, reduced to what the analyzer needs: token offsets, sentence ends, and the Porter stemmer.
 * wink gives token values without offsets, so they are found again in the text; where they do not add up (wink rewrites a
 * few contractions) the piece is cut by a plain rule, so that offsets are exact in every case. Called by the analyzer alone.
 */
import winkModel from 'wink-eng-lite-web-model';
import winkNlp from 'wink-nlp';

/** Start and end of each token, in UTF-16 units, and the index of the last token of each sentence, all ascending. */
export interface TokenizedPiece {
  starts: number[];
  ends: number[];
  sentenceLasts: number[];
}

const plainToken = /[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}\s]/gu;
const space = 0x20;

/**
 * A tokenizer of its own language model (180 ms, 40 MB). It remembers every distinct token for its whole life.
 * Pieces must have plain spaces as their only white space and no very long run without one.
 */
export function createWinkTokenizer(): (piece: string) => TokenizedPiece {
  const wink = winkNlp(winkModel, ['sbd']);
  return (piece) => {
    const document = wink.readDoc(piece);
    const tokens = alignValues(piece, document.tokens().out()) ?? plainTokens(piece);
    const sentenceLasts: number[] = [];
    if (tokens.aligned) {
      for (const span of document.sentences().out(wink.its.span)) {
        if (typeof span !== 'string') sentenceLasts.push(span[1]);
      }
    }
    return { starts: tokens.starts, ends: tokens.ends, sentenceLasts };
  };
}

/** The model's Porter stemmer, which expects lower case. Errors: throws if the installed model has none. */
export function winkStemmer(): (word: string) => string {
  const { stem } = winkModel.addons;
  if (typeof stem !== 'function') throw new Error('the language model has no stemmer');
  return (word) => String(stem(word));
}

function alignValues(piece: string, values: readonly string[]) {
  const starts = new Array<number>(values.length);
  const ends = new Array<number>(values.length);
  let at = 0;
  for (let i = 0; i < values.length; i++) {
    while (piece.charCodeAt(at) === space) at++;
    const value = values[i];
    if (!piece.startsWith(value, at)) return undefined;
    starts[i] = at;
    at += value.length;
    ends[i] = at;
  }
  return piece.slice(at).trim() === '' ? { starts, ends, aligned: true } : undefined;
}

function plainTokens(piece: string) {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const match of piece.matchAll(plainToken)) {
    starts.push(match.index);
    ends.push(match.index + match[0].length);
  }
  return { starts, ends, aligned: false };
}
