/**
 * Brings the candidates of a query together out of the forward indexes that hold them, and numbers their words and stems anew,
 * small and without gaps, so that the reranker works on plain arrays. Pure; called by the searcher threads and by the bench.
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
  /** By part: the new number + 1 of each word met. */
  const known = parts.map(() => new Map<number, number>());
  places.forEach(({ part, chunk }, i) => {
    const { index, stemText } = parts[part];
    const numbers = known[part];
    for (let from = index.starts[chunk], to = starts[i]; from < index.starts[chunk + 1]; from++, to++) {
      const word = index.words[from];
      let number = numbers.get(word);
      if (number === undefined) {
        number = numbering.add(stemText(index.wordStems[word]), index.wordRows[word]);
        numbers.set(word, number);
      }
      words[to] = number;
    }
    bodyCounts.set(index.bodyCounts.subarray(index.starts[chunk], index.starts[chunk + 1]), starts[i]);
    titleCounts.set(index.titleCounts.subarray(index.starts[chunk], index.starts[chunk + 1]), starts[i]);
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

  add(stem: string, row: number): number {
    const found = this.find(stem, row);
    if (found >= 0) return found;
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
