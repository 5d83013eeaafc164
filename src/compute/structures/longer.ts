type NumberList = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

/** A copy of `length` numbers, zero-padded. Errors: RangeError for a smaller `length`, or without memory. */
export function longer<List extends NumberList>(list: List, length: number): List {
  const copy = new (list.constructor as new (length: number) => List)(length);
  copy.set(list);
  return copy;
}

/** V8 stores a substring of 13 or more characters as a view of its source, so long-lived ones must be copied. */
const shortestView = 13;

export function ownCopy(text: string): string {
  return text.length < shortestView ? text : ` ${text}`.slice(1);
}
