/** Index of the first element >= `value`, or the length. */
export function firstAtLeast(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first element > `value`, or the length. Integers only. */
export function firstAbove(sorted: ArrayLike<number>, value: number): number {
  return firstAtLeast(sorted, value + 1);
}
