/**
 * How well the words of each candidate fit the query, at four widths: the very word forms, words near in meaning, words of the
 * same field, and the words of the title. All four are BM25 with the idf of the query's stems; they differ in what counts as
 * an occurrence. (The fifth width, equal stems, is the sparse side's own score.)
 */

import { firstOf } from '../../compute/structures/first-of.ts';
import { B, contribution, K1, type LengthNorm, termWeight } from '../words/bm25f.ts';
import { queryTermWeight } from '../words/corpus.ts';
import type { Candidates, CollectionStatistics, QueryWord } from './rerank-input.ts';
import type { Scratch } from './scratch.ts';
import { occurrences } from './stem-bags.ts';
import type { FoundPair, WordSimilarity } from './word-similarity.ts';

/** Terms that are matched by meaning, the heaviest ones; the others count where they occur. Bounds the work on a page as a query. */
const MAX_SOFT_TERMS = 16;
/** Words less alike than this are not related: at 0.4 one counts 1 in 244, and there are hundreds of them in every text. */
const LEAST_COSINE = 0.4;
/** A stem of the query. */
export interface QueryTerm {
  stem: number;
  row: number;
  idf: number;
  /** idf × what its count in the query makes it weigh. */
  weight: number;
}

/** One score per candidate and width. */
export interface WordEvidence {
  surface: Float64Array;
  near: Float64Array;
  wide: Float64Array;
  title: Float64Array;
}

/** The query's distinct stems, in its order. A stem that no candidate holds is weighed as the rarest. */
export function queryTerms(words: readonly QueryWord[], statistics: CollectionStatistics): QueryTerm[] {
  const counts = new Map<number, number>();
  for (const { stem, count } of words) if (stem >= 0) counts.set(stem, (counts.get(stem) ?? 0) + count);
  const seen = new Set<number>();
  const firstForms = words.filter(({ stem }) => {
    if (stem < 0) return true;
    const isFirst = !seen.has(stem);
    seen.add(stem);
    return isFirst;
  });
  return firstForms.map(({ stem, row, count, frequency, share = 1 }) => {
    const idf = termWeight(statistics.docs, stem < 0 ? 1 : Math.max(1, frequency));
    return { stem, row, idf, weight: share * queryTermWeight(counts.get(stem) ?? count) * idf };
  });
}

/** Base and slope for `contribution`, in whole occurrences. */
export function saturation(meanLength: number): LengthNorm {
  return { base: K1 * (1 - B), slope: meanLength > 0 ? (K1 * B) / meanLength : 0 };
}

/** Shapes: `lengths` as the bags of stems have them; result one number per candidate and width, all >= 0. */
export function wordEvidence(
  words: readonly QueryWord[],
  terms: readonly QueryTerm[],
  candidates: Candidates,
  lengths: Float64Array,
  statistics: CollectionStatistics,
  similarity: WordSimilarity,
  scratch: Scratch,
): WordEvidence {
  const count = candidates.labels.length;
  const evidence = {
    surface: new Float64Array(count),
    near: new Float64Array(count),
    wide: new Float64Array(count),
    title: new Float64Array(count),
  };
  const relations = relate(terms, candidates, similarity, scratch);
  const formWeights = weighForms(words, terms, scratch.float64('form weights', candidates.table.rows.length));
  const text = saturation(statistics.meanLength);
  const heading = saturation(statistics.meanTitleLength);
  const met = {
    near: new Float64Array(terms.length),
    wide: new Float64Array(terms.length),
    title: new Float64Array(terms.length),
  };
  for (let i = 0; i < count; i++) {
    evidence.surface[i] = surfaceOf(candidates, i, formWeights, lengths[i], text);
    const titleLength = meetTerms(candidates, i, relations, met);
    for (let term = 0; term < terms.length; term++) {
      const { weight } = terms[term];
      if (met.wide[term] === 0) continue;
      evidence.near[i] += contribution(weight, met.near[term], lengths[i], text.base, text.slope);
      evidence.wide[i] += contribution(weight, met.wide[term], lengths[i], text.base, text.slope);
      if (met.title[term] > 0) {
        evidence.title[i] += contribution(weight, met.title[term], titleLength, heading.base, heading.slope);
      }
    }
  }
  return evidence;
}

/** By word what its very form weighs in the query, 0 where it is not in it. */
function weighForms(words: readonly QueryWord[], terms: readonly QueryTerm[], weights: Float64Array): Float64Array {
  const idfs = new Map(terms.map(({ stem, idf }) => [stem, idf]));
  weights.fill(0);
  for (const { word, stem, count } of words) {
    if (word >= 0) weights[word] = queryTermWeight(count) * (idfs.get(stem) ?? 0);
  }
  return weights;
}

