/**
 * How well the words of each candidate fit the query, at four widths: the very word forms, words near in meaning, words of the
 * same field, and the words of the title. All four are BM25 with the idf of the query's stems; they differ in what counts as
 * an occurrence. (The fifth width, equal stems, is the sparse side's own score.)
 */
import { B, contribution, FIELD_WEIGHTS, K1, termWeight } from '../bm25/bm25f.ts';
import { queryTermWeight } from '../bm25/corpus.ts';
import type { Candidates, CollectionStatistics, QueryWord } from './rerank-input.ts';
import type { WordSimilarity } from './word-similarity.ts';

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
  return firstForms.map(({ stem, row, count }) => {
    const idf = termWeight(statistics.docs, stem < 0 ? 1 : statistics.documentFrequency(stem));
    return { stem, row, idf, weight: queryTermWeight(counts.get(stem) ?? count) * idf };
  });
}

/** Lengths of the candidates in occurrences, the title counted as BM25F does. */
export function candidateLengths({ labels, starts, bodyCounts, titleCounts }: Candidates): Float64Array {
  const lengths = new Float64Array(labels.length);
  for (let i = 0; i < labels.length; i++) {
    for (let at = starts[i]; at < starts[i + 1]; at++) lengths[i] += occurrences(bodyCounts[at], titleCounts[at]);
  }
  return lengths;
}

/** Weighted occurrences of an entry. */
export function occurrences(bodyCount: number, titleCount: number): number {
  return FIELD_WEIGHTS.body * bodyCount + FIELD_WEIGHTS.title * titleCount;
}

/** Base and slope for `contribution`, in whole occurrences. */
export function saturation(meanLength: number): { base: number; slope: number } {
  return { base: K1 * (1 - B), slope: meanLength > 0 ? (K1 * B) / meanLength : 0 };
}

/** Shapes: `lengths` as `candidateLengths` gives; result one number per candidate and width, all >= 0. */
export function wordEvidence(
  words: readonly QueryWord[],
  terms: readonly QueryTerm[],
  candidates: Candidates,
  lengths: Float64Array,
  statistics: CollectionStatistics,
  similarity: WordSimilarity,
): WordEvidence {
  const { labels, starts, table } = candidates;
  const count = labels.length;
  const evidence = {
    surface: new Float64Array(count),
    near: new Float64Array(count),
    wide: new Float64Array(count),
    title: new Float64Array(count),
  };
  const idfs = new Map(terms.map(({ stem, idf }) => [stem, idf]));
  const formWeights = new Map(
    words.map(({ word, stem, count: times }) => [word, queryTermWeight(times) * (idfs.get(stem) ?? 0)]),
  );
  const relations = relate(terms, candidates, similarity);
  const text = saturation(statistics.meanLength);
  const heading = saturation(statistics.meanTitleLength);
  const near = new Float64Array(terms.length);
  const wide = new Float64Array(terms.length);
  const title = new Float64Array(terms.length);
  for (let i = 0; i < count; i++) {
    near.fill(0);
    wide.fill(0);
    title.fill(0);
    let titleLength = 0;
    for (let at = starts[i]; at < starts[i + 1]; at++) {
      const word = candidates.words[at];
      const titleCount = candidates.titleCounts[at];
      titleLength += titleCount;
      if (relations.starts[word] === relations.starts[word + 1]) continue;
      const times = occurrences(candidates.bodyCounts[at], titleCount);
      for (let r = relations.starts[word]; r < relations.starts[word + 1]; r++) {
        const term = relations.terms[r];
        near[term] += times * relations.near[r];
        wide[term] += times * relations.wide[r];
        if (terms[term].stem === table.stems[word]) title[term] += titleCount;
      }
      const weight = formWeights.get(word);
      if (weight === undefined) continue;
      evidence.surface[i] += contribution(weight, times, lengths[i], text.base, text.slope);
    }
    for (let term = 0; term < terms.length; term++) {
      const { weight } = terms[term];
      if (wide[term] === 0) continue;
      evidence.near[i] += contribution(weight, near[term], lengths[i], text.base, text.slope);
      evidence.wide[i] += contribution(weight, wide[term], lengths[i], text.base, text.slope);
      if (title[term] > 0) {
        evidence.title[i] += contribution(weight, title[term], titleLength, heading.base, heading.slope);
      }
    }
  }
  return evidence;
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
}

function relate(terms: readonly QueryTerm[], { table }: Candidates, similarity: WordSimilarity): Relations {
  const count = table.rows.length;
  const soft = new Set(
    terms
      .map((_, term) => term)
      .sort((a, b) => terms[b].weight - terms[a].weight || a - b)
      .slice(0, MAX_SOFT_TERMS),
  );
  /** Of each relation its word, its term and its cosine. */
  const words: number[] = [];
  const found: number[] = [];
  const cosines: number[] = [];
  const starts = new Uint32Array(count + 1);
  const relation = (term: number, word: number, cosine: number) => {
    words.push(word);
    found.push(term);
    cosines.push(cosine);
    starts[word + 1]++;
  };
  const termOf = new Int32Array(table.stemCount).fill(-1);
  terms.forEach(({ stem }, term) => {
    if (stem >= 0) termOf[stem] = term;
  });
  for (let word = 0; word < count; word++) {
    const term = termOf[table.stems[word]];
    if (term >= 0) relation(term, word, 1);
  }
  const rows = Int32Array.from(terms, ({ row }, term) => (soft.has(term) ? row : -1));
  similarity.pairs(rows, table.rows, LEAST_COSINE, (term, word, cosine) => {
    if (terms[term].stem !== table.stems[word]) relation(term, word, Math.min(cosine, 1));
  });
  for (let word = 0; word < count; word++) starts[word + 1] += starts[word];
  const next = starts.slice(0, -1);
  const relations = {
    starts,
    terms: new Uint16Array(words.length),
    near: new Float32Array(words.length),
    wide: new Float32Array(words.length),
  };
  for (let i = 0; i < words.length; i++) {
    const at = next[words[i]]++;
    relations.terms[at] = found[i];
    relations.wide[at] = (cosines[i] * cosines[i] * cosines[i]) ** 2;
    relations.near[at] = relations.wide[at] ** 2;
  }
  return relations;
}
