/**
 * wink-nlp with its English model, reduced to what the analyzer needs: the tokens of stretches between white space, and sentence
 * ends. wink gives token values without offsets; they are found again by their lengths, and where
 * they do not add up (wink rewrites a few contractions) the stretch is cut by a plain rule, so that offsets are exact in
 * every case. Called by the analyzer alone.
 */
import { createWink } from './wink.ts';

export interface TokenizedStretches {
  /** Tokens of stretch i: firsts[i] .. firsts[i + 1]. */
  firsts: number[];
  /** Offset in its stretch where each token ends; the next one begins there. */
  ends: number[];
  /** Stretches in which a sentence ends, ascending, and the offset in the stretch. */
  sentenceEnds: { stretch: number; at: number }[];
}

/** Stretches are not empty, hold no white space and are not very long. */
export type Tokenizer = (stretches: readonly string[]) => TokenizedStretches;

const plainToken = /[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}\s]/gu;

/** A tokenizer of its own language model (180 ms, 40 MB). It remembers every distinct token for its whole life. */
export function createWinkTokenizer(): Tokenizer {
  const wink = createWink(['sbd']);
  return (stretches) => {
    const document = wink.readDoc(stretches.join(' '));
    const tokens = document.tokens();
    const values = tokens.out();
    const { firsts, ends, tokenStretches, tokenEnds } =
      align(stretches, values) ?? alignGroups(stretches, values, tokens.out(wink.its.precedingSpaces));
    const sentenceEnds: TokenizedStretches['sentenceEnds'] = [];
    for (const span of document.sentences().out(wink.its.span)) {
      const last = typeof span === 'string' ? -1 : span[1];
      if (last >= 0 && last < tokenEnds.length) {
        sentenceEnds.push({ stretch: tokenStretches[last], at: tokenEnds[last] });
      }
    }
    return { firsts, ends, sentenceEnds };
  };
}

interface Alignment extends Pick<TokenizedStretches, 'firsts' | 'ends'> {
  /** For each of wink's tokens its stretch, and the offset there at which it ends. */
  tokenStretches: number[];
  tokenEnds: number[];
}

/** Find the tokens one after the other in the stretches; undefined where they do not add up. */
function align(stretches: readonly string[], values: readonly string[]): Alignment | undefined {
  const firsts = [0];
  const tokenStretches: number[] = [];
  const ends: number[] = [];
  for (let stretch = 0; stretch < stretches.length; stretch++) {
    const text = stretches[stretch];
    for (let at = 0; at < text.length; ) {
      const value = values[ends.length];
      if (value === undefined || !text.startsWith(value, at)) return undefined;
      at += value.length;
      ends.push(at);
      tokenStretches.push(stretch);
    }
    firsts.push(ends.length);
  }
  return { firsts, ends, tokenStretches, tokenEnds: ends };
}

/** The same by the spaces before tokens; the stretches whose tokens do not add up are cut by the plain rule. */
function alignGroups(
  stretches: readonly string[],
  values: readonly string[],
  spacesBefore: readonly string[],
): Alignment {
  const groups = [...values.keys()].filter((token) => token === 0 || spacesBefore[token] !== '');
  const isGrouped = groups.length === stretches.length;
  const firsts = [0];
  const ends: number[] = [];
  const tokenStretches: number[] = [];
  const tokenEnds: number[] = [];
  stretches.forEach((text, stretch) => {
    const group = isGrouped ? values.slice(groups[stretch], groups[stretch + 1]) : [];
    const groupEnds: number[] = [];
    for (const value of group) groupEnds.push((groupEnds.at(-1) ?? 0) + value.length);
    for (const end of groupEnds) {
      tokenStretches.push(stretch);
      tokenEnds.push(Math.min(end, text.length));
    }
    if (group.length > 0 && group.join('') === text) ends.push(...groupEnds);
    else for (const match of text.matchAll(plainToken)) ends.push(match.index + match[0].length);
    firsts.push(ends.length);
  });
  return { firsts, ends, tokenStretches, tokenEnds };
}
