import type { Measures } from '../../domain/evaluation.ts';

export interface JudgedAnswer {
  /** Page numbers by rank, best first; 0 for a rank that is missing. */
  ranked: readonly number[];
  candidates: readonly number[];
  grades: Grades<number>;
}

export function gradesOf(feedback: ReadonlyMap<number, boolean>): Map<number, number> {
  return new Map([...feedback].map(([page, relevant]) => [page, relevant ? 1 : 0]));
}

export function hasPositive(grades: Grades<number>): boolean {
  return [...grades.keys()].some((page) => isRelevant(grades, page));
}

/** nDCG, reciprocal rank and recall of the first k, and recall of all candidates, the upper limit of any order. */
export function measureAnswer({ ranked, candidates, grades }: JudgedAnswer, k: number): Measures {
  return {
    ndcg: ndcg(ranked, grades, k),
    reciprocal_rank: reciprocalRank(ranked, grades, k),
    recall: recall(ranked.slice(0, k), grades),
    recall_candidates: recall(candidates, grades),
  };
}

/** nDCG gained by the reranker over the candidates' order. Only for known ranks, as it did not affect others. */
export function rerankLift({ ranked, candidates, grades }: JudgedAnswer, k: number): number {
  const before = candidates.slice(0, ranked.length).map((page, place) => (ranked[place] === 0 ? 0 : page));
  return ndcg(ranked, grades, k) - ndcg(before, grades, k);
}

export const meanMeasures = (all: readonly Measures[]): Measures =>
  measuresBy((name) => meanOf(all.map((each) => each[name])) ?? 0);

export const measuresBy = (of: (name: keyof Measures) => number): Measures => ({
  ndcg: of('ndcg'),
  reciprocal_rank: of('reciprocal_rank'),
  recall: of('recall'),
  recall_candidates: of('recall_candidates'),
});

export function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/* Ranking quality by judgements. Grades above 0 are relevant; pages without a grade are not. Pure. */

type Grades<Item> = ReadonlyMap<Item, number>;

/** nDCG of the first k, 0 to 1: gain 2^grade − 1, discount log2(rank + 1). Source: Järvelin & Kekäläinen 2002. */
export function ndcg<Item>(ranked: readonly Item[], grades: Grades<Item>, k: number): number {
  const best = [...grades.values()].sort((a, b) => b - a).slice(0, k);
  const ideal = best.reduce((sum, grade, i) => sum + discountedGain(grade, i), 0);
  if (ideal === 0) return 0;
  return ranked.slice(0, k).reduce((sum, item, i) => sum + discountedGain(grades.get(item) ?? 0, i), 0) / ideal;
}

/** One over the rank of the first relevant page among the first k, else 0. Source: Voorhees 1999 (TREC-8). */
export function reciprocalRank<Item>(ranked: readonly Item[], grades: Grades<Item>, k: number): number {
  const first = ranked.slice(0, k).findIndex((item) => isRelevant(grades, item));
  return first < 0 ? 0 : 1 / (first + 1);
}

/** Share of relevant pages among `found`; 0 without relevant pages. */
export function recall<Item>(found: readonly Item[], grades: Grades<Item>): number {
  const relevant = [...grades.keys()].filter((item) => isRelevant(grades, item));
  if (relevant.length === 0) return 0;
  const all = new Set(found);
  return relevant.filter((item) => all.has(item)).length / relevant.length;
}

function isRelevant<Item>(grades: Grades<Item>, item: Item): boolean {
  return (grades.get(item) ?? 0) > 0;
}

function discountedGain(grade: number, place: number): number {
  return (2 ** grade - 1) / Math.log2(place + 2);
}
