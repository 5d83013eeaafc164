/**
 * The candidates as bags of stems: their words with equal stems taken together and weighted as BM25F does. Counted once a query;
 * feedback and smoothing read it.
 */
import { FACT_WEIGHT, FIELD_WEIGHTS, LENGTH_WITHOUT_BODY } from '../words/bm25f.ts';
import type { Candidates } from './rerank-input.ts';
import type { Scratch } from './scratch.ts';

/** Candidate i has the entries starts[i] .. starts[i + 1], one per distinct stem, in the order of their first words. */
export interface StemBags {
  readonly labels: Uint32Array;
  readonly starts: Uint32Array;
  readonly stems: Uint32Array;
  /** Weighted occurrences of each entry; halves and their sums are exact in single precision. Below 1: among the facts alone. */
  readonly times: Float32Array;
  /** By candidate its length as BM25F counts it: the sum of the occurrences in title and text, which saturate (words/forward-index.ts). */
  readonly lengths: Float64Array;
  /** By stem how many candidates hold it. */
  readonly held: Uint32Array;
}

/** Weighted occurrences of a word. */
export function occurrences(bodyCount: number, titleCount: number): number {
  return FIELD_WEIGHTS.body * bodyCount + FIELD_WEIGHTS.title * titleCount || FACT_WEIGHT;
}

type Words = Pick<Candidates, 'labels' | 'starts' | 'words' | 'bodyCounts' | 'titleCounts' | 'table'>;

/** Valid until the scratch is used for another query. */
export function stemBags(candidates: Words, scratch: Scratch): StemBags {
  const { labels, words, table } = candidates;
  const bags = {
    labels,
    starts: scratch.uint32('bag starts', labels.length + 1),
    stems: scratch.uint32('bag stems', words.length),
    times: scratch.float32('bag times', words.length),
    lengths: scratch.float64('bag lengths', labels.length),
    held: scratch.uint32('bag held', table.stemCount).fill(0),
  };
  const places = scratch.uint32('bag places', table.stemCount).fill(0);
  bags.starts[0] = 0;
  for (let i = 0; i < labels.length; i++) bags.starts[i + 1] = addBag(candidates, i, bags, places);
  return bags;
}

/**
 * Add the entries of candidate i behind those before; gives where they end. `places`: by stem its place + 1 among the entries, if
 * that is not before where the candidate's start.
 */
function addBag(
  { starts, words, bodyCounts, titleCounts, table }: Words,
  i: number,
  bags: StemBags,
  places: Uint32Array,
) {
  const { stems, times, held } = bags;
  const stemOf = table.stems;
  const first = bags.starts[i];
  let end = first;
  let inBody = 0;
  let inTitle = 0;
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    const stem = stemOf[words[at]];
    const weighted = occurrences(bodyCounts[at], titleCounts[at]);
    inBody += bodyCounts[at];
    inTitle += titleCounts[at];
    const place = places[stem];
    if (place > first) {
      times[place - 1] = together(times[place - 1], weighted);
      continue;
    }
    stems[end] = stem;
    times[end++] = weighted;
    places[stem] = end;
    held[stem]++;
  }
  bags.lengths[i] = inBody === 0 ? LENGTH_WITHOUT_BODY : occurrences(inBody, inTitle);
  return end;
}

/** Occurrences of two words of one stem. A fact counts where the text has neither: it adds nothing to an occurrence. */
function together(one: number, other: number): number {
  return one < 1 || other < 1 ? Math.max(one, other) : one + other;
}
