/**
 * What a cross-encoder in the process costs (`reranker.provider` transformers), as JSON: models of MiniLM's size (384 numbers, 6 and 12 layers) with
 * random weights, ms of a batch of pairs by how many there are, and searches with and without it, within deadlines. Passages are English words by
 * frequency, 333 each; queries have five. Needs @huggingface/transformers: READBACK_TRANSFORMERS names a folder with it.
 *
 *   READBACK_TRANSFORMERS=FOLDER npm run bench -- cross-encoder [--layers 6 --pages 300 --queries 30 --seed 42]
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { searchRequest } from '../src/domain/search.ts';
import { readSettings } from '../src/settings/read-settings.ts';
import { createMetrics } from '../src/telemetry/metrics.ts';
import { installedTransformers } from '../test/fixtures/installed-transformers.ts';
import { writeCrossEncoder } from './cross-encoder/bert-model.ts';
import { englishWords } from './english-words.ts';
import { latency, pageOf } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { openWorkload } from './workload.ts';

const { values } = parseArgs({
  options: {
    layers: { type: 'string', multiple: true, default: ['6', '12'] },
    pages: { type: 'string', default: '300' },
    queries: { type: 'string', default: '30' },
    seed: { type: 'string', default: '42' },
  },
});
const seed = Number(values.seed);
const width = 384;
const knownWords = 30_000;
const wordsPerPassage = 333;
const batchSizes = [1, 4, 16];
const runsPerSize = 5;
const warmUps = 2;
/** Candidates that the model gets, and seconds that a search waits for it. */
const settingsOf = [
  { max_candidates: 10, deadline_s: 5 },
  { max_candidates: 30, deadline_s: 5 },
  { max_candidates: 30, deadline_s: 0.5 },
] as const;

const module = installedTransformers();
if (module === null) {
  process.stderr.write('bench: READBACK_TRANSFORMERS names no folder with @huggingface/transformers\n');
  process.exit(2);
}
process.env.READBACK_THREADS = 'compiled';
const built = (path: string) => import(join(import.meta.dirname, '../dist', `${path}.js`));
const { startApp }: typeof import('../src/app.ts') = await built('app');
const { transformerThreads }: typeof import('../src/actors/models/transformer-threads.ts') = await built(
  'actors/models/transformer-threads',
);

const words = englishWords(knownWords);
const workload = openWorkload({ seed, wordsPerChunk: wordsPerPassage, vocabulary: words });
const queries = Array.from({ length: Number(values.queries) }, (_, number) => workload.query(number).words.join(' '));
const home = mkdtempSync(join(tmpdir(), 'readback-bench-'));
const page_ids: string[] = [];

/** ms of a batch, by precision and pairs in it. */
async function batches(model: string) {
  const threads = transformerThreads({ module: String(module), cacheDir: join(home, 'cache') });
  const { signal } = new AbortController();
  const measured = [];
  for (const dtype of ['q8', 'fp32']) {
    const began = performance.now();
    await threads.score({ model, dtype, query: 'word', passages: ['word'] }, signal);
    const loadMs = performance.now() - began;
    const ms: Record<string, object> = {};
    for (const size of batchSizes) {
      const times: number[] = [];
      for (let run = 0; run < runsPerSize; run++) {
        const passages = Array.from({ length: size }, (_, at) => workload.chunkWords(run * size + at).join(' '));
        const from = performance.now();
        const answer = await threads.score({ model, dtype, query: queries[run % queries.length], passages }, signal);
        times.push(performance.now() - from);
        if ('problem' in answer) throw new Error(answer.message);
      }
      const { p50, p95 } = latency(times);
      ms[size] = { p50, p95, a_pair: Math.round((10 * p50) / size) / 10 };
    }
    measured.push({ dtype, load_ms: Math.round(loadMs), file_mb: fileMb(model, dtype), ms_by_pairs: ms });
  }
  await threads.close();
  return measured;
}

const fileMb = (model: string, dtype: string) =>
  Math.round(statSync(join(model, 'onnx', dtype === 'q8' ? 'model_quantized.onnx' : 'model.onnx')).size / 1e6);

/** Searches of the whole system without HTTP; the first call hands the pages in. */
async function searches(env: Record<string, string>) {
  let isLoaded = false;
  const write = (line: string) => {
    isLoaded ||= line.includes('the reranker is loaded');
  };
  const app = await startApp({
    settings: readSettings({
      SERVICE_DATA_DIR: join(home, 'data'),
      SERVICE_AUTH_TOKEN: 'bench-token',
      SERVICE_ENTITY__ENABLED: 'false',
      ...env,
    }),
    log: pino({ level: 'info' }, { write }),
    metrics: createMetrics(),
    transformersModule: String(module),
  });
  const ask = app.askOf('default');
  try {
    if (page_ids.length === 0) {
      const pages = Array.from({ length: Number(values.pages) }, (_, no) =>
        pageOf(no, workload.chunkWords(no), 'bench'),
      );
      for (let at = 0; at < pages.length; at += 100) {
        const results = await ask('page.ingestBatch', { pages: pages.slice(at, at + 100) });
        page_ids.push(...results.flatMap((result) => ('page_id' in result ? [result.page_id] : [])));
      }
    }
    const indexed = async () => {
      const { results } = await ask('page.statusBatch', { page_ids });
      return results.every((page) => page.found && page.status === 'indexed');
    };
    while (!(await indexed()) || (env.SERVICE_RERANKER__KIND === 'api' && !isLoaded)) await delay(200);
    const times: number[] = [];
    let late = 0;
    for (const [number, query] of [...queries.slice(0, warmUps), ...queries].entries()) {
      const began = performance.now();
      const { timing_ms } = await ask('search.query', searchRequest.parse({ query, suggest: 0, log: false }));
      if (number < warmUps) continue;
      times.push(performance.now() - began);
      if (timing_ms.degraded_rerank === 1) late++;
    }
    return { ms: latency(times), searches_with_late_candidates: late };
  } finally {
    await app.close();
  }
}

try {
  const models = [];
  for (const layers of values.layers.map(Number)) {
    const model = join(home, `layers-${layers}`);
    writeCrossEncoder(model, { layers, width, words }, seed);
    models.push({ layers, width, batches: await batches(model), folder: model });
  }
  const local = await searches({ SERVICE_RERANKER__KIND: 'local' });
  const reranked = [];
  for (const { layers, folder } of models) {
    for (const { max_candidates, deadline_s } of settingsOf) {
      const found = await searches({
        SERVICE_RERANKER__KIND: 'api',
        SERVICE_RERANKER__PROVIDER: 'transformers',
        SERVICE_RERANKER__MODEL: folder,
        SERVICE_RERANKER__MAX_CANDIDATES: String(max_candidates),
        SERVICE_SEARCH__RERANK_DEADLINE_S: String(deadline_s),
      });
      reranked.push({ layers, dtype: 'q8', max_candidates, deadline_s, ...found });
    }
  }
  const told = models.map(({ folder: _, ...rest }) => rest);
  console.log(
    JSON.stringify(
      {
        ...{ bench: 'cross-encoder', machine: describeMachine(), seed, pages: Number(values.pages) },
        ...{ words_of_a_passage: wordsPerPassage, models: told, searches: { local_reranker: local, reranked } },
      },
      null,
      1,
    ),
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}
