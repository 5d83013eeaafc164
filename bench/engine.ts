/**
 * The engine bench: both sides of retrieval and their fusion in process, as the service uses them, against targets, and, if
 * asked, other engines on the same data in the same run. Every engine runs in processes of its own, so that its memory is
 * its own; engines take turns, so that a change of the machine's load meets all of them. Prints JSON; progress goes to stderr.
 *
 *   npm run bench -- engine                              100,000 chunks, 100 dimensions
 *   npm run bench -- engine --chunks 10000            smaller
 *   npm run bench -- engine --peers                   installs bench/peers and measures them too
 *   npm run bench -- engine --vectors FILE --peers --only lancedb
 *   npm run bench -- engine --growth 10000,100000     several sizes, plotted in docs/
 *   npm run bench -- engine --growth 10000,1000000 --runs 3,1     so many runs of each size
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtInModel } from '../src/domain/model.ts';
import { compileBench, installPeers, runProcess } from './engine/child-process.ts';
import type { BenchData } from './engine/data-folder.ts';
import { plotGrowth } from './engine/growth-plots.ts';
import { prepareData } from './engine/prepare-data.ts';
import { medianReport } from './engine/statistics.ts';
import { compareWithPeers, compareWithTargets, type EngineReport } from './engine/verdict.ts';
import { describeMachine } from './machine.ts';

const SEED = 42;
const PEERS = ['lancedb', 'sqlite', 'minisearch'];

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '100000' },
    dim: { type: 'string', default: '100' },
    /** By size, in the order of --growth; the last is that of all further ones. */
    runs: { type: 'string', default: '5' },
    /** Seconds per size that readback, and each peer, may take: a run that would go over is left out, the first never. */
    budget: { type: 'string', default: '360' },
    'peer-budget': { type: 'string', default: '130' },
    peers: { type: 'boolean', default: false },
    /** Of the peers, only these. */
    only: { type: 'string', default: PEERS.join(',') },
    growth: { type: 'string' },
    /** Vectors of real passages of the built-in model (enlarged-vectors.ts). */
    vectors: { type: 'string' },
  },
});
const runsBySize = values.runs.split(',').map(Number);
const budgetMs = (name: string) => Number(name === 'readback' ? values.budget : values['peer-budget']) * 1000;
const dim = values.vectors === undefined ? Number(values.dim) : builtInModel.dim;

await compileBench();
const peerNode = values.peers ? await installPeers() : undefined;
const engines = [
  { name: 'readback', module: 'bench/engine/readback-engine.js', node: process.execPath },
  ...(peerNode === undefined
    ? []
    : values.only.split(',').map((name) => ({ name, module: `bench/peers/${name}.js`, node: peerNode }))),
];

const sizes = values.growth === undefined ? [Number(values.chunks)] : values.growth.split(',').map(Number);
const measured = [];
for (const [place, chunks] of sizes.entries()) {
  measured.push(await measureSize(chunks, runsBySize[place] ?? runsBySize[runsBySize.length - 1]));
}
if (values.growth !== undefined) await plotGrowth(measured);
console.log(JSON.stringify(measured.length === 1 ? measured[0] : measured, null, 2));

async function measureSize(chunks: number, runs: number) {
  const began = performance.now();
  const { load_average: load_before } = describeMachine();
  const dir = await mkdtemp(join(tmpdir(), 'readback-bench-'));
  try {
    const data: BenchData = { dir, chunks, dim, seed: SEED, vectors: values.vectors ?? null };
    progress(`${chunks} chunks of ${dim} dimensions: making the data`);
    await prepareData(data);
    const reports = new Map<string, EngineReport[]>(engines.map(({ name }) => [name, []]));
    const spentMs = new Map<string, number>();
    for (let run = 0; run < runs; run++) {
      for (const { name, module, node } of engines) {
        const spent = spentMs.get(name) ?? 0;
        if (run > 0 && spent + spent / run > budgetMs(name)) continue;
        progress(`${name}, run ${run + 1}`);
        const runBegan = performance.now();
        const indexDir = await mkdtemp(join(dir, `${name}-`));
        const built = await runProcess(node, module, dir, indexDir, 'build');
        const restarted = await runProcess(node, module, dir, indexDir, 'restart');
        await rm(indexDir, { recursive: true });
        reports.get(name)?.push({ ...built, restart: restarted } as EngineReport);
        spentMs.set(name, spent + performance.now() - runBegan);
      }
    }
    const medians = Object.fromEntries(
      [...reports].map(([name, each]) => [name, { runs: each.length, ...(medianReport(each) as EngineReport) }]),
    );
    return {
      bench: 'engine',
      seed: SEED,
      chunks,
      dim,
      /** With making the data; `runs` of each engine says how many there were in it. */
      took_s: Math.round((performance.now() - began) / 1000),
      machine: { ...describeMachine(), load_before },
      targets: chunks === 100_000 && dim === 100 ? compareWithTargets(medians.readback) : undefined,
      peers_over_readback: compareWithPeers(medians),
      engines: medians,
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function progress(text: string): void {
  console.error(`bench: ${text}`);
}
