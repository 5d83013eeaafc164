type NumberList = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

/**
 * A list that has outgrown its room: a copy of `length` numbers, zeros behind those of `list`. Memory of its own, also where the list's
 * is shared. Errors: RangeError for a `length` below the list's, or where there is no memory.
 */
export function longer<List extends NumberList>(list: List, length: number): List {
  const copy = new (list.constructor as new (length: number) => List)(length);
  copy.set(list);
  return copy;
}
