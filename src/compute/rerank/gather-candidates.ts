/**
 * Brings the candidates of a query together out of the forward indexes that hold them, and numbers their words and stems anew,
 * small and without gaps, so that the reranker works on plain arrays. Pure but for working arrays that are kept from call to call; called by the searcher threads and by the bench.
 */
import type { ForwardIndex } from './forward-index.ts';
import type { Candidates, QueryWord } from './rerank-input.ts';

/** A forward index with the text of the stems that its dictionary numbers. */
export interface ForwardPart {
  readonly index: ForwardIndex;
  readonly stemText: (stem: number) => string;
}

/** Where a candidate is: part number and chunk within it. */
export interface CandidatePlace {
  readonly part: number;
  readonly chunk: number;
}

export interface QueryForm {
  readonly stem: string;
  /** Row of the word vectors, -1 for none. */
  readonly row: number;
}

export interface Gathered {
  readonly query: QueryWord[];
  readonly words: Pick<Candidates, 'labels' | 'starts' | 'words' | 'bodyCounts' | 'titleCounts' | 'table'>;
  /** The stems by their numbers in the result. */
  readonly stemTexts: string[];
}

/** Shapes: `labels` and `places` aligned; `forms` the query's words, repeated ones repeated. */
export function gatherCandidates(
  parts: readonly ForwardPart[],
  labels: Uint32Array,
  places: readonly CandidatePlace[],
  forms: readonly QueryForm[],
): Gathered {
  const numbering = new WordNumbering();
  const starts = new Uint32Array(labels.length + 1);
  places.forEach(({ part, chunk }, i) => {
    const { index } = parts[part];
    starts[i + 1] = starts[i] + index.starts[chunk + 1] - index.starts[chunk];
  });
  const words = new Uint32Array(starts[labels.length]);
  const bodyCounts = new Uint8Array(words.length);
  const titleCounts = new Uint8Array(words.length);
  const known = parts.map(({ index }) => scratchOf(index));
  places.forEach(({ part, chunk }, i) => {
    const { index, stemText } = parts[part];
    const numbers = known[part];
    for (let from = index.starts[chunk], to = starts[i]; from < index.starts[chunk + 1]; from++, to++) {
      const word = index.words[from];
      if (numbers[word] === 0) numbers[word] = numbering.numberOf(index, word, stemText) + 1;
      words[to] = numbers[word] - 1;
    }
    bodyCounts.set(index.bodyCounts.subarray(index.starts[chunk], index.starts[chunk + 1]), starts[i]);
    titleCounts.set(index.titleCounts.subarray(index.starts[chunk], index.starts[chunk + 1]), starts[i]);
  });
  places.forEach(({ part, chunk }) => {
    const { index } = parts[part];
    for (let at = index.starts[chunk]; at < index.starts[chunk + 1]; at++) known[part][index.words[at]] = 0;
  });
  const { stemTexts } = numbering;
  const table = {
    stems: Uint32Array.from(numbering.stems),
    rows: Int32Array.from(numbering.rows),
    stemCount: stemTexts.length,
  };
  return {
    query: queryWords(forms, numbering),
    words: { labels, starts, words, bodyCounts, titleCounts, table },
    stemTexts,
  };
}

/** By forward index: the new number + 1 of each word met in the call under way; all 0 between calls. */
const scratches = new WeakMap<ForwardIndex, Uint32Array>();

function scratchOf(index: ForwardIndex): Uint32Array {
  let scratch = scratches.get(index);
  if (scratch === undefined) {
    scratch = new Uint32Array(index.wordStems.length);
    scratches.set(index, scratch);
  }
  return scratch;
}

function queryWords(forms: readonly QueryForm[], numbering: WordNumbering): QueryWord[] {
  const distinct = new Map<string, { form: QueryForm; count: number }>();
  for (const form of forms) {
    const key = `${form.row} ${form.stem}`;
    const seen = distinct.get(key);
    if (seen === undefined) distinct.set(key, { form, count: 1 });
    else seen.count++;
  }
  return [...distinct.values()].map(({ form: { stem, row }, count }) => ({
    word: numbering.find(stem, row),
    stem: numbering.findStem(stem),
    row,
    count,
  }));
}

/** Numbers words by row, or by stem where they have none, and stems by text. */
class WordNumbering {
  readonly stems: number[] = [];
  readonly rows: number[] = [];
  readonly stemTexts: string[] = [];
  readonly #stemNumbers = new Map<string, number>();
  readonly #byRow = new Map<number, number>();
  readonly #byStem = new Map<string, number>();

  /** The number of a part's word, given now if it is new. */
  numberOf(index: ForwardIndex, word: number, stemText: ForwardPart['stemText']): number {
    const row = index.wordRows[word];
    if (row >= 0) return this.#byRow.get(row) ?? this.#add(stemText(index.wordStems[word]), row);
    const stem = stemText(index.wordStems[word]);
    return this.#byStem.get(stem) ?? this.#add(stem, row);
  }

  #add(stem: string, row: number): number {
    const number = this.stems.length;
    let stemNumber = this.#stemNumbers.get(stem);
    if (stemNumber === undefined) {
      stemNumber = this.stemTexts.length;
      this.#stemNumbers.set(stem, stemNumber);
      this.stemTexts.push(stem);
    }
    this.stems.push(stemNumber);
    this.rows.push(row);
    if (row < 0) this.#byStem.set(stem, number);
    else this.#byRow.set(row, number);
    return number;
  }

  find(stem: string, row: number): number {
    return (row < 0 ? this.#byStem.get(stem) : this.#byRow.get(row)) ?? -1;
  }

  findStem(stem: string): number {
    return this.#stemNumbers.get(stem) ?? -1;
  }
}
