/**
 * The main job over HTTP, the load generator on the same cores: accepted pages/s, pages/s until indexed, search latency, health
 * while indexing, resident memory, start-up. Prints JSON.
 *
 *   npm run bench                      10,000 chunks
 *   npm run bench -- --chunks 2000     smaller
 */
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { type RunningService, runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const wordsPerPage = 1000;
const batchSize = 100;
const connections = 8;
const warmUps = 20;

const { values } = parseArgs({ options: { chunks: { type: 'string', default: '10000' } } });
const wantedChunks = Number(values.chunks);

const pageWords = openWorkload({ seed, wordsPerChunk: wordsPerPage });
const queries = Array.from({ length: 300 }, (_, number) => pageWords.query(number).words.join(' '));

/** Sentences of eighteen words, paragraphs of five sentences. */
function textOf(words: readonly string[]): string {
  let text = '';
  words.forEach((word, place) => {
    const inSentence = place % 18;
    text += inSentence === 0 ? word[0].toUpperCase() + word.slice(1) : word;
    if (inSentence === 17) text += place % 90 === 89 ? '.\n\n' : '. ';
    else text += ' ';
  });
  return text;
}

function page(number: number, words: readonly string[], host: string) {
  return {
    url: `https://${host}.example/${number}?utm_source=bench`,
    title: words.slice(0, 6).join(' '),
    body_extracted: textOf(words),
  };
}

const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
const latency = (times: number[]) => {
  const sorted = [...times].sort((a, b) => a - b);
  const round = (ms: number) => Math.round(ms * 100) / 100;
  return {
    p50: round(quantile(sorted, 0.5)),
    p95: round(quantile(sorted, 0.95)),
    p99: round(quantile(sorted, 0.99)),
    n: sorted.length,
  };
};

/** Run `work` for every item, `width` at a time. */
async function inParallel<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < items.length) await work(items[next++]);
    }),
  );
}

async function push(service: RunningService, pages: readonly object[]): Promise<number> {
  const batches = Array.from({ length: Math.ceil(pages.length / batchSize) }, (_, index) => ({
    pages: pages.slice(index * batchSize, (index + 1) * batchSize),
  }));
  const began = performance.now();
  await inParallel(batches, connections, async (batch) => {
    const { status } = await service.call('POST', '/v1/pages/batch', batch);
    if (status !== 200) throw new Error(`a batch was answered ${status}`);
  });
  return (pages.length / (performance.now() - began)) * 1000;
}

async function untilIndexed(service: RunningService, health: number[], searches: number[]): Promise<void> {
  for (let round = 0; ; round++) {
    health.push((await service.call('GET', '/healthz')).ms);
    searches.push(
      (await service.call('POST', '/v1/search', { query: queries[round % queries.length], rerank: false })).ms,
    );
    const waiting = await Promise.all(
      ['pending', 'running', 'failed'].map((status) => service.call('GET', `/v1/jobs?limit=1&status=${status}`)),
    );
    if (waiting.every(({ body }) => (body as { jobs: unknown[] }).jobs.length === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Every query once, after some to warm up: times of the calls, and what the service says of its stages, p50. */
async function search(service: RunningService, rerank: boolean) {
  const searches: number[] = [];
  const stages = new Map<string, number[]>();
  for (const [number, query] of [...queries.slice(0, warmUps), ...queries].entries()) {
    const { ms, status, body } = await service.call('POST', '/v1/search', { query, rerank });
    if (status !== 200) throw new Error(`a search was answered ${status}`);
    if (number < warmUps) continue;
    searches.push(ms);
    const { timing_ms } = body as { timing_ms: Record<string, number> };
    for (const [stage, each] of Object.entries(timing_ms)) stages.set(stage, [...(stages.get(stage) ?? []), each]);
  }
  const medians = Object.fromEntries([...stages].map(([stage, times]) => [stage, latency(times).p50]));
  return { searches, stages: medians };
}

const service = await runService();
try {
  const emptyMb = service.residentMb();
  const small = openWorkload({ seed: seed + 1, wordsPerChunk: 120 });
  const smallPages = Array.from({ length: 4000 }, (_, number) => page(number, small.chunkWords(number), 'small'));
  const pages = Array.from({ length: Math.ceil(wantedChunks / 3) }, (_, number) =>
    page(number, pageWords.chunkWords(number), 'long'),
  );

  const health: number[] = [];
  const searchesMeanwhile: number[] = [];
  const began = performance.now();
  const acceptedLong = await push(service, pages);
  await untilIndexed(service, health, searchesMeanwhile);
  const indexedPerS = (pages.length / (performance.now() - began)) * 1000;

  const { searches, stages } = await search(service, false);
  const { searches: rerankedSearches, stages: rerankedStages } = await search(service, true);
  const fullMb = service.residentMb();
  const metrics = String((await service.call('GET', '/metrics')).body);
  const restartMs = await service.restart();
  const acceptedSmall = await push(service, smallPages);

  const [cpu] = cpus();
  console.log(
    JSON.stringify(
      {
        bench: 'main-job',
        seed,
        machine: {
          cpu: cpu?.model,
          cores: cpus().length,
          memory_gb: Math.round(totalmem() / 2 ** 30),
          node: process.version,
        },
        pages: pages.length,
        words_per_page: wordsPerPage,
        accepted_pages_per_s: {
          pages_of_1_kb: Math.round(acceptedSmall),
          pages_of_1000_words: Math.round(acceptedLong),
        },
        indexed_pages_per_s: Math.round(indexedPerS * 10) / 10,
        search_ms: latency(searches),
        search_stages_ms: stages,
        search_reranked_ms: latency(rerankedSearches),
        search_reranked_stages_ms: rerankedStages,
        search_while_indexing_ms: latency(searchesMeanwhile),
        healthz_while_indexing_ms: latency(health),
        resident_mb: { empty: emptyMb, full: fullMb },
        start_ms: { empty: Math.round(service.startMs), full: Math.round(restartMs) },
        event_loop_lag_p99_s: /nodejs_eventloop_lag_p99_seconds (\S+)/.exec(metrics)?.[1],
      },
      null,
      2,
    ),
  );
} finally {
  await service.stop();
}
