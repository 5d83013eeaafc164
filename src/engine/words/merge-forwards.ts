/**
 * Merge forward indexes as their segments are merged (merge-segments.ts): the chunks that stay, in their new order, their
 * words numbered anew. What comes out is what counting the same chunks in that order would give. Pure.
 */
import { entryWord, type ForwardIndex, ForwardWords, withWord } from './forward-index.ts';

export interface ForwardMergeInput {
  readonly index: ForwardIndex;
  /** Shape: stems of the input's dictionary. Their numbers in the new one, below 0 for a stem that no chunk that stays holds. */
  readonly stemIds: Int32Array;
}

/** Where a chunk of the result comes from. Shape: chunks, aligned. */
export interface ChunkSources {
  readonly inputs: Uint32Array;
  readonly chunks: Uint32Array;
}

const DROPPED = -1;
const UNSEEN = -2;

/** A word whose stem has no number is left out, and so is one that there is no room for. */
export function mergeForwards(
  inputs: readonly ForwardMergeInput[],
  { inputs: from, chunks }: ChunkSources,
): ForwardIndex {
  const numbering = numberWords(inputs);
  const starts = new Uint32Array(chunks.length + 1);
  let most = 0;
  chunks.forEach((chunk, i) => {
    const { index } = inputs[from[i]];
    most += index.starts[chunk + 1] - index.starts[chunk];
  });
  const entries = new Uint32Array(most);
  let end = 0;
  for (let i = 0; i < chunks.length; i++) {
    const input = from[i];
    const { index } = inputs[input];
    for (let at = index.starts[chunks[i]]; at < index.starts[chunks[i] + 1]; at++) {
      const entry = index.entries[at];
      const word = numbering.wordOf(input, entryWord(entry));
      if (word >= 0) entries[end++] = withWord(entry, word);
    }
    starts[i + 1] = end;
  }
  return {
    starts,
    entries: entries.subarray(0, end),
    wordStems: Uint32Array.from(numbering.stems),
    wordRows: Int32Array.from(numbering.rows),
  };
}

/** New numbers for the inputs' words, in the order they are asked for. */
function numberWords(inputs: readonly ForwardMergeInput[]) {
  const known = inputs.map(({ index }) => new Int32Array(index.wordStems.length).fill(UNSEEN));
  const words = new ForwardWords();
  const number = ({ index, stemIds }: ForwardMergeInput, word: number): number => {
    const stem = stemIds[index.wordStems[word]];
    return stem < 0 ? DROPPED : words.numberOf(stem, index.wordRows[word]);
  };
  const wordOf = (input: number, word: number): number => {
    const numbers = known[input];
    if (numbers[word] === UNSEEN) numbers[word] = number(inputs[input], word);
    return numbers[word];
  };
  return { wordOf, stems: words.stems, rows: words.rows };
}
