/**
 * Asymmetric distances (ADC) of a query to binary codes, 16 rows at a time: the first look at long vectors. A code has one bit a dimension. The
 * query comes as tables: of each four dimensions a number for each of the 16 ways that a row's bits can be there, so that a row's
 * distance is the sum of what its half bytes are in their tables. One instruction looks 16 rows up in a table (byte shuffle), for
 * which the rows lie in blocks: the first byte of 16 rows, then the second of the same, and so on.
 * Source: André, Kermarrec & Le Scouarnec, "Cache locality is not enough: high-performance nearest neighbor search with product
 * quantization fast scan", VLDB 2015. `plainDistances` is the same in JavaScript: the reference of the tests.
 */
import * as wasm from './wasm-module.ts';

/** Rows of a block. */
export const BLOCK_ROWS = 16;
/** Dimensions of a table. */
export const TABLE_DIMS = 4;
/** Entries of a table, a byte each. */
export const TABLE_ENTRIES = 16;
/** Largest entry: 16 of them, the tables of 8 bytes, are added up in a byte; those of 8,192 dimensions in 16 bits. */
export const TABLE_PEAK = 15;
/** Bytes of a code whose tables are added up in bytes, at most. */
const PART_BYTES = 8;

/**
 * For each row of `blocks` blocks: out = the sum of its entries. `rows`, `tables`, `out` are byte addresses: blocks one after the
 * other; the tables of a code's first byte (its low half first), then of the second, and so on; out u16[], 16 for each block.
 */
export type Distances = (rows: number, blocks: number, tables: number, out: number) => void;

/** Bytes of a code of so many dimensions: as few as hold them in parts of the same length. */
export function codeBytes(dim: number): number {
  const { parts, partBytes } = partsOf(Math.ceil(dim / 8));
  return parts * partBytes;
}

/** The kernel for codes of `bytes` bytes, as `codeBytes` gives them. */
export function openDistances(memory: WebAssembly.Memory, bytes: number): Distances {
  const run = wasm.instantiate(assemble(bytes), memory);
  return run === undefined ? plainDistances(memory, bytes) : (run as Distances);
}

/** The same in JavaScript. */
export function plainDistances(memory: WebAssembly.Memory, bytes: number): Distances {
  return (rows, blocks, tables, out) => {
    const memoryBytes = new Uint8Array(memory.buffer);
    const distances = new Uint16Array(memory.buffer, out, blocks * BLOCK_ROWS);
    for (let i = 0; i < distances.length; i++) {
      const row = rows + (i - (i % BLOCK_ROWS)) * bytes + (i % BLOCK_ROWS);
      let sum = 0;
      for (let byte = 0; byte < bytes; byte++) {
        const bits = memoryBytes[row + byte * BLOCK_ROWS];
        const low = tables + 2 * byte * TABLE_ENTRIES;
        sum += memoryBytes[low + (bits & 15)] + memoryBytes[low + TABLE_ENTRIES + (bits >> 4)];
      }
      distances[i] = sum;
    }
  };
}

function partsOf(bytes: number): { parts: number; partBytes: number } {
  const parts = Math.ceil(bytes / PART_BYTES);
  return { parts, partBytes: Math.ceil(bytes / parts) };
}

/** (rows, blocks, tables, out) as in `Distances`: over blocks and their parts; the bytes of a part one after the other. */
function assemble(bytes: number): Uint8Array<ArrayBuffer> {
  const { get, set, tee, constant, add, branchIf, loadVector } = wasm;
  const [rows, blocks, tables, out, table, tablesEnd, bits, sums, lowSums, highSums, mask] = [...Array(11).keys()];
  const { partBytes } = partsOf(bytes);
  const lookUp = (at: number, indices: number[]) => [
    ...[...get(table), ...loadVector(at * TABLE_ENTRIES), ...indices, ...get(mask), ...wasm.andVector, ...wasm.swizzle],
    ...[...get(sums), ...wasm.addBytes, ...set(sums)],
  ];
  const oneByte = (byte: number) => [
    ...[...get(rows), ...loadVector(byte * BLOCK_ROWS), ...set(bits)],
    ...lookUp(2 * byte, get(bits)),
    ...lookUp(2 * byte + 1, [...get(bits), ...constant(4), ...wasm.shiftHalvesRight]),
  ];
  const widen = (wide: number, extend: number[]) => [
    ...[...get(wide), ...get(sums), ...extend, ...wasm.addHalves, ...set(wide)],
  ];
  return wasm.assembleModule(
    4,
    [wasm.I32, wasm.I32, ...new Array<number>(5).fill(wasm.V128)],
    [
      ...[...wasm.bytesVector(15), ...set(mask)],
      ...wasm.block, // of no blocks nothing is written
      ...[...get(blocks), ...wasm.isZero, ...branchIf(0)],
      ...wasm.loop, // over blocks
      ...[...wasm.zeroVector, ...tee(lowSums), ...set(highSums)],
      ...[...get(tables), ...tee(table), ...constant(2 * TABLE_ENTRIES * bytes), ...add, ...set(tablesEnd)],
      ...wasm.loop, // over parts
      ...[...wasm.zeroVector, ...set(sums)],
      ...Array.from({ length: partBytes }, (_, byte) => oneByte(byte)).flat(),
      ...[...widen(lowSums, wasm.extendLowBytes), ...widen(highSums, wasm.extendHighBytes)],
      ...[...get(rows), ...constant(BLOCK_ROWS * partBytes), ...add, ...set(rows)],
      ...[...get(table), ...constant(2 * TABLE_ENTRIES * partBytes), ...add, ...tee(table)],
      ...[...get(tablesEnd), ...wasm.below, ...branchIf(0)],
      ...wasm.end,
      ...[...get(out), ...get(lowSums), ...wasm.storeVector(0), ...get(out), ...get(highSums), ...wasm.storeVector(16)],
      ...[...get(out), ...constant(2 * BLOCK_ROWS), ...add, ...set(out)],
      ...[...get(blocks), ...constant(1), ...wasm.subtract, ...tee(blocks), ...branchIf(0)],
      ...wasm.end,
      ...wasm.end,
    ],
  );
}
