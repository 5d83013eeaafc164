// Runs a benchmark: `npm run bench -- NAME [options]`; without a name it lists them. Each prints JSON; its options are described in its header.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** `built`: it measures the service in `dist`. `node`: options of Node. */
const benches = {
  'main-job': { file: 'bench/main-job.ts', built: true },
  engine: { file: 'bench/engine.ts', built: true, node: ['--expose-gc'] },
  growth: { file: 'bench/growth.ts', built: true },
  units: { file: 'bench/search-units.ts', built: true },
  search: { file: 'bench/search-latency.ts', built: true },
  worst: { file: 'bench/worst-queries.ts', built: true },
  long: { file: 'bench/long-pages.ts', built: true },
  forget: { file: 'bench/forget.ts', built: true },
  fill: { file: 'bench/fill.ts', built: true },
  upgrade: { file: 'bench/upgrade.ts', built: true },
  cluster: { file: 'bench/cluster.ts', built: true },
  failover: { file: 'bench/cluster-failover.ts', built: true },
  libraries: { file: 'bench/libraries.ts', built: true },
  topics: { file: 'bench/topics.ts', built: true },
  quotes: { file: 'bench/quotes.ts', built: true },
  articles: { file: 'bench/articles.ts' },
  extraction: { file: 'bench/extraction.ts' },
  entities: { file: 'bench/entities.ts' },
  compounds: { file: 'bench/compounds.ts' },
  misspelt: { file: 'bench/misspelt.ts' },
  vectors: { file: 'bench/vector-index.ts' },
  relevance: { file: 'bench/relevance.ts' },
  ranking: { file: 'bench/ranking.ts' },
  ask: { file: 'bench/ask.ts' },
  'language-detection': { file: 'bench/language-detection.ts' },
  transitions: {
    file: 'bench/transitions.ts',
    node: ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256'],
  },
  console: { file: 'bench/browser/console-typing.ts', built: true },
  session: { file: 'bench/browser/session.ts', built: true },
  'console-memory': { file: 'bench/browser/console-memory.ts', built: true },
  extension: { file: 'bench/browser/extension-load.ts', built: true },
  'extension-memory': { file: 'bench/browser/extension-memory.ts', built: true },
};

/** The first sentence of a file's header. */
function purposeOf(file) {
  const [header] = readFileSync(file, 'utf8').split('*/');
  const text = header.replace(/^\/\*\*|^ \*/gm, '').replace(/\s+/g, ' ');
  return /^.*?[.:](?= |$)/.exec(text.trim())?.[0].slice(0, -1) ?? '';
}

const [name, ...options] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  if (name !== undefined) console.error(`There is no benchmark ${name}.`);
  console.log('npm run bench -- NAME [options]\n');
  for (const [each, { file }] of Object.entries(benches)) console.log(`${each.padEnd(20)}${purposeOf(file)}`);
  process.exit(name === undefined ? 0 : 1);
}
const run = (args) => spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
if (bench.built && run(['scripts/build-if-stale.mjs']) !== 0) process.exit(1);
process.exit(run([...(bench.node ?? []), '--import', './scripts/tsx-in-threads.mjs', bench.file, ...options]));
