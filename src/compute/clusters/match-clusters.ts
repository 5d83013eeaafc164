/**
 * Which new cluster is which old one: pairs with most pages in common first, each cluster in one pair at most. A pair must share
 * a part of both that is worth the name, or an id would wander to another topic.
 */

/** Of the pages that both runs know, common ones must be this share of the smaller and this of the larger cluster. */
const leastOfSmaller = 0.5;
const leastOfLarger = 0.2;

/**
 * For each new cluster (0 .. count - 1) the id of the old one that it continues, or null.
 * Shapes: `clusters` by page, -1 for none; `earlier` the old id of the same pages, 0 for none or unknown.
 */
export function matchClusters(
  clusters: ArrayLike<number>,
  count: number,
  earlier: ArrayLike<number>,
): (number | null)[] {
  const common = new Map<string, { cluster: number; id: number; pages: number }>();
  const sizes = new Map<number, number>();
  const earlierSizes = new Map<number, number>();
  for (let page = 0; page < clusters.length; page++) {
    const id = earlier[page];
    const cluster = clusters[page];
    if (id !== 0) earlierSizes.set(id, (earlierSizes.get(id) ?? 0) + 1);
    if (id === 0 || cluster < 0) continue;
    sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1);
    const key = `${cluster} ${id}`;
    const pair = common.get(key) ?? { cluster, id, pages: 0 };
    pair.pages++;
    common.set(key, pair);
  }
  const matched: (number | null)[] = new Array(count).fill(null);
  const used = new Set<number>();
  const byOverlap = [...common.values()].sort((a, b) => b.pages - a.pages || a.id - b.id || a.cluster - b.cluster);
  for (const { cluster, id, pages } of byOverlap) {
    if (matched[cluster] !== null || used.has(id)) continue;
    const [a, b] = [sizes.get(cluster) ?? 0, earlierSizes.get(id) ?? 0];
    if (pages < leastOfSmaller * Math.min(a, b) || pages < leastOfLarger * Math.max(a, b)) continue;
    matched[cluster] = id;
    used.add(id);
  }
  return matched;
}
