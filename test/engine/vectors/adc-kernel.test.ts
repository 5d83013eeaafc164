import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { randomStream } from '../../../bench/workload.ts';
import {
  BLOCK_ROWS,
  codeBytes,
  openDistances,
  plainDistances,
  TABLE_DIMS,
  TABLE_ENTRIES,
  TABLE_PEAK,
} from '../../../src/engine/vectors/adc-kernel.ts';
import { BinaryCodes } from '../../../src/engine/vectors/binary-codes.ts';

const TABLES = 0;
const OUT = 32_768;
const ROWS = 65_536;

/** Distances of blocks of codes by one of the kernels. */
function distances(open: typeof openDistances, blocks: number, codes: Uint8Array, tables: Uint8Array): number[] {
  const memory = new WebAssembly.Memory({ initial: 2 });
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(tables, TABLES);
  bytes.set(codes, ROWS);
  const out = new Uint16Array(memory.buffer, OUT, blocks * BLOCK_ROWS + 1).fill(7777);
  open(memory, tables.length / 2 / TABLE_ENTRIES)(ROWS, blocks, TABLES, OUT);
  assert.equal(out[blocks * BLOCK_ROWS], 7777, 'wrote past the end');
  return [...out.subarray(0, blocks * BLOCK_ROWS)];
}

test('the kernel adds up, for each row of its blocks, what the tables have for the half bytes of its code', () => {
  const cases = fc.record({ dim: fc.integer({ min: 1, max: 1500 }), blocks: fc.nat(3) }).chain(({ dim, blocks }) => {
    const bytes = codeBytes(dim);
    const list = (length: number, max: number) => fc.uint8Array({ minLength: length, maxLength: length, max });
    return fc.record({
      bytes: fc.constant(bytes),
      blocks: fc.constant(blocks),
      codes: list(blocks * BLOCK_ROWS * bytes, 255),
      tables: list(2 * bytes * TABLE_ENTRIES, TABLE_PEAK),
    });
  });
  fc.assert(
    fc.property(cases, ({ bytes, blocks, codes, tables }) => {
      const expected = Array.from({ length: blocks * BLOCK_ROWS }, (_, row) => {
        const block = Math.floor(row / BLOCK_ROWS);
        let sum = 0;
        for (let byte = 0; byte < bytes; byte++) {
          const bits = codes[(block * bytes + byte) * BLOCK_ROWS + (row % BLOCK_ROWS)];
          sum += tables[2 * byte * TABLE_ENTRIES + (bits & 15)] + tables[(2 * byte + 1) * TABLE_ENTRIES + (bits >> 4)];
        }
        return sum;
      });
      assert.deepEqual(distances(openDistances, blocks, codes, tables), expected);
      assert.deepEqual(distances(plainDistances, blocks, codes, tables), expected);
    }),
  );
});

test('the largest distance of the longest code does not overflow', () => {
  const bytes = codeBytes(8192);
  const tables = new Uint8Array(2 * bytes * TABLE_ENTRIES).fill(TABLE_PEAK);
  for (const open of [openDistances, plainDistances]) {
    const far = distances(open, 1, new Uint8Array(BLOCK_ROWS * bytes).fill(0x5a), tables);
    assert.deepEqual(far, new Array(BLOCK_ROWS).fill((8192 / TABLE_DIMS) * TABLE_PEAK));
  }
});

test('the SIMD kernel is the one that runs here, and it is faster than the plain loop', () => {
  const memory = new WebAssembly.Memory({ initial: 20 });
  const bytes = codeBytes(1024);
  const fastest = (open: typeof openDistances): number => {
    const measure = open(memory, bytes);
    const times = Array.from({ length: 10 }, () => {
      const start = performance.now();
      measure(ROWS, 256, TABLES, OUT);
      return performance.now() - start;
    });
    return Math.min(...times);
  };
  assert.ok(fastest(openDistances) < fastest(plainDistances));
});

test('the short list goes by the sum of what the query has where the signs differ, rounded four dimensions at a time', () => {
  const components = (dim: number) =>
    fc.array(
      fc.integer({ min: -127, max: 127 }).filter((value) => value !== 0),
      { minLength: dim, maxLength: dim },
    );
  const cases = fc
    .integer({ min: 1, max: 600 })
    .chain((dim) =>
      fc.record({ rows: fc.array(components(dim), { minLength: 1, maxLength: 40 }), query: components(dim) }),
    );
  fc.assert(
    fc.property(cases, fc.integer({ min: 1, max: 12 }), ({ rows, query }, wanted) => {
      const codes = new BinaryCodes(query.length);
      rows.forEach((row, i) => {
        codes.set(i, Int8Array.from(row));
      });
      codes.setQuery(query);
      const fours = Array.from({ length: Math.ceil(query.length / 4) }, (_, four) =>
        query.slice(4 * four, 4 * four + 4),
      );
      const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
      const scale = TABLE_PEAK / Math.max(...fours.map((four) => sum(four.map(Math.abs))));
      const distanceOf = (row: number[]) =>
        sum(
          fours.map((four, at) => {
            const differ = four.filter((value, i) => value > 0 !== row[4 * at + i] > 0);
            return Math.floor(sum(differ.map(Math.abs)) * scale + 0.5);
          }),
        );
      const far = rows.map(distanceOf);
      const bar = [...far].sort((a, b) => a - b)[Math.min(wanted, rows.length) - 1];
      const all = Uint32Array.from(rows.keys());
      const expected = all.filter((row) => far[row] <= bar).sort((a, b) => far[a] - far[b] || a - b);
      assert.deepEqual(codes.shortlist(all, rows.length, wanted), expected);
      assert.deepEqual(codes.shortlistRange(0, rows.length, wanted), expected);
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
    const codes = new BinaryCodes(DIM);
    for (let row = 0; row < ROWS; row++) {
      codes.set(
        row,
        Int8Array.from({ length: DIM }, (_, i) => component(shareOf(row))(0, i)),
      );
    }
    codes.setQuery(query);
    const near = [...codes.shortlistRange(FIRST, ROWS, WANTED)];
    assert.ok(near.length >= WANTED / 2, `${order}: ${near.length}`);
    // The exact list of as many: at a bar of the same distance both have the same rows.
    const all = Uint32Array.from({ length: ROWS - FIRST }, (_, i) => FIRST + i);
    assert.deepEqual(near, [...codes.shortlist(all, ROWS, near.length)], order);
    if (order === 'at random') assert.ok(near.length <= 2 * WANTED, `${near.length}`);
  }
});
