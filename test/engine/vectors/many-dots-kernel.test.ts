import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LANES } from '../../../src/engine/vectors/dot-kernel.ts';
import { MAX_QUERIES, openManyDots, plainManyDots } from '../../../src/engine/vectors/many-dots-kernel.ts';

const ADDRESSES = 20_000;
const SUMS = 30_000;
const ROWS = 65_536;

/** Sums of rows with queries by one of the kernels. */
function sums(open: typeof openManyDots, rows: number[][], queries: number[][], order: number[]): number[] {
  const memory = new WebAssembly.Memory({ initial: 4 });
  const length = queries[0].length;
  new Int16Array(memory.buffer, 0, queries.length * length).set(queries.flat());
  const bytes = new Int8Array(memory.buffer);
  for (const [i, row] of rows.entries()) bytes.set(row, ROWS + i * length);
  new Uint32Array(memory.buffer, ADDRESSES, order.length).set(order.map((row) => ROWS + row * length));
  const count = order.length * queries.length;
  const out = new Int32Array(memory.buffer, SUMS, count + 1).fill(-7);
  open(memory, length, queries.length)(ADDRESSES, order.length, 0, SUMS);
  assert.equal(out[count], -7, 'wrote past the end');
  return [...out.subarray(0, count)];
}

test('the kernel of any number of queries computes what the plain loop computes', () => {
  const cases = fc
    .record({ lanes: fc.integer({ min: 1, max: 8 }), queries: fc.integer({ min: 1, max: MAX_QUERIES }) })
    .chain(({ lanes, queries }) => {
      const vector = (least: number, most: number) =>
        fc.array(fc.integer({ min: least, max: most }), { minLength: lanes * LANES, maxLength: lanes * LANES });
      return fc.record({
        rows: fc.array(vector(-128, 127), { minLength: 1, maxLength: 6 }),
        queries: fc.array(vector(-8191, 8191), { minLength: queries, maxLength: queries }),
        order: fc.array(fc.nat(5), { maxLength: 8 }),
      });
    });
  fc.assert(
    fc.property(cases, ({ rows, queries, order }) => {
      const known = order.map((row) => row % rows.length);
      const expected = known.flatMap((row) =>
        queries.map((query) => query.reduce((sum, component, j) => sum + component * rows[row][j], 0)),
      );
      assert.deepEqual(sums(plainManyDots, rows, queries, known), expected);
      assert.deepEqual(sums(openManyDots, rows, queries, known), expected);
    }),
  );
});
