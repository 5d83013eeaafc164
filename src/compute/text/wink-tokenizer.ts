/** Tokens and sentence ends by wink-nlp, aligned by token lengths. If wink rewrites text, a plain rule splits it. */
import winkModel from 'wink-eng-lite-web-model';
import winkNlp, { type Model } from 'wink-nlp';

export interface TokenizedStretches {
  /** Tokens of stretch i: firsts[i] .. firsts[i + 1]. */
  firsts: number[];
  /** End offset of each token in its stretch. */
  ends: number[];
  /** Ascending stretches with a sentence end, and its offset. */
  sentenceEnds: { stretch: number; at: number }[];
}

/** Stretches are short, not empty, and contain no white space. */
export type Tokenizer = (stretches: readonly string[]) => TokenizedStretches;

const plainToken = /[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}\s]/gu;

const ownEntities = (winkModel.metaCER as () => unknown)();

/** Without custom entities: model 1.8.1 doubles their string at each load and throws after some twenty loads. */
export const englishModel: Model = { ...winkModel, metaCER: () => ownEntities };

/** With its own language model (180 ms, 40 MB), which remembers every distinct token. */
export function createWinkTokenizer(): Tokenizer {
  const wink = winkNlp(englishModel, ['sbd']);
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
  /** Stretch of each token, and its end offset there. */
  tokenStretches: number[];
  tokenEnds: number[];
}

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

/** Aligns by the spaces before tokens; splits the other stretches by the plain rule. */
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
