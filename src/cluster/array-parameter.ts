/** Arrays as parameters in PostgreSQL's binary format: as text every byte of a `bytea` would be two. */

const oids = { bytea: 17, text: 25 };

/** Shape: one dimension from 1. Source: `array_recv` of PostgreSQL: dimensions, whether there are nulls, the elements' type, then each with its length. */
export function arrayParameter(type: keyof typeof oids, elements: readonly (Buffer | null)[]): Buffer {
  const bytes = elements.reduce((sum, each) => sum + 4 + (each?.length ?? 0), 20);
  const array = Buffer.allocUnsafe(bytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(elements.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(oids[type], 8);
  array.writeInt32BE(elements.length, 12);
  array.writeInt32BE(1, 16);
  let at = 20;
  for (const element of elements) {
    at = array.writeInt32BE(element?.length ?? -1, at);
    if (element !== null) at += element.copy(array, at);
  }
  return array;
}
