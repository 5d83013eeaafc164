/**
 * A backfill over HTTP beside searches: chunks embedded a second, and what searches take meanwhile. Then both models are compared on
 * the same queries (RBO, Kendall's tau). Prints JSON.
 *
 *   npm run bench:backfill                                   100,000 chunks to local-wink-100
 *   npm run bench:backfill -- --chunks 3000 --dim 1024       smaller; active is the other one, local-wink-100
 */
import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import { runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const batchSize = 100;
const chunksPerPage = 3;
/** Searches before the backfill, to compare with. */
const searchesAlone = 200;

const { values } = parseArgs({
  options: { chunks: { type: 'string', default: '100000' }, dim: { type: 'string', default: '100' } },
});
const dim = Number(values.dim);
const activeDim = dim === 1024 ? 100 : 1024;
const words = openWorkload({ seed, wordsPerChunk: 1000 });
const queries = Array.from({ length: 300 }, (_, number) => words.query(number).words.join(' '));

const service = await runService({ SERVICE_EMBEDDER__DIM: String(activeDim) });
const call = async <Body>(method: string, path: string, body?: unknown) => {
  const answer = await service.call(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}`);
  return { ...answer, body: answer.body as Body };
};
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const busy = async () => {
  for (const status of ['pending', 'running', 'failed']) {
    const { body } = await call<{ jobs: unknown[] }>('GET', `/v1/jobs?limit=1&status=${status}`);
    if (body.jobs.length > 0) return true;
  }
  return false;
};
const quantile = (times: number[], share: number) => {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] * 100) / 100;
};
const mean = (numbers: number[]) => Math.round((numbers.reduce((a, b) => a + b, 0) / numbers.length) * 1000) / 1000;

try {
  const count = Math.ceil(Number(values.chunks) / chunksPerPage);
  const inserting = performance.now();
  for (let at = 0; at < count; at += batchSize) {
    const pages = Array.from({ length: Math.min(batchSize, count - at) }, (_, i) => ({
      url: `https://bench.example/${at + i}`,
      title: `Page ${at + i}`,
      body_extracted: `${words.chunkWords(at + i).join(' ')}.`,
    }));
    await call('POST', '/v1/pages/batch', { pages });
  }
  while (await busy()) await pause(100);
  const insertMs = performance.now() - inserting;

  const search = async (turn: number) =>
    (await call('POST', '/v1/search', { query: queries[turn % queries.length], rerank: false })).ms;
  const alone: number[] = [];
  for (let turn = 0; turn < searchesAlone; turn++) {
    alone.push(await search(turn));
    await pause(5);
  }

  const model_id = `local-wink-${dim}`;
  await call('POST', '/v1/models', { provider: 'local', model_name: 'wink', dim, max_input_tokens: 32_000 });
  const { body: estimate } = await call('POST', `/v1/models/${model_id}/backfill`, {});
  const began = performance.now();
  await call('POST', `/v1/models/${model_id}/backfill`, { confirm: true });
  const searches: number[] = [];
  let chunks = 0;
  for (let turn = 0; ; turn++) {
    searches.push(await search(turn));
    const { body } = await call<{ status: string; embedded_chunks: number }>('GET', `/v1/models/${model_id}/backfill`);
    chunks = body.embedded_chunks;
    if (body.status === 'complete') break;
    if (body.status === 'failed') throw new Error('the backfill failed');
    await pause(5);
  }
  const backfillMs = performance.now() - began;

  const models = [`local-wink-${activeDim}`, model_id];
  const rbo: number[] = [];
  const tau: number[] = [];
  for (const query of queries.slice(0, 100)) {
    const { body } = await call<{ agreement: { rbo: number; kendall_tau: number | null }[] }>('POST', '/v1/compare', {
      query,
      models,
    });
    rbo.push(body.agreement[0].rbo);
    if (body.agreement[0].kendall_tau !== null) tau.push(body.agreement[0].kendall_tau);
  }
  console.log(
    JSON.stringify(
      {
        bench: 'backfill',
        seed,
        machine: describeMachine(),
        model: model_id,
        chunks,
        inserted_chunks_per_s: Math.round((chunks / insertMs) * 1000),
        estimate,
        backfilled_chunks_per_s: Math.round((chunks / backfillMs) * 1000),
        search_alone_ms: { p50: quantile(alone, 0.5), p95: quantile(alone, 0.95), n: alone.length },
        search_meanwhile_ms: { p50: quantile(searches, 0.5), p95: quantile(searches, 0.95), n: searches.length },
        agreement: { queries: rbo.length, rbo: mean(rbo), kendall_tau: mean(tau) },
      },
      null,
      2,
    ),
  );
} finally {
  await service.stop();
}
