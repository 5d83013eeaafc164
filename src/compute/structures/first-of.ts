/**
 * The first `count` (at least 1) of some numbers in the order that `before` tells, in that order. By insertion: quick for few of
 * many. `before` is a total order, so that the order given does not matter. TopK knows scores and labels only; these items are
 * places, whose order lies in other arrays.
 */
export function firstOf(items: ArrayLike<number>, count: number, before: (a: number, b: number) => boolean): number[] {
  const found: number[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (found.length === count && !before(item, found[count - 1])) continue;
    let at = Math.min(found.length, count - 1);
    for (; at > 0 && before(item, found[at - 1]); at--) found[at] = found[at - 1];
    found[at] = item;
  }
  return found;
}
