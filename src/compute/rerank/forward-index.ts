/**
 * The forward index of a batch of chunks: which words each holds and how often, in its text and in its page's title. The
 * reranker's counterpart of a segment's postings. A word is a row of the word vectors with its stem; a form outside the
 * vocabulary is its stem alone. No positions and no strings: stems are numbers of the dictionary beside it.
 */
import type { TermSequence } from '../embed-local.ts';

export interface ForwardIndex {
  /** Shape: chunks + 1; a chunk's entries are starts[c] .. starts[c + 1]. */
  readonly starts: Uint32Array;
  /** Shape: entries. The chunk's distinct words, and their counts, which saturate at 255. */
  readonly words: Uint32Array;
  readonly bodyCounts: Uint8Array;
  readonly titleCounts: Uint8Array;
  /** Shape: words of the batch. */
  readonly wordStems: Uint32Array;
  /** Rows of the word vectors, -1 for none. */
  readonly wordRows: Int32Array;
}

export interface ForwardDocument {
  title: TermSequence;
  body: TermSequence;
}

const MAX_COUNT = 255;

/**
 * Count the words of documents.
 * Shapes: `stemOf` numbers a stem (never '') in the dictionary beside the index, `rowOf` gives a word's vector or -1.
 */
export function buildForwardIndex(
  documents: readonly ForwardDocument[],
  stemOf: (stem: string) => number,
  rowOf: (word: string) => number,
): ForwardIndex {
  const numbers = new Map<string, number>();
  const wordStems: number[] = [];
  const wordRows: number[] = [];
  const numberOf = (word: string, stem: string): number => {
    const row = word === '' ? -1 : rowOf(word);
    // A space is in no stem, so a row's key is never a stem's.
    const key = row < 0 ? stem : ` ${row}`;
    let number = numbers.get(key);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(key, number);
      wordStems.push(stemOf(stem));
      wordRows.push(row);
    }
    return number;
  };
  const starts = new Uint32Array(documents.length + 1);
  const words: number[] = [];
  const bodyCounts: number[] = [];
  const titleCounts: number[] = [];
  documents.forEach(({ title, body }, document) => {
    const counts = new Map<number, { body: number; title: number }>();
    const count = ({ words: forms, stems }: TermSequence, field: 'body' | 'title') => {
      stems.forEach((stem, at) => {
        if (stem === '') return;
        const number = numberOf(forms[at], stem);
        const entry = counts.get(number) ?? { body: 0, title: 0 };
        entry[field] = Math.min(entry[field] + 1, MAX_COUNT);
        counts.set(number, entry);
      });
    };
    count(title, 'title');
    count(body, 'body');
    for (const [number, entry] of counts) {
      words.push(number);
      bodyCounts.push(entry.body);
      titleCounts.push(entry.title);
    }
    starts[document + 1] = words.length;
  });
  return {
    starts,
    words: Uint32Array.from(words),
    bodyCounts: Uint8Array.from(bodyCounts),
    titleCounts: Uint8Array.from(titleCounts),
    wordStems: Uint32Array.from(wordStems),
    wordRows: Int32Array.from(wordRows),
  };
}
