/**
 * Passages that are alike tend to answer the same queries (the cluster hypothesis). So the best candidates take a part of what
 * those have that share their words: one that stands alone among poor ones falls, one among good ones rises. Source: score
 * regularisation (Diaz 2005), with the nearest neighbours' mean in place of the graph Laplacian. Pure.
 */
import { termWeight } from '../bm25/bm25f.ts';
import type { Candidates } from './rerank-input.ts';
import { occurrences } from './word-evidence.ts';

/** Candidates that are smoothed, the best ones: bounds the work. With 30, 50 or all of them the first ten are the same (docs/ranking.md). */
const SMOOTHED = 30;
/** Measured (docs/ranking.md): 10 are nearly as good, 20 bring half as much. */
const NEIGHBOURS = 5;

/**
 * Scores with `share` times the mean score of the nearest neighbours added to the best ones. A neighbour counts by its
 * similarity: the cosine of (1 + ln frequency) · idf over stems, with the idf among the candidates, which needs nothing of the
 * whole collection and tells apart what the query has brought together.
 * Shapes: `scores` one per candidate, >= 0; result the same, in their order. Units: those of `scores`.
 */
export function smoothScores(candidates: Candidates, scores: Float64Array, share: number): Float64Array {
  const { labels } = candidates;
  if (labels.length < 2) return scores;
  const vectors = stemVectors(candidates);
  const best = Array.from(labels.keys())
    .sort((a, b) => scores[b] - scores[a] || labels[a] - labels[b])
    .slice(0, SMOOTHED);
  const smoothed = scores.slice();
  for (const i of best) {
    let sum = 0;
    let weight = 0;
    const alike = similarities(vectors, i);
    for (const neighbour of nearest(alike, labels)) {
      sum += alike[neighbour] * scores[neighbour];
      weight += alike[neighbour];
    }
    if (weight > 0) smoothed[i] += (share * sum) / weight;
  }
  return smoothed;
}

/** Unit vectors over stems: candidate i has the entries starts[i] .. starts[i + 1]. The same by stem in `postings`. */
interface StemVectors {
  starts: Uint32Array;
  stems: Uint32Array;
  weights: Float64Array;
  /** A stem's candidates, with their weights, are postingStarts[stem] .. postingStarts[stem + 1]. */
  postingStarts: Uint32Array;
  postings: Uint32Array;
  postingWeights: Float64Array;
}

function stemVectors({ labels, starts: from, words, bodyCounts, titleCounts, table }: Candidates): StemVectors {
  const count = labels.length;
  const starts = new Uint32Array(count + 1);
  const stems = new Uint32Array(words.length);
  const weights = new Float64Array(words.length);
  const postingStarts = new Uint32Array(table.stemCount + 1);
  /** By stem its place + 1 among the candidate's entries, if that is not before where they start. */
  const places = new Uint32Array(table.stemCount);
  let end = 0;
  for (let i = 0; i < count; i++) {
    for (let at = from[i]; at < from[i + 1]; at++) {
      const stem = table.stems[words[at]];
      if (places[stem] <= starts[i]) {
        places[stem] = end + 1;
        stems[end++] = stem;
        postingStarts[stem + 1]++;
      }
      weights[places[stem] - 1] += occurrences(bodyCounts[at], titleCounts[at]);
    }
    starts[i + 1] = end;
  }
  const idfOf = Float64Array.from({ length: count + 1 }, (_, df) => termWeight(count, df));
  const idfs = new Float64Array(table.stemCount);
  for (let stem = 0; stem < table.stemCount; stem++) idfs[stem] = idfOf[postingStarts[stem + 1]];
  for (let stem = 0; stem < table.stemCount; stem++) postingStarts[stem + 1] += postingStarts[stem];
  const next = postingStarts.slice(0, -1);
  const postings = new Uint32Array(end);
  const postingWeights = new Float64Array(end);
  for (let i = 0; i < count; i++) {
    let squares = 0;
    for (let at = starts[i]; at < starts[i + 1]; at++) {
      weights[at] = (weights[at] === 1 ? 1 : 1 + Math.log(weights[at])) * idfs[stems[at]];
      squares += weights[at] ** 2;
    }
    const norm = Math.sqrt(squares);
    for (let at = starts[i]; at < starts[i + 1]; at++) {
      weights[at] /= norm;
      const place = next[stems[at]]++;
      postings[place] = i;
      postingWeights[place] = weights[at];
    }
  }
  return { starts, stems, weights, postingStarts, postings, postingWeights };
}

/** Similarity of each candidate to candidate i; rounded, so that equal ones are equal in whatever order they were summed. */
function similarities(vectors: StemVectors, i: number): Float32Array {
  const { starts, stems, weights, postingStarts, postings, postingWeights } = vectors;
  const sums = new Float64Array(starts.length - 1);
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    const weight = weights[at];
    const from = postingStarts[stems[at]];
    const end = postingStarts[stems[at] + 1];
    if (end - from > 1) for (let p = from; p < end; p++) sums[postings[p]] += weight * postingWeights[p];
  }
  sums[i] = 0;
  return Float32Array.from(sums);
}

/** The candidates most alike, those that share nothing left out; equal ones by label. */
function nearest(alike: Float32Array, labels: Uint32Array): number[] {
  const found: number[] = [];
  const before = (a: number, b: number) => alike[a] > alike[b] || (alike[a] === alike[b] && labels[a] < labels[b]);
  for (let i = 0; i < alike.length; i++) {
    if (alike[i] === 0 || (found.length === NEIGHBOURS && !before(i, found[NEIGHBOURS - 1]))) continue;
    let at = Math.min(found.length, NEIGHBOURS - 1);
    for (; at > 0 && before(i, found[at - 1]); at--) found[at] = found[at - 1];
    found[at] = i;
  }
  return found;
}
