/** Arrays as parameters in PostgreSQL's binary format. */

const oids = { int4: 23, text: 25 };

/** Shape: one dimension from 1. Source: `array_recv` of PostgreSQL: dimensions, whether there are nulls, the elements' type, then each with its length. */
function arrayOf(type: keyof typeof oids, count: number, bytes: number): Buffer {
  const array = Buffer.allocUnsafe(20 + 4 * count + bytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(oids[type], 8);
  array.writeInt32BE(count, 12);
  array.writeInt32BE(1, 16);
  return array;
}

export function textArray(texts: readonly string[]): Buffer {
  const array = arrayOf(
    'text',
    texts.length,
    texts.reduce((sum, each) => sum + Buffer.byteLength(each), 0),
  );
  let at = 20;
  for (const text of texts) {
    const length = array.write(text, at + 4);
    at = array.writeInt32BE(length, at) + length;
  }
  return array;
}

export function intArray(numbers: readonly number[]): Buffer {
  const array = arrayOf('int4', numbers.length, 4 * numbers.length);
  let at = 20;
  for (const number of numbers) {
    at = array.writeInt32BE(4, at);
    at = array.writeInt32BE(number, at);
  }
  return array;
}
