/**
 * Brings the candidates of a query together out of the forward indexes that hold them, and numbers their words and stems anew,
 * small and without gaps, so that the reranker works on plain arrays. Called by the searcher threads and by the bench.
 */
import { longer } from '../../compute/structures/longer.ts';
import { isBareTerm } from '../../compute/text/stemmers.ts';
import { isIdeograph } from '../../compute/text/unspaced-scripts.ts';
import type { QueryPlan, QueryStem } from '../words/corpus.ts';
import { entryBodyCount, entryTitleCount, entryWord } from '../words/forward-index.ts';
import type { Candidates, QueryWord } from './rerank-input.ts';
import type { ForwardPart, WordNumbers } from './word-numbers.ts';

/** Where a candidate is: part number and chunk within it. */
export interface CandidatePlace {
  readonly part: number;
  readonly chunk: number;
}

export interface QueryForm extends QueryStem {
  /** Row of the word vectors, -1 for none. */
  readonly row: number;
}

export interface Gathered {
  readonly query: QueryWord[];
  readonly words: Pick<Candidates, 'labels' | 'starts' | 'words' | 'bodyCounts' | 'titleCounts' | 'table'>;
  /** By stem of the result its number in `numbers.stems`. */
  readonly stemNumbers: Uint32Array;
}

/** Whether a term of a query may be among the stems of forward indexes and vectors, or is in postings alone (words/build-segment.ts). */
export function isForwardStem(stem: string): boolean {
  return !isIdeograph(stem) && !isBareTerm(stem);
}

/** Gathers by one numbering. What it gives holds until it is called again: it keeps its arrays. */
export type CandidateGatherer = (
  parts: readonly ForwardPart[],
  labels: Uint32Array,
  places: readonly CandidatePlace[],
  forms: readonly QueryForm[],
  plan: QueryPlan,
) => Gathered;

/** Shapes: `labels` and `places` aligned; `forms` the query's words, repeated ones repeated. */
export function createCandidateGatherer(numbers: WordNumbers): CandidateGatherer {
  const wordPlaces = new Renumbering();
  const stemPlaces = new Renumbering();
  let room = makeRoom(1024);

  const gather: CandidateGatherer = (parts, labels, places, forms, plan) => {
    const starts = new Uint32Array(labels.length + 1);
    places.forEach(({ part, chunk }, i) => {
      const { index } = parts[part];
      starts[i + 1] = starts[i] + index.starts[chunk + 1] - index.starts[chunk];
    });
    const entries = starts[labels.length];
    if (entries > room.words.length) room = makeRoom(2 * entries);
    const words = room.words.subarray(0, entries);
    const bodyCounts = room.bodyCounts.subarray(0, entries);
    const titleCounts = room.titleCounts.subarray(0, entries);
    places.forEach(({ part, chunk }, i) => {
      const { index } = parts[part];
      const known = numbers.knownOf(index);
      const own = index.entries.subarray(index.starts[chunk], index.starts[chunk + 1]);
      for (let done = 0; done < own.length; ) {
        done = unpackKnown(own, done, known, room, starts[i]);
        if (done < own.length) numbers.numberOf(parts[part], entryWord(own[done]));
      }
    });
    wordPlaces.replaceAll(words, numbers.size);
    const { count } = wordPlaces;
    const stems = new Uint32Array(count);
    const rows = new Int32Array(count);
    numbers.lookUp(wordPlaces.numbers, stems, rows);
    stemPlaces.replaceAll(stems, numbers.stems.size);
    return {
      query: queryWords(formsInUse(forms, plan), plan),
      words: { labels, starts, words, bodyCounts, titleCounts, table: { stems, rows, stemCount: stemPlaces.count } },
      stemNumbers: stemPlaces.numbers.slice(0, stemPlaces.count),
    };
  };

  const queryWords = (forms: readonly QueryForm[], { frequencies }: QueryPlan): QueryWord[] => {
    const distinct = new Map<string, { form: QueryForm; count: number }>();
    for (const form of forms) {
      const key = `${form.row} ${form.stem}`;
      const seen = distinct.get(key);
      if (seen === undefined) distinct.set(key, { form, count: 1 });
      else seen.count++;
    }
    return [...distinct.values()].map(({ form: { stem: text, row, share = 1 }, count }) => {
      const stem = numbers.stems.find(text);
      return {
        word: wordPlaces.find(numbers.find(stem, row)),
        stem: stemPlaces.find(stem),
        row,
        count,
        share,
        frequency: frequencies.get(text) ?? 0,
      };
    });
  };

  return (parts, labels, places, forms, plan) => {
    wordPlaces.clear();
    stemPlaces.clear();
    return gather(parts, labels, places, forms, plan);
  };
}

