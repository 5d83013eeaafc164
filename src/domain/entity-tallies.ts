/** Computes entity rows from page mentions and merges, to check a store. Commands update the rows incrementally. */
import type { Entity, EntityMerge, PageEntity } from './entity.ts';

export type EntityTally = Pick<Entity, 'forms' | 'page_count' | 'parent' | 'children' | 'tree_pages'>;

/** Most frequent first, ties by spelling, so the order of pages does not matter. */
export function byCount([a, m]: [string, number], [b, n]: [string, number]): number {
  return n - m || (a < b ? -1 : Number(a > b));
}

/** Ignores merges that were undone, of unmentioned entities, of two types, or that would form a cycle. */
export function tallyEntities(
  pages: Iterable<readonly [pageNo: number, mentioned: readonly PageEntity[]]>,
  merges: Iterable<Pick<EntityMerge, 'kept' | 'merged' | 'undone_at'>>,
  typeOf: (no: number) => string | undefined,
): { tallies: Map<number, EntityTally>; pagesOf: Map<number, Set<number>> } {
  const counts = new Map<number, Map<string, number>>();
  const pagesOf = new Map<number, Set<number>>();
  for (const [pageNo, mentioned] of pages) {
    for (const { no, forms } of mentioned) {
      const counted = entryOf(counts, no, () => new Map<string, number>());
      for (const [form, places] of forms) counted.set(form, (counted.get(form) ?? 0) + places.length / 2);
      entryOf(pagesOf, no, () => new Set<number>()).add(pageNo);
    }
  }
  const tallies = new Map<number, EntityTally>();
  for (const [no, forms] of counts) {
    const page_count = pagesOf.get(no)?.size ?? 0;
    tallies.set(no, { forms: [...forms].sort(byCount), page_count, parent: 0, children: [], tree_pages: 0 });
  }
  for (const { kept, merged, undone_at } of merges) {
    const [above, below] = [tallies.get(kept), tallies.get(merged)];
    if (undone_at !== null || above === undefined || below === undefined || below.parent !== 0) continue;
    if (typeOf(kept) !== typeOf(merged) || treeOf(tallies, merged).includes(kept)) continue;
    below.parent = kept;
    above.children.push(merged);
  }
  for (const [no, tally] of tallies) {
    if (tally.parent !== 0 || tally.children.length === 0) continue;
    const united = new Set<number>();
    for (const each of treeOf(tallies, no)) for (const page of pagesOf.get(each) ?? []) united.add(page);
    tally.tree_pages = united.size;
  }
  return { tallies, pagesOf };
}

function treeOf(tallies: ReadonlyMap<number, EntityTally>, no: number): number[] {
  const tree = [no];
  for (let at = 0; at < tree.length; at++) tree.push(...(tallies.get(tree[at])?.children ?? []));
  return tree;
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
