/** The measures of one answer against what was said about its pages, and their means. Pure; called by evaluation. */
import type { Measures } from '../../domain/evaluation.ts';
import { type Grades, isRelevant, ndcg, recall, reciprocalRank } from './ranking-measures.ts';

export interface JudgedAnswer {
  /** Page numbers by rank, best first; 0 at a rank that was not answered. */
  ranked: readonly number[];
  /** Pages of all candidates. */
  candidates: readonly number[];
  grades: Grades<number>;
}

/** Feedback as grades: relevant 1, not relevant 0. */
export function gradesOf(feedback: ReadonlyMap<number, boolean>): Map<number, number> {
  return new Map([...feedback].map(([page, relevant]) => [page, relevant ? 1 : 0]));
}

export function hasPositive(grades: Grades<number>): boolean {
  return [...grades.keys()].some((page) => isRelevant(grades, page));
}

/** nDCG, reciprocal rank and recall of the first k, and recall of all candidates: what no order could do better than. */
export function measureAnswer({ ranked, candidates, grades }: JudgedAnswer, k: number): Measures {
  return {
    ndcg: ndcg(ranked, grades, k),
    reciprocal_rank: reciprocalRank(ranked, grades, k),
    recall: recall(ranked.slice(0, k), grades),
    recall_candidates: recall(candidates, grades),
  };
}

/**
 * How much nDCG the reranker added over the order in which the candidates came to it. Both are looked at where there was an answer:
 * candidates beyond it, or before its offset, would be counted against a reranker that had no say there.
 */
export function rerankLift({ ranked, candidates, grades }: JudgedAnswer, k: number): number {
  const before = candidates.slice(0, ranked.length).map((page, place) => (ranked[place] === 0 ? 0 : page));
  return ndcg(ranked, grades, k) - ndcg(before, grades, k);
}

/** Mean of each measure; 0 without any. */
export function meanMeasures(all: readonly Measures[]): Measures {
  const mean = (name: keyof Measures) => meanOf(all.map((each) => each[name])) ?? 0;
  return {
    ndcg: mean('ndcg'),
    reciprocal_rank: mean('reciprocal_rank'),
    recall: mean('recall'),
    recall_candidates: mean('recall_candidates'),
  };
}

/** Mean of those that are not null; null without any. */
export function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
