import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SignSketches } from '../../src/threads/sign-sketches.ts';
import { openDistances, PLANES, plainDistances, SKETCH_STEP } from '../../src/threads/sketch-kernel.ts';

const QUERY = 0;
const OUT = 8192;
const ROWS = 65_536;

function distances(open: typeof openDistances, rows: Uint8Array, query: Uint8Array, count: number): number[] {
  const memory = new WebAssembly.Memory({ initial: 2 });
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(query, QUERY);
  bytes.set(rows, ROWS);
  const out = new Int32Array(memory.buffer, OUT, count + 1).fill(-7);
  open(memory)(ROWS, count, query.length / PLANES, QUERY, OUT);
  assert.equal(out[count], -7, 'wrote past the end');
  return [...out.subarray(0, count)];
}

test('the kernel computes what the plain loop computes', () => {
  const cases = fc.record({ steps: fc.integer({ min: 1, max: 4 }), count: fc.nat(6) }).chain(({ steps, count }) => {
    const length = steps * SKETCH_STEP;
    const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
    return fc.record({ count: fc.constant(count), rows: bytes(length * count), query: bytes(length * PLANES) });
  });
  fc.assert(
    fc.property(cases, ({ count, rows, query }) => {
      assert.deepEqual(distances(openDistances, rows, query, count), distances(plainDistances, rows, query, count));
    }),
  );
});

test('the short list is that of the products of signs with the query rounded to -3, -1, 1 and 3', () => {
  const components = (dim: number) =>
    fc.array(
      fc.integer({ min: -127, max: 127 }).filter((value) => value !== 0),
      { minLength: dim, maxLength: dim },
    );
  const cases = fc
    .integer({ min: 1, max: 600 })
    .chain((dim) =>
      fc.record({ rows: fc.array(components(dim), { minLength: 1, maxLength: 12 }), query: components(dim) }),
    );
  fc.assert(
    fc.property(cases, fc.integer({ min: 1, max: 12 }), ({ rows, query }, wanted) => {
      const sketches = new SignSketches(query.length);
      rows.forEach((row, i) => {
        sketches.set(i, Int8Array.from(row));
      });
      sketches.setQuery(query);
      const deviation = Math.sqrt(query.reduce((sum, value) => sum + value * value, 0) / query.length);
      const rounded = query.map((value) => Math.sign(value) * (Math.abs(value) > deviation ? 3 : 1));
      const products = rows.map((row) => row.reduce((sum, value, i) => sum + Math.sign(value) * rounded[i], 0));
      const bar = [...products].sort((a, b) => b - a)[Math.min(wanted, rows.length) - 1];
      const all = Uint32Array.from(rows.keys());
      const expected = all.filter((row) => products[row] >= bar);
      assert.deepEqual(sketches.shortlist(all, rows.length, wanted), expected);
    }),
    { numRuns: 60 },
  );
});