/**
 * Of the stems that a word has in several languages those that occur, or the first where none does; a word is compared by its vector
 * once.
 */
function formsInUse(forms: readonly QueryForm[], { terms }: QueryPlan): QueryForm[] {
  const held = new Set(terms.map(({ term }) => term));
  const first = new Map<number, string>();
  const ofWords = forms.filter(({ of }) => of >= 0);
  for (const { of, stem } of ofWords) {
    const known = first.get(of);
    if (known === undefined || (!held.has(known) && held.has(stem))) first.set(of, stem);
  }
  return ofWords
    .filter(({ of, stem }) => held.has(stem) || first.get(of) === stem)
    .map((form) => (first.get(form.of) === form.stem || form.share !== undefined ? form : { ...form, row: -1 }));
}

type Unpacked = Pick<Candidates, 'words' | 'bodyCounts' | 'titleCounts'>;

const makeRoom = (entries: number): Unpacked => ({
  words: new Uint32Array(entries),
  bodyCounts: new Uint8Array(entries),
  titleCounts: new Uint8Array(entries),
});

/**
 * Unpack the entries of a chunk from `done` on, each to its place behind `first`, and stop at one whose word has no number; gives
 * which that is, or how many there are. What runs
 * over every entry is a function of its own here and in the other stages, and ends with its loop: code that is compiled while a long
 * loop runs knows nothing of what comes after it, and falls back to the interpreter there (bench/results/2026-11-reranking-cost.md).
 */
function unpackKnown(
  entries: Uint32Array,
  done: number,
  known: Uint32Array,
  { words, bodyCounts, titleCounts }: Unpacked,
  first: number,
): number {
  for (let at = done; at < entries.length; at++) {
    const entry = entries[at];
    const number = known[entryWord(entry)];
    if (number === 0) return at;
    words[first + at] = number - 1;
    bodyCounts[first + at] = entryBodyCount(entry);
    titleCounts[first + at] = entryTitleCount(entry);
  }
  return entries.length;
}

/**
 * Put its place for each number; gives how many places there are now. Whether a number is new cannot be foreseen, so there is no
 * branch: the processor goes on to the next one while a number is fetched from memory.
 */
function placeAll(list: Uint32Array, places: Uint32Array, numbers: Uint32Array, from: number): number {
  let count = from;
  for (let i = 0; i < list.length; i++) {
    const number = list[i];
    const known = places[number];
    const isNew = (known - 1) >>> 31;
    numbers[count] = number;
    count += isNew;
    const place = known + isNew * count; // + 1
    places[number] = place;
    list[i] = place - 1;
  }
  return count;
}

/** Places 0, 1, 2 … for numbers, in the order they are asked for. */
class Renumbering {
  count = 0;
  /** The number at each place below `count`. */
  numbers = new Uint32Array(1024);
  /** The place + 1 of each number, 0 for none. */
  #places = new Uint32Array(1024);

  /** Put its place for each number, which is below `limit`. */
  replaceAll(list: Uint32Array, limit: number): void {
    if (limit > this.#places.length) this.#places = longer(this.#places, 2 * limit);
    // One more, as a number that is not new is written behind the others.
    const room = this.count + list.length + 1;
    if (room > this.numbers.length) this.numbers = longer(this.numbers, 2 * room);
    this.count = placeAll(list, this.#places, this.numbers, this.count);
  }

  /** The place of a number, -1 where it has none or is below 0. */
  find(number: number): number {
    return number >= 0 && number < this.#places.length ? this.#places[number] - 1 : -1;
  }

  clear(): void {
    for (let place = 0; place < this.count; place++) this.#places[this.numbers[place]] = 0;
    this.count = 0;
  }
}
