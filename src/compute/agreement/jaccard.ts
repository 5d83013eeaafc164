/** How many results two rankings share. Pure; called by compare and by replays. */

/**
 * Size of the intersection and Jaccard index of two lists' first k, order aside.
 * Shapes: each list best first without repetition.
 * Units:  jaccard from 0 (nothing shared) to 1 (the same set; two empty lists are the same).
 * Source: Jaccard 1912.
 */
export function overlapAtK<Item>(
  a: readonly Item[],
  b: readonly Item[],
  k: number,
): { intersection_size: number; jaccard_at_k: number } {
  const first = new Set(a.slice(0, k));
  const second = new Set(b.slice(0, k));
  let shared = 0;
  for (const item of second) if (first.has(item)) shared++;
  const union = first.size + second.size - shared;
  return { intersection_size: shared, jaccard_at_k: union === 0 ? 1 : shared / union };
}
