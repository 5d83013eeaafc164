/**
 * Exact scan and neighbour graph over enlarged vectors of the built-in model (enlarged-vectors.ts): time of a search, recall, time to build
 * and load, memory. Prints JSON.
 *
 *   npm run bench -- vectors --vectors FILE [--sizes 20000,100000]
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtInModel } from '../src/domain/model.ts';
import { growGraph } from '../src/engine/vectors/graph-file.ts';
import { nearest, RowGraph, type SearchedRows } from '../src/engine/vectors/row-graph.ts';
import { VectorRows } from '../src/engine/vectors/vector-rows.ts';
import { openEnlargedVectors } from './enlarged-vectors.ts';
import { describeMachine } from './machine.ts';

const seed = 42;
const queriesCount = 200;
const { dim } = builtInModel;
const { values } = parseArgs({
  options: { vectors: { type: 'string' }, sizes: { type: 'string', default: '20000,100000,300000' } },
});
if (values.vectors === undefined) throw new Error('--vectors FILE: vectors of real passages, 32-bit floats');
const vectors = openEnlargedVectors(values.vectors, { dim, queries: queriesCount, seed });
const queries = Array.from({ length: queriesCount }, (_, query) => vectors.queryVector(query));

function median(times: number[]): number {
  return Math.round([...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] * 1000) / 1000;
}

const results = [];
const dir = mkdtempSync(join(tmpdir(), 'readback-bench-'));
try {
  for (const size of values.sizes.split(',').map(Number)) {
    const rows = VectorRows.create(dim, size);
    for (let label = 0; label < size; label++) rows.append(label, vectors.chunkVector(label), 0);
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
    JSON.stringify({ bench: 'vector-index', seed, machine: describeMachine(), real: vectors.real, results }, null, 2),
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
