/**
 * Exact scan and neighbour graph over vectors of the built-in model: time of a search, recall, time to build and load, memory. Vectors of
 * real passages (32-bit floats, one after the other) are enlarged by interpolating between near neighbours, as random vectors prove
 * nothing; queries are passages kept out, moved a little towards another. Prints JSON.
 *
 *   npm run bench -- vectors --vectors FILE [--sizes 20000,100000]
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../src/compute/seeded-random.ts';
import { builtInModel } from '../src/domain/model.ts';
import { growGraph } from '../src/engine/vectors/graph-file.ts';
import { nearest, RowGraph, type SearchedRows } from '../src/engine/vectors/row-graph.ts';
import { VectorRows } from '../src/engine/vectors/vector-rows.ts';
import { describeMachine } from './machine.ts';

const seed = 42;
const queriesCount = 200;
const { dim } = builtInModel;
const { values } = parseArgs({
  options: { vectors: { type: 'string' }, sizes: { type: 'string', default: '20000,100000,300000' } },
});
if (values.vectors === undefined) throw new Error('--vectors FILE: vectors of real passages, 32-bit floats');
const bytes = readFileSync(values.vectors);
const real = new Float32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4 / dim) * dim);
const realCount = real.length / dim - queriesCount;
const random = seededRandom(seed);
const rowOf = (at: number) => real.subarray(at * dim, (at + 1) * dim);

/** `share` of one, the rest of the other, of length one. */
function between(a: Float32Array, b: Float32Array, share: number): Float32Array {
  const mixed = a.map((value, i) => share * value + (1 - share) * b[i]);
  const length = Math.hypot(...mixed);
  return mixed.map((value) => value / length);
}

const queries = Array.from({ length: queriesCount }, (_, i) =>
  between(rowOf(realCount + i), rowOf(Math.floor(random() * realCount)), 0.8),
);
const realRows = VectorRows.create(dim, realCount);
for (let at = 0; at < realCount; at++) realRows.append(at, real, at * dim);
const neighbours = Array.from({ length: realCount }, (_, at) =>
  nearest({ rows: realRows, graph: null }, rowOf(at), { k: 9, minScore: -1 }).labels.slice(1),
);

function median(times: number[]): number {
  return Math.round([...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] * 1000) / 1000;
}

const results = [];
const dir = mkdtempSync(join(tmpdir(), 'readback-bench-'));
try {
  for (const size of values.sizes.split(',').map(Number)) {
    const rows = VectorRows.create(dim, size);
    for (let label = 0; label < size; label++) {
      const own = Math.floor(random() * realCount);
      const other = neighbours[own][Math.floor(random() * neighbours[own].length)];
      rows.append(label, label < realCount ? rowOf(label) : between(rowOf(own), rowOf(other), 0.5 + random() / 2), 0);
    }
    const timed = (searched: SearchedRows, k: number) =>
      queries.map((query) => {
        const began = performance.now();
        const { labels } = nearest(searched, query, { k, minScore: -1 });
        return { ms: performance.now() - began, labels };
      });
    const exact = { rows, graph: null };
    timed(exact, 100);
    const scan = { 10: timed(exact, 10), 100: timed(exact, 100) };
    const path = join(dir, `${size}.graph`);
    const began = performance.now();
    const grown = await growGraph({ shared: rows.shared, from: null, to: path, flags: new SharedArrayBuffer(8) });
    if (grown === null) throw new Error('hnswlib-node is not installed');
    const built = performance.now();
    const loading = performance.now();
    const graph = await RowGraph.read(path, dim);
    const loaded = performance.now();
    const searched = { rows, graph };
    timed(searched, 100);
    const byGraph = { 10: timed(searched, 10), 100: timed(searched, 100) };
    const recall = (k: 10 | 100) =>
      byGraph[k].reduce((sum, { labels }, at) => {
        const truth = new Set(scan[k][at].labels);
        return sum + labels.filter((label) => truth.has(label)).length / truth.size / queries.length;
      }, 0);
    const ms = (of: typeof scan) => ({
      k10: median(of[10].map((each) => each.ms)),
      k100: median(of[100].map((each) => each.ms)),
    });
    results.push({
      vectors: size,
      exact: { ms: ms(scan), mb: Math.round(rows.bytes / 2 ** 20) },
      graph: {
        ms: ms(byGraph),
        recall: { k10: Math.round(recall(10) * 1000) / 1000, k100: Math.round(recall(100) * 1000) / 1000 },
        build_s: Math.round((built - began) / 100) / 10,
        load_s: Math.round((loaded - loading) / 10) / 100,
        /** Of the file, and as much memory. */
        mb: Math.round(statSync(path).size / 2 ** 20),
        left_out: grown.left,
      },
    });
    rmSync(path);
  }
  console.log(
    JSON.stringify({ bench: 'vector-index', seed, machine: describeMachine(), real: realCount, results }, null, 2),
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
