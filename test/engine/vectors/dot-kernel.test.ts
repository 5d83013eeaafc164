import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LANES, MAX_PAGES, openDots, plainDots, QUERY_PEAK } from '../../../src/engine/vectors/dot-kernel.ts';

const QUERY = 0;
const ADDRESSES = 20_000;
const SUMS = 30_000;
const ROWS = 65_536;

/** Dot products of rows with a query by one of the kernels. */
function sums(open: typeof openDots, rows: number[][], query: number[], order: number[]): number[] {
  const memory = new WebAssembly.Memory({ initial: 4, maximum: MAX_PAGES, shared: true });
  const length = query.length;
  new Int16Array(memory.buffer, QUERY, length).set(query);
  const bytes = new Int8Array(memory.buffer);
  for (const [i, row] of rows.entries()) bytes.set(row, ROWS + i * length);
  new Uint32Array(memory.buffer, ADDRESSES, order.length).set(order.map((row) => ROWS + row * length));
  const out = new Int32Array(memory.buffer, SUMS, order.length + 1).fill(-7);
  open(memory)(ADDRESSES, order.length, length, QUERY, SUMS);
  assert.equal(out[order.length], -7, 'wrote past the end');
  return [...out.subarray(0, order.length)];
}

const component = fc.integer({ min: -128, max: 127 });
const queryComponent = fc.integer({ min: -QUERY_PEAK, max: QUERY_PEAK });

test('the SIMD kernel computes what the plain loop computes', () => {
  const cases = fc.integer({ min: 1, max: 6 }).chain((lanes) => {
    const length = lanes * LANES;
    const row = fc.array(component, { minLength: length, maxLength: length });
    return fc.record({
      rows: fc.array(row, { minLength: 5, maxLength: 5 }),
      query: fc.array(queryComponent, { minLength: length, maxLength: length }),
      order: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 12 }),
    });
  });
  fc.assert(
    fc.property(cases, ({ rows, query, order }) => {
      const plain = order.map((row) => rows[row].reduce((sum, value, i) => sum + value * query[i], 0));
      assert.deepEqual(sums(openDots, rows, query, order), plain);
      assert.deepEqual(sums(plainDots, rows, query, order), plain);
    }),
  );
});

test('the largest vectors do not overflow', () => {
  const row = new Array<number>(8192).fill(127);
  const query = new Array<number>(8192).fill(-QUERY_PEAK);
  assert.deepEqual(sums(openDots, [row], query, [0]), [-127 * QUERY_PEAK * 8192]);
});

test('the SIMD kernel is the one that runs here, and it is faster than the plain loop', () => {
  const memory = new WebAssembly.Memory({ initial: 20, maximum: MAX_PAGES, shared: true });
  const addresses = new Uint32Array(memory.buffer, ADDRESSES, 1000);
  addresses.forEach((_, i) => {
    addresses[i] = ROWS + i * 1024;
  });
  const fastest = (open: typeof openDots): number => {
    const dots = open(memory);
    const times = Array.from({ length: 20 }, () => {
      const start = performance.now();
      dots(ADDRESSES, 1000, 1024, QUERY, SUMS);
      return performance.now() - start;
    });
    return Math.min(...times);
  };
  assert.ok(fastest(openDots) < fastest(plainDots));
});
