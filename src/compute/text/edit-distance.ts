/** Bytes of UTF-8, or UTF-16 code units. */
type Units = Uint8Array | Uint16Array;

/** Reused buffers, because thousands of words are compared. */
let rows = [new Int32Array(64), new Int32Array(64), new Int32Array(64)];
let units = [new Uint16Array(64), new Uint16Array(64)];

/** Edits (insert, delete, replace, swap) of UTF-16 units, or `most + 1` if more. O(length × most): Ukkonen 1985. */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const longest = Math.max(a.length, b.length);
  if (units[0].length < longest) units = units.map(() => new Uint16Array(2 * longest));
  for (let i = 0; i < a.length; i++) units[0][i] = a.charCodeAt(i);
  for (let i = 0; i < b.length; i++) units[1][i] = b.charCodeAt(i);
  return editsBetween(units[0], a.length, units[1], 0, b.length, most);
}

/** The same for a[0 .. aLength) and b[from .. from + bLength). */
export function editsBetween(a: Units, aLength: number, b: Units, from: number, bLength: number, most: number): number {
  const over = most + 1;
  if (Math.abs(aLength - bLength) > most) return over;
  if (rows[0].length <= bLength) rows = rows.map(() => new Int32Array(2 * bLength));
  let [before, previous, current] = rows;
  for (let j = 0; j <= Math.min(over, bLength); j++) previous[j] = j;
  for (let i = 1; i <= aLength; i++) {
    const first = Math.max(1, i - most);
    const last = Math.min(bLength, i + most);
    // Outside of this row's band, but the next row reads it.
    current[first - 1] = first === 1 ? Math.min(i, over) : over;
    let least = current[first - 1];
    for (let j = first; j <= last; j++) {
      const same = a[i - 1] === b[from + j - 1];
      let edits = Math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[from + j - 2] && a[i - 2] === b[from + j - 1])
        edits = Math.min(edits, before[j - 2] + 1);
      current[j] = Math.min(edits, over);
      least = Math.min(least, current[j]);
    }
    if (least > most) return over;
    if (last < bLength) current[last + 1] = over;
    [before, previous, current] = [previous, current, before];
  }
  return previous[bLength];
}
