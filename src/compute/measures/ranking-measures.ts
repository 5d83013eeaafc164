/**
 * How good a ranking is when some pages were judged. A page's grade is above 0 where it is relevant; a page without a grade
 * counts as not relevant. Pure; called by evaluation.
 */

export type Grades<Item> = ReadonlyMap<Item, number>;

/**
 * Normalised discounted cumulative gain of the first k: gain 2^grade − 1, discount log2(rank + 1), over the best order that the
 * judged pages allow.
 * Shapes: ranked best first without repetition.
 * Units:  0 to 1; 0 where nothing relevant was judged.
 * Source: Järvelin & Kekäläinen 2002; the exponential gain of Burges et al. 2005; design "measures".
 */
export function ndcg<Item>(ranked: readonly Item[], grades: Grades<Item>, k: number): number {
  const best = [...grades.values()].sort((a, b) => b - a).slice(0, k);
  const ideal = best.reduce((sum, grade, i) => sum + discountedGain(grade, i), 0);
  if (ideal === 0) return 0;
  return ranked.slice(0, k).reduce((sum, item, i) => sum + discountedGain(grades.get(item) ?? 0, i), 0) / ideal;
}

/**
 * One over the rank of the first relevant page among the first k, 0 where there is none.
 * Source: Voorhees 1999 (TREC-8 question answering).
 */
export function reciprocalRank<Item>(ranked: readonly Item[], grades: Grades<Item>, k: number): number {
  const first = ranked.slice(0, k).findIndex((item) => isRelevant(grades, item));
  return first < 0 ? 0 : 1 / (first + 1);
}

/** Share of the relevant pages that are among `found`, repeated ones once; 0 where nothing relevant was judged. */
export function recall<Item>(found: readonly Item[], grades: Grades<Item>): number {
  const relevant = [...grades.keys()].filter((item) => isRelevant(grades, item));
  if (relevant.length === 0) return 0;
  const all = new Set(found);
  return relevant.filter((item) => all.has(item)).length / relevant.length;
}

export function isRelevant<Item>(grades: Grades<Item>, item: Item): boolean {
  return (grades.get(item) ?? 0) > 0;
}

function discountedGain(grade: number, place: number): number {
  return (2 ** grade - 1) / Math.log2(place + 2);
}
