import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { randomStream } from '../../bench/workload.ts';
import { SignSketches } from '../../src/threads/sign-sketches.ts';
import {
  MAX_NEAR,
  openDistances,
  openNearRows,
  PLANES,
  plainDistances,
  plainNearRows,
  wordsOf,
} from '../../src/threads/sketch-kernel.ts';

const QUERY = 0;
const OUT = 8192;
const ROWS = 65_536;

/** Sketches of some dimensions, and a query's planes. */
const sketches = fc.record({ dim: fc.integer({ min: 1, max: 1500 }), count: fc.nat(6) }).chain(({ dim, count }) => {
  const words = wordsOf(dim);
  const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
  const query = bytes(8 * words * PLANES);
  return fc.record({ words: fc.constant(words), count: fc.constant(count), rows: bytes(8 * words * count), query });
});

function memoryWith(rows: Uint8Array, query: Uint8Array): WebAssembly.Memory {
  const memory = new WebAssembly.Memory({ initial: 2 });
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(query, QUERY);
  bytes.set(rows, ROWS);
  return memory;
}

test('the kernel of distances computes what the plain loop computes, of every row and of every second', () => {
  const distances = (open: typeof openDistances, words: number, rows: Uint8Array, query: Uint8Array, count: number) => {
    const memory = memoryWith(rows, query);
    const measure = open(memory, words);
    return [1, 2].map((every) => {
      const measured = Math.ceil(count / every);
      const out = new Int32Array(memory.buffer, OUT, measured + 1).fill(-7);
      measure(ROWS, measured, QUERY, OUT, every * 8 * words);
      assert.equal(out[measured], -7, 'wrote past the end');
      return [...out.subarray(0, measured)];
    });
  };
  fc.assert(
    fc.property(sketches, ({ words, count, rows, query }) => {
      const [all, everySecond] = distances(openDistances, words, rows, query, count);
      assert.deepEqual([all, everySecond], distances(plainDistances, words, rows, query, count));
      assert.deepEqual(
        everySecond,
        all.filter((_, i) => i % 2 === 0),
      );
    }),
  );
});

test('the distance of the longest sketch has the weight of all its bits', () => {
  const words = wordsOf(8192);
  const query = new Uint8Array(8 * words * PLANES).fill(255);
  for (const open of [openDistances, plainDistances]) {
    const memory = memoryWith(new Uint8Array(8 * words), query);
    open(memory, words)(ROWS, 1, QUERY, OUT, 8 * words);
    assert.equal(new Int32Array(memory.buffer, OUT, 1)[0], 3 * 8192);
  }
});

test('the kernel of near rows gives the numbers and distances of the rows up to the bar, as the plain loop does', () => {
  fc.assert(
    fc.property(sketches, fc.nat(2000), fc.nat(1e6), ({ words, count, rows, query }, bar, first) => {
      const memory = memoryWith(rows, query);
      plainDistances(memory, words)(ROWS, count, QUERY, OUT, 8 * words);
      const distances = [...new Int32Array(memory.buffer, OUT, count)];
      const expected = distances.flatMap((far, i) => (far > bar ? [] : { row: first + i, far }));
      for (const open of [openNearRows, plainNearRows]) {
        const out = new Int32Array(memory.buffer, OUT, 2 + 2 * MAX_NEAR).fill(-7);
        open(memory, words)(ROWS, count, QUERY, OUT, bar, first);
        const found = [...out.subarray(1, 1 + out[0])];
        assert.equal(out[0], expected.length);
        assert.deepEqual(
          found.map((row, i) => ({ row, far: out[1 + MAX_NEAR + i] })),
          expected,
        );
        assert.deepEqual([out[1 + count], out[1 + MAX_NEAR + count]], [-7, -7], 'wrote past the end');
      }
    }),
  );
});

test('of as many rows as one call takes, all near, the two lists do not meet', () => {
  for (const open of [openNearRows, plainNearRows]) {
    const rows = new Uint8Array(8 * MAX_NEAR);
    rows.forEach((_, i) => {
      if (i % 8 === 0) rows[i] = (i / 8) & 1;
    });
    const memory = memoryWith(rows, new Uint8Array(8 * PLANES));
    const out = new Int32Array(memory.buffer, OUT, 2 + 2 * MAX_NEAR).fill(-7);
    open(memory, 1)(ROWS, MAX_NEAR, QUERY, OUT, 3, 100);
    assert.equal(out[0], MAX_NEAR);
    const every = Array.from({ length: MAX_NEAR }, (_, i) => i);
    assert.deepEqual(
      [...out.subarray(1, 1 + MAX_NEAR)],
      every.map((i) => 100 + i),
    );
    assert.deepEqual(
      [...out.subarray(1 + MAX_NEAR, 1 + 2 * MAX_NEAR)],
      every.map((i) => (i & 1) * 3),
    );
    assert.equal(out[1 + 2 * MAX_NEAR], -7, 'wrote past the end');
  }
});

test('the short list is in the order of the products of signs with the query rounded to -3, -1, 1 and 3', () => {
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
      const expected = all.filter((row) => products[row] >= bar).sort((a, b) => products[b] - products[a] || a - b);
      assert.deepEqual(sketches.shortlist(all, rows.length, wanted), expected);
      assert.deepEqual(sketches.shortlistRange(0, rows.length, wanted), expected);
    }),
    { numRuns: 60 },
  );
});

test('the short list of many rows is all that are nearer than some bar, about as many as wanted, whatever their order', () => {
  const DIM = 100;
  const ROWS = 20_000;
  const FIRST = 37;
  const WANTED = 600;
  const random = randomStream(42, 1, 1);
  const query = Float32Array.from({ length: DIM }, () => random() - 0.5);
  const component = (share: number) => (_: number, i: number) =>
    Math.round(127 * (share * query[i] + (random() - 0.5)));
  const orders = {
    'at random': () => random() * 0.6,
    'the near ones first': (row: number) => (row < 1000 ? 0.8 : 0),
    'a sample of far ones': (row: number) => ((row - FIRST) % 11 === 0 ? -0.5 : random() * 0.6),
    'a sample of near ones': (row: number) => ((row - FIRST) % 11 === 0 ? 0.8 : 0),
  };
  for (const [order, shareOf] of Object.entries(orders)) {
    const sketches = new SignSketches(DIM);
    for (let row = 0; row < ROWS; row++) {
      sketches.set(
        row,
        Int8Array.from({ length: DIM }, (_, i) => component(shareOf(row))(0, i)),
      );
    }
    sketches.setQuery(query);
    const near = [...sketches.shortlistRange(FIRST, ROWS, WANTED)];
    assert.ok(near.length >= WANTED / 2, `${order}: ${near.length}`);
    // The exact list of as many: at a bar of the same distance both have the same rows.
    const all = Uint32Array.from({ length: ROWS - FIRST }, (_, i) => FIRST + i);
    assert.deepEqual(near, [...sketches.shortlist(all, ROWS, near.length)], order);
    if (order === 'at random') assert.ok(near.length <= 2 * WANTED, `${near.length}`);
  }
});
