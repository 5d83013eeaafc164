/**
 * `WordSimilarity` by the SIMD kernel, for one thread. The levels of the words it has met are written into a WebAssembly memory,
 * each with its scale and norm, and stay there: at most the whole vocabulary (38 MB), mostly the part that the corpus uses.
 *
 *   queries     i16 × stride × MAX_QUERIES
 *   addresses   u32 × BLOCK
 *   sums        i32 × BLOCK × MAX_QUERIES
 *   rows        stride bytes each, by slot
 */
import { readLevels, type WordVectors } from '../../compute/embedding/word-vectors.ts';
import { longer } from '../../compute/structures/longer.ts';
import { LANES } from '../vectors/dot-kernel.ts';
import { MAX_QUERIES, type ManyDots, openManyDots } from '../vectors/many-dots-kernel.ts';
import {
  type CentredRow,
  centreRow,
  type FoundPair,
  inverseNorm,
  type WordRow,
  type WordSimilarity,
} from './word-similarity.ts';

const BLOCK = 8192;
const WASM_PAGE_BYTES = 65_536;
/** Rows of the first memory, which doubles. */
const FIRST_ROWS = 4096;

export function createWordCosines(vectors: WordVectors): WordSimilarity {
  const { dim, scales, mean, count } = vectors;
  const levels = new Int8Array(dim);
  const stride = Math.ceil(dim / LANES) * LANES;
  const addressesAt = 2 * stride * MAX_QUERIES;
  const sumsAt = addressesAt + 4 * BLOCK;
  const rowsAt = sumsAt + 4 * BLOCK * MAX_QUERIES;
  const pagesFor = (slots: number) => Math.ceil((rowsAt + slots * stride) / WASM_PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pagesFor(FIRST_ROWS) });
  /** By number of queries. */
  const kernels = new Map<number, ManyDots>();
  /** By row its slot + 1, 0: not here yet. */
  const slots = new Uint32Array(count);
  let used = 0;
  let capacity = FIRST_ROWS;
  /** By slot. */
  let slotScales = new Float32Array(capacity);
  let slotNorms = new Float32Array(capacity);
  const blockSlots = new Uint32Array(BLOCK);
  const blockPlaces = new Uint32Array(BLOCK);

  function slotOf(row: number): number {
    if (slots[row] === 0) take(row);
    return slots[row] - 1;
  }

  /** Its levels hold until the next call. */
  function rowOf(row: number): WordRow {
    readLevels(vectors, row, levels);
    return { levels, scale: scales[row] };
  }

  function take(row: number): void {
    if (used === capacity) {
      capacity = Math.min(count, 2 * capacity);
      memory.grow(pagesFor(capacity) - memory.buffer.byteLength / WASM_PAGE_BYTES);
      slotScales = longer(slotScales, capacity);
      slotNorms = longer(slotNorms, capacity);
    }
    const at = rowsAt + used * stride;
    const word = rowOf(row);
    new Int8Array(memory.buffer, at, dim).set(word.levels);
    slotScales[used] = word.scale;
    slotNorms[used] = inverseNorm(word, mean);
    slots[row] = ++used;
  }

  /** Fill the block with others from `from` on; gives where to go on, and how many it took. */
  function fillBlock(others: Int32Array, from: number): { next: number; filled: number } {
    let filled = 0;
    let next = from;
    for (; next < others.length && filled < BLOCK; next++) {
      if (others[next] < 0) continue;
      blockSlots[filled] = slotOf(others[next]);
      blockPlaces[filled++] = next;
    }
    const addresses = new Uint32Array(memory.buffer, addressesAt, filled);
    for (let i = 0; i < filled; i++) addresses[i] = rowsAt + blockSlots[i] * stride;
    return { next, filled };
  }

  function kernelFor(queries: number): ManyDots {
    const known = kernels.get(queries);
    if (known !== undefined) return known;
    const opened = openManyDots(memory, stride, queries);
    kernels.set(queries, opened);
    return opened;
  }

  /** Tell of the pairs of the block's words with at most MAX_QUERIES rows. */
  function comparePart(part: readonly ComparedRow[], filled: number, least: number, found: FoundPair): void {
    const queries = part.length;
    part.forEach(({ components }, q) => {
      new Int16Array(memory.buffer, 2 * stride * q, stride).set(components);
    });
    kernelFor(queries)(addressesAt, filled, 0, sumsAt);
    const sums = new Int32Array(memory.buffer, sumsAt, filled * queries);
    for (let q = 0; q < queries; q++) {
      const { place, quantum, withMean, norm } = part[q];
      for (let i = 0, at = q; i < filled; i++, at += queries) {
        const slot = blockSlots[i];
        const cosine = (quantum * slotScales[slot] * sums[at] - withMean) * norm * slotNorms[slot];
        if (cosine >= least) found(place, blockPlaces[i], cosine);
      }
    }
  }

  return {
    pairs(of, others, least, found) {
      const compared: ComparedRow[] = [];
      of.forEach((row, place) => {
        if (row < 0) return;
        const components = new Int16Array(stride);
        const word = rowOf(row);
        const centred = centreRow(word, mean, components);
        compared.push({ ...centred, place, components, norm: inverseNorm(word, mean) });
      });
      if (compared.length === 0) return;
      for (let from = 0; from < others.length; ) {
        const { next, filled } = fillBlock(others, from);
        from = next;
        for (let part = 0; part < compared.length; part += MAX_QUERIES) {
          comparePart(compared.slice(part, part + MAX_QUERIES), filled, least, found);
        }
      }
    },
  };
}

/** A row to compare others with: its place in the list, its whole components, and 1 / its length. */
interface ComparedRow extends CentredRow {
  place: number;
  components: Int16Array;
  norm: number;
}