function surfaceOf(
  { starts, words, bodyCounts, titleCounts }: Candidates,
  i: number,
  formWeights: Float64Array,
  length: number,
  { base, slope }: LengthNorm,
): number {
  let score = 0;
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    const weight = formWeights[words[at]];
    if (weight !== 0) score += contribution(weight, occurrences(bodyCounts[at], titleCounts[at]), length, base, slope);
  }
  return score;
}

/** Count for each term what candidate i has of it, into `met`; gives the length of its title. */
function meetTerms(
  { starts, words, bodyCounts, titleCounts }: Candidates,
  i: number,
  relations: Relations,
  { near, wide, title }: Pick<WordEvidence, 'near' | 'wide' | 'title'>,
): number {
  near.fill(0);
  wide.fill(0);
  title.fill(0);
  let titleLength = 0;
  for (let at = starts[i]; at < starts[i + 1]; at++) {
    const word = words[at];
    titleLength += titleCounts[at];
    const end = relations.starts[word + 1];
    for (let r = relations.starts[word]; r < end; r++) {
      const term = relations.terms[r];
      const times = occurrences(bodyCounts[at], titleCounts[at]);
      near[term] += times * relations.near[r];
      wide[term] += times * relations.wide[r];
      title[term] += relations.same[r] * titleCounts[at];
    }
  }
  return titleLength;
}

/**
 * For each word of the candidates the query terms it stands for, and how much of an occurrence it is: cosine^12 for `near`
 * (0.7: 1 in 72), cosine^6 for `wide` (0.7: 1 in 8); an equal stem is 1.
 */
interface Relations {
  /** Shape: words + 1; a word's relations are starts[w] .. starts[w + 1]. */
  starts: Uint32Array;
  terms: Uint16Array;
  near: Float32Array;
  wide: Float32Array;
  /** 1 for an equal stem, 0 for a word near in meaning. */
  same: Uint8Array;
}

function relate(
  terms: readonly QueryTerm[],
  { table }: Candidates,
  similarity: WordSimilarity,
  scratch: Scratch,
): Relations {
  const soft = new Set(
    firstOf(
      [...terms.keys()].filter((term) => terms[term].row >= 0),
      MAX_SOFT_TERMS,
      (a, b) => terms[a].weight > terms[b].weight || (terms[a].weight === terms[b].weight && a < b),
    ),
  );
  /** Of each relation its word, its term and its cosine; those of equal stems first. */
  const words: number[] = [];
  const found: number[] = [];
  const cosines: number[] = [];
  const relation = (term: number, word: number, cosine: number) => {
    words.push(word);
    found.push(term);
    cosines.push(cosine);
  };
  const termOf = scratch.uint32('relation terms', table.stemCount).fill(0); // + 1
  terms.forEach(({ stem }, term) => {
    if (stem >= 0) termOf[stem] = term + 1;
  });
  eachEqual(table.stems, termOf, relation);
  const equal = words.length;
  const rows = Int32Array.from(terms, ({ row }, term) => (soft.has(term) ? row : -1));
  similarity.pairs(rows, table.rows, LEAST_COSINE, (term, word, cosine) => {
    if (terms[term].stem !== table.stems[word]) relation(term, word, Math.min(cosine, 1));
  });
  const starts = startsOf(words, scratch.uint32('relation starts', table.rows.length + 1));
  const next = scratch.uint32('relation ends', starts.length);
  next.set(starts);
  const relations = {
    starts,
    terms: new Uint16Array(words.length),
    near: new Float32Array(words.length),
    wide: new Float32Array(words.length),
    same: new Uint8Array(words.length),
  };
  for (let i = 0; i < words.length; i++) {
    const at = next[words[i]]++;
    relations.terms[at] = found[i];
    relations.wide[at] = (cosines[i] * cosines[i] * cosines[i]) ** 2;
    relations.near[at] = relations.wide[at] ** 2;
    relations.same[at] = Number(i < equal);
  }
  return relations;
}

/** Tell of each word whose stem is a term's. `termOf`: by stem its term + 1, 0 for none. */
function eachEqual(stems: Uint32Array, termOf: Uint32Array, tell: FoundPair): void {
  for (let word = 0; word < stems.length; word++) {
    const term = termOf[stems[word]];
    if (term > 0) tell(term - 1, word, 1);
  }
}

/** Where the relations of each word start when they are in the order of words, into `starts`, and at its end how many there are. */
function startsOf(words: readonly number[], starts: Uint32Array): Uint32Array {
  starts.fill(0);
  for (const word of words) starts[word + 1]++;
  for (let word = 1; word < starts.length; word++) starts[word] += starts[word - 1];
  return starts;
}
