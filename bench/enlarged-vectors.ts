/**
 * Vectors of real passages enlarged to any number by interpolating between near neighbours, as random vectors prove nothing; queries are
 * passages kept out, moved a little towards another. The file has 32-bit floats, one vector after the other.
 */
import { readFileSync } from 'node:fs';
import { seededRandom } from '../src/compute/seeded-random.ts';
import { nearest } from '../src/engine/vectors/row-graph.ts';
import { VectorRows } from '../src/engine/vectors/vector-rows.ts';

const nearNeighbours = 8;

export interface EnlargedVectors {
  /** Real ones without the queries. */
  real: number;
  /** Unit vector of a chunk: the real ones first. The same for the same number. */
  chunkVector(chunk: number): Float32Array;
  queryVector(query: number): Float32Array;
}

/** `queries`: the passages kept out. */
export function openEnlargedVectors(
  file: string,
  options: { dim: number; queries: number; seed: number },
): EnlargedVectors {
  const { dim, queries, seed } = options;
  const bytes = readFileSync(file);
  const all = new Float32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4 / dim) * dim);
  const real = all.length / dim - queries;
  const rowOf = (at: number) => all.subarray(at * dim, (at + 1) * dim);
  const rows = VectorRows.create(dim, real);
  for (let at = 0; at < real; at++) rows.append(at, all, at * dim);
  const neighbours = Array.from({ length: real }, (_, at) => {
    const { labels } = nearest({ rows, graph: null }, rowOf(at), { k: nearNeighbours + 1, minScore: -1 });
    return labels.filter((label) => label !== at);
  });
  return {
    real,
    chunkVector(chunk) {
      if (chunk < real) return rowOf(chunk);
      const random = seededRandom(seed + chunk);
      const own = Math.floor(random() * real);
      const near = neighbours[own];
      return between(rowOf(own), rowOf(near[Math.floor(random() * near.length)]), 0.5 + random() / 2);
    },
    queryVector(query) {
      const other = Math.floor(seededRandom(seed - 1 - query)() * real);
      return between(rowOf(real + (query % queries)), rowOf(other), 0.8);
    },
  };
}

/** `share` of one, the rest of the other, of length one. */
function between(a: Float32Array, b: Float32Array, share: number): Float32Array {
  const mixed = a.map((value, i) => share * value + (1 - share) * b[i]);
  const length = Math.hypot(...mixed);
  return mixed.map((value) => value / length);
}
