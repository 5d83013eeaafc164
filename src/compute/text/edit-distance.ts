/**
 * Edits (insert, delete, replace, swap two neighbours) from one string to another, or `most + 1` where there are more than `most`.
 * Units: UTF-16 code units. Time: O(length × most). Source: optimal string alignment, in a band (Ukkonen 1985).
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const width = b.length + 1;
  const over = most + 1;
  let before = new Int32Array(width).fill(over);
  let previous = Int32Array.from({ length: width }, (_, j) => Math.min(j, over));
  let current = new Int32Array(width).fill(over);
  for (let i = 1; i <= a.length; i++) {
    current.fill(over);
    current[0] = Math.min(i, over);
    const from = Math.max(1, i - most);
    const to = Math.min(b.length, i + most);
    let least = current[0];
    for (let j = from; j <= to; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits = Math.min(edits, before[j - 2] + 1);
      current[j] = Math.min(edits, over);
      least = Math.min(least, current[j]);
    }
    if (least > most) return over;
    [before, previous, current] = [previous, current, before];
  }
  return previous[b.length];
}
