/**
 * Passages that are alike tend to answer the same queries (the cluster hypothesis). So the best candidates take a part of what
 * those have that share their words: one that stands alone among poor ones falls, one among good ones rises. Source: score
 * regularisation (Diaz 2005), with the nearest neighbours' mean in place of the graph Laplacian. Pure.
 */

import { firstOf } from '../../compute/structures/first-of.ts';
import { termWeight } from '../words/bm25f.ts';
import type { Scratch } from './scratch.ts';
import type { StemBags } from './stem-bags.ts';

/** Candidates that are smoothed, the best ones: bounds the work. */
const SMOOTHED = 30;
/** Measured (bench/results/2026-11-reranking-trials.md): with 10 and 20 the gain is smaller. */
const NEIGHBOURS = 5;
/** Stems that more of the candidates hold make no two of them alike: six tenths of all products, for .0001 of nDCG@10. */
const MOST_HOLD = 0.5;

/**
 * Scores with `share` times the mean score of the nearest neighbours added to the best ones. A neighbour counts by its
 * similarity: the cosine of (1 + ln frequency) · idf over stems, with the idf among the candidates, which needs nothing of the
 * whole collection and tells apart what the query has brought together.
 * Shapes: `scores` one per candidate, >= 0; result the same, in their order. Units: those of `scores`.
 */
export function smoothScores(bags: StemBags, scores: Float64Array, share: number, scratch: Scratch): Float64Array {
  const { labels } = bags;
  if (labels.length < 2) return scores;
  const all = Uint32Array.from(labels.keys());
  const better = (a: number, b: number) => scores[a] > scores[b] || (scores[a] === scores[b] && labels[a] < labels[b]);
  const best = firstOf(all, SMOOTHED, better);
  const weights = unitWeights(bags, scratch);
  const postings = postingsOf(bags, weights, best, scratch);
  const sums = scratch.float64('smoothing sums', labels.length);
  const alike = scratch.float32('smoothing alike', labels.length);
  const nearer = (a: number, b: number) => alike[a] > alike[b] || (alike[a] === alike[b] && labels[a] < labels[b]);
  const smoothed = scores.slice();
  for (const i of best) {
    addProducts(bags, weights, postings, i, sums.fill(0));
    sums[i] = 0;
    // Rounded, so that equal ones are equal in whatever order they were summed.
    alike.set(sums);
    let sum = 0;
    let weight = 0;
    for (const neighbour of firstOf(all, NEIGHBOURS, nearer)) {
      // One that shares nothing weighs nothing.
      sum += alike[neighbour] * scores[neighbour];
      weight += alike[neighbour];
    }
    if (weight > 0) smoothed[i] += (share * sum) / weight;
  }
  return smoothed;
}

/** By entry of the bags its component in the candidate's unit vector. */
function unitWeights(bags: StemBags, scratch: Scratch): Float64Array {
  const count = bags.labels.length;
  const idfOf = Float64Array.from({ length: count + 1 }, (_, df) => termWeight(count, df));
  const weights = scratch.float64('smoothing weights', bags.starts[count]);
  for (let i = 0; i < count; i++) weighBag(bags, i, idfOf, weights);
  return weights;
}

function weighBag(
  { starts, stems, times, held }: StemBags,
  i: number,
  idfOf: Float64Array,
  weights: Float64Array,
): void {
  let squares = 0;
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    // Most words are there once, and a logarithm takes longer than all the rest. Facts make no texts alike.
    const weight = times[at] < 1 ? 0 : (times[at] === 1 ? 1 : 1 + Math.log(times[at])) * idfOf[held[stems[at]]];
    weights[at] = weight;
    squares += weight ** 2;
  }
  const norm = squares > 0 ? Math.sqrt(squares) : 1;
  for (let at = starts[i]; at < starts[i + 1]; at++) weights[at] /= norm;
}

/** The bags by stem, of the stems that some candidates share with others, and not with most. */
interface Postings {
  /** By stem where its postings start, NONE of the others. */
  starts: Uint32Array;
  candidates: Uint32Array;
  weights: Float64Array;
}

const NONE = 0xffff_ffff;

function postingsOf(bags: StemBags, weights: Float64Array, wanted: readonly number[], scratch: Scratch): Postings {
  const { labels, held } = bags;
  const starts = scratch.uint32('posting starts', held.length).fill(NONE);
  let size = 0;
  for (const i of wanted) size = allot(bags, i, starts, size);
  const ends = scratch.uint32('posting ends', held.length);
  ends.set(starts);
  const candidates = scratch.uint32('posting candidates', size);
  const postings = { starts, candidates, weights: scratch.float64('posting weights', size) };
  for (let i = 0; i < labels.length; i++) post(bags, i, weights, ends, postings);
  return postings;
}

/** Give the shared stems of a candidate room for their postings behind `size`; gives the new size. */
function allot({ labels, starts, stems, held }: StemBags, i: number, postingStarts: Uint32Array, size: number): number {
  const most = MOST_HOLD * labels.length;
  let end = size;
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    const stem = stems[at];
    if (held[stem] === 1 || held[stem] > most || postingStarts[stem] !== NONE) continue;
    postingStarts[stem] = end;
    end += held[stem];
  }
  return end;
}

/** Put a candidate where the postings of its stems end. */
function post({ starts, stems }: StemBags, i: number, from: Float64Array, ends: Uint32Array, to: Postings): void {
  const { candidates, weights } = to;
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    const place = ends[stems[at]];
    if (place === NONE) continue;
    candidates[place] = i;
    weights[place] = from[at];
    ends[stems[at]] = place + 1;
  }
}

/** Add each candidate's product with candidate i, which was wanted, to `sums`. */
function addProducts(bags: StemBags, own: Float64Array, postings: Postings, i: number, sums: Float64Array): void {
  const { starts, stems, held } = bags;
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    const stem = stems[at];
    const from = postings.starts[stem];
    if (from === NONE) continue;
    addList(postings, from, from + held[stem], own[at], sums);
  }
}

function addList(
  { candidates, weights }: Postings,
  from: number,
  end: number,
  weight: number,
  sums: Float64Array,
): void {
  for (let p = from; p < end; p++) sums[candidates[p]] += weight * weights[p];
}
