/** Says why a page stands where it does among the results: what found it, and what scored it. */
import type { PageResult } from '../../domain/search.ts';
import type { OrderedPage, Ranking } from './rank-query.ts';

export type ExplainPlace = (page: OrderedPage) => PageResult['why'];

/** Explains the pages of a ranking. */
export function placeExplainer({ retrieved, scored }: Pick<Ranking, 'retrieved' | 'scored'>): ExplainPlace {
  const byKeywords = ranksOf(retrieved.sparse.labels);
  const byVectors = ranksOf(retrieved.dense.labels);
  return ({ exact, hits }) => ({
    exact,
    keyword_rank: bestRank(hits, byKeywords),
    vector_rank: bestRank(hits, byVectors),
    reranked: hits.length > 0 && scored.has(hits[0].label),
  });
}

/** Ranks from 1 of labels, best first. */
function ranksOf(labels: Uint32Array): ReadonlyMap<number, number> {
  return new Map(Array.from(labels, (label, place) => [label, place + 1]));
}

function bestRank(hits: OrderedPage['hits'], ranks: ReadonlyMap<number, number>): number | null {
  const best = hits.reduce((least, { label }) => Math.min(least, ranks.get(label) ?? least), Number.POSITIVE_INFINITY);
  return Number.isFinite(best) ? best : null;
}
