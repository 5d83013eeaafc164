/**
 * Backfills over HTTP, alone and beside searches: chunks embedded a second, by what the engine does by itself in the same run, and what
 * searches take meanwhile. Then the models are compared on the same queries (RBO, Kendall's tau). Prints JSON.
 *
 *   npm run bench:backfill                                 100,000 chunks to 100 and then to 1,024 dimensions
 *   npm run bench:backfill -- --chunks 3000 --dims 100     smaller, and one model only
 *
 * The model that searches go by meanwhile is the default one, of 1,024 dimensions. Pages are not read for entities here, so that nothing
 * else wants the processors.
 */
import { parseArgs } from 'node:util';
import { type EngineRate, measureEngine } from './backfill/engine-rate.ts';
import { englishWords, loadBenchVectors } from './english-words.ts';
import { allIndexed, latency } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const batchSize = 100;
const chunksPerPage = 3;
/** Searches before the backfills, to compare with. */
const searchesAlone = 300;
/** Between two searches, and between two looks at a backfill, ms. */
const searchPauseMs = 5;
const lookPauseMs = 100;
const activeId = 'local-wink-1024';

const { values } = parseArgs({
  options: { chunks: { type: 'string', default: '100000' }, dims: { type: 'string', default: '100,1024' } },
});
const dims = values.dims.split(',').map(Number);
const words = openWorkload({ seed, wordsPerChunk: 1000, vocabulary: englishWords(loadBenchVectors(), 60_000) });
const queries = Array.from({ length: 300 }, (_, number) => words.query(number).words.join(' '));

const service = await runService({ SERVICE_ENTITY__ENABLED: 'false' });
const call = async <Body>(method: string, path: string, body?: unknown) => {
  const answer = await service.call(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}`);
  return { ...answer, body: answer.body as Body };
};
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const rounded = (number: number, digits: number) => Math.round(number * 10 ** digits) / 10 ** digits;
const mean = (numbers: number[]) => rounded(numbers.reduce((a, b) => a + b, 0) / numbers.length, 3);

/** Push the pages; gives chunks a second until all are found. */
async function insert(count: number): Promise<number> {
  const began = performance.now();
  for (let at = 0; at < count; at += batchSize) {
    const pages = Array.from({ length: Math.min(batchSize, count - at) }, (_, i) => ({
      url: `https://bench.example/${at + i}`,
      title: `Page ${at + i}`,
      body_extracted: `${words.chunkWords(at + i).join(' ')}.`,
    }));
    await call('POST', '/v1/pages/batch', { pages });
  }
  while (!(await allIndexed(service))) await pause(lookPauseMs);
  return (count * chunksPerPage * 1000) / (performance.now() - began);
}

const search = async (turn: number) =>
  (await call('POST', '/v1/search', { query: queries[turn % queries.length], rerank: false })).ms;

async function searchAlone() {
  const times: number[] = [];
  for (let turn = 0; turn < searchesAlone; turn++) {
    times.push(await search(turn));
    await pause(searchPauseMs);
  }
  return latency(times);
}

/** Fill a model of so many dimensions; `beside` runs until it is filled. */
async function fill(model_id: string, dim: number, beside: (isOver: () => boolean) => Promise<void>) {
  await call('POST', '/v1/models', {
    provider: 'local',
    model_name: 'wink',
    dim,
    max_input_tokens: 32_000,
    id: model_id,
  });
  const { body: estimate } = await call<{ est_duration_s: number }>('POST', `/v1/models/${model_id}/backfill`, {});
  const cpuBefore = service.cpuMs();
  const began = performance.now();
  await call('POST', `/v1/models/${model_id}/backfill`, { confirm: true });
  let isOver = false;
  const besides = beside(() => isOver);
  let chunks = 0;
  try {
    for (;;) {
      const { body } = await call<{ status: string; embedded_chunks: number }>(
        'GET',
        `/v1/models/${model_id}/backfill`,
      );
      chunks = body.embedded_chunks;
      if (body.status === 'complete') break;
      if (body.status === 'failed') throw new Error('the backfill failed');
      await pause(lookPauseMs);
    }
  } finally {
    isOver = true;
  }
  const ms = performance.now() - began;
  const cpuMs = service.cpuMs() - cpuBefore;
  await besides;
  return {
    ...{ chunks, seconds: rounded(ms / 1000, 1), estimated_s: rounded(estimate.est_duration_s, 1) },
    chunks_per_s: Math.round((chunks / ms) * 1000),
    cpu_ms_per_chunk: rounded(cpuMs / chunks, 3),
    resident_mb: service.residentMb(),
  };
}

/** Fill a model twice: with nothing beside it, and while one client searches. */
async function fillTwice(dim: number) {
  const alone = await fill(`alone-${dim}`, dim, async () => {});
  await call('DELETE', `/v1/models/alone-${dim}`);
  const times: number[] = [];
  const besideSearches = await fill(`filled-${dim}`, dim, async (isOver) => {
    for (let turn = 0; !isOver(); turn++) {
      times.push(await search(turn));
      await pause(searchPauseMs);
    }
  });
  return { dim, alone, beside_searches: { ...besideSearches, search_meanwhile_ms: latency(times) } };
}

async function compare(model_id: string) {
  const rbo: number[] = [];
  const tau: number[] = [];
  for (const query of queries.slice(0, 100)) {
    const { body } = await call<{ agreement: { rbo: number; kendall_tau: number | null }[] }>('POST', '/v1/compare', {
      ...{ query, models: [activeId, model_id] },
    });
    rbo.push(body.agreement[0].rbo);
    if (body.agreement[0].kendall_tau !== null) tau.push(body.agreement[0].kendall_tau);
  }
  return { with: activeId, queries: rbo.length, rbo: mean(rbo), kendall_tau: mean(tau) };
}

try {
  const began = performance.now();
  const insertedPerS = await insert(Math.ceil(Number(values.chunks) / chunksPerPage));
  await service.restart();
  const alone = await searchAlone();
  const backfills = [];
  for (const dim of dims) backfills.push(await fillTwice(dim));
  const agreement = await compare(`filled-${dims[0]}`);
  const engine = new Map<number, EngineRate>();
  await service.restart(async (dataDir) => {
    for (const dim of dims) engine.set(dim, await measureEngine(dataDir, dim));
  });
  const report = {
    ...{ bench: 'backfill', seed },
    machine: describeMachine(),
    inserted_chunks_per_s: Math.round(insertedPerS),
    search_alone_ms: alone,
    backfills: backfills.map((backfill) => {
      const rate = engine.get(backfill.dim);
      const share = ({ chunks_per_s }: { chunks_per_s: number }) =>
        rate === undefined ? null : rounded(chunks_per_s / rate.embed_and_insert_per_s, 2);
      const share_of_engine = { alone: share(backfill.alone), beside_searches: share(backfill.beside_searches) };
      return { ...backfill, engine: rate, share_of_engine };
    }),
    ...{ agreement, total_s: Math.round((performance.now() - began) / 1000) },
  };
  console.log(JSON.stringify(report, null, 2));
} finally {
  await service.stop();
}
