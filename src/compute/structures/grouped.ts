/** Groups items by key, in the order of the items. Node 21 has it as `Map.groupBy`. */
export function grouped<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    if (group.length === 1) groups.set(keyOf(item), group);
  }
  return groups;
}
