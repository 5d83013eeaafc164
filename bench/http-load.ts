/** What the benches over HTTP share: pages made of words, pushing them in batches, and latencies in numbers. */
import type { Caller } from './running-service.ts';

const batchSize = 100;
const connections = 8;

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

/** A page to push; its title is its first words. */
export function pageOf(number: number, words: readonly string[], host: string) {
  return {
    url: `https://${host}.example/${number}?utm_source=bench`,
    title: words.slice(0, 6).join(' '),
    body_extracted: textOf(words),
  };
}

/** The pages of a workload, by their numbers. */
export const pagesOf =
  ({ chunkWords }: { chunkWords: (page: number) => readonly string[] }) =>
  (number: number) =>
    pageOf(number, chunkWords(number), 'bench');

/** Quantiles of times in ms, to hundredths. */
export function latency(times: readonly number[]) {
  const sorted = [...times].sort((a, b) => a - b);
  const quantile = (share: number) => {
    const ms = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return Math.round(ms * 100) / 100;
  };
  return { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99), n: sorted.length };
}

/** Push pages in batches on several connections; gives pages accepted per second. Errors: throws when a batch is refused. */
export async function pushPages(service: Caller, pages: readonly object[]): Promise<number> {
  const batches = Array.from({ length: Math.ceil(pages.length / batchSize) }, (_, index) =>
    pages.slice(index * batchSize, (index + 1) * batchSize),
  );
  const began = performance.now();
  let next = 0;
  const connection = async () => {
    while (next < batches.length) {
      const { status } = await service.call('POST', '/v1/pages/batch', { pages: batches[next++] });
      if (status !== 200) throw new Error(`a batch was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return (pages.length / (performance.now() - began)) * 1000;
}

/** Pages pushed before the next are made: bounds the bench's own memory. */
const pagesAtOnce = 2000;

/** Push pages `from` up to `to`, and wait until they are indexed; gives seconds. Errors: as of `pushPages`. */
export async function fill(
  service: Caller,
  pageAt: (number: number) => object,
  { from = 0, to }: { from?: number; to: number },
): Promise<number> {
  const began = performance.now();
  for (let first = from; first < to; first += pagesAtOnce) {
    const count = Math.min(pagesAtOnce, to - first);
    await pushPages(
      service,
      Array.from({ length: count }, (_, i) => pageAt(first + i)),
    );
    process.stderr.write(`bench: ${first + count} of ${to} pages\n`);
  }
  while (!(await allIndexed(service))) await new Promise((resolve) => setTimeout(resolve, 200));
  return (performance.now() - began) / 1000;
}

/** Whether no page waits or is being indexed. */
export async function allIndexed(service: Caller): Promise<boolean> {
  const waiting = await Promise.all(
    ['pending', 'running', 'failed'].map((status) =>
      service.call('GET', `/v1/jobs?limit=1&status=${status}&kind=index_page`),
    ),
  );
  return waiting.every(({ body }) => (body as { jobs: unknown[] }).jobs.length === 0);
}

/** Search for every query, after `warmUps` of them: times of the calls, and what the service says of its stages, p50. Errors: throws when a search is refused. */
export async function timeSearches(service: Caller, queries: readonly string[], parameters: object, warmUps = 20) {
  const searches: number[] = [];
  const stages = new Map<string, number[]>();
  for (const [number, query] of [...queries.slice(0, warmUps), ...queries].entries()) {
    const { ms, status, body } = await service.call('POST', '/v1/search', { ...parameters, query });
    if (status !== 200) throw new Error(`a search was answered ${status}: ${JSON.stringify(body)}`);
    if (number < warmUps) continue;
    searches.push(ms);
    const { timing_ms } = body as { timing_ms: Record<string, number> };
    for (const [stage, each] of Object.entries(timing_ms)) stages.set(stage, [...(stages.get(stage) ?? []), each]);
  }
  const medians = Object.fromEntries([...stages].map(([stage, times]) => [stage, latency(times).p50]));
  return { ms: latency(searches), stages: medians };
}

/** Search and ask for health until `isOver`. */
export async function meanwhile(
  service: Caller,
  queries: readonly string[],
  isOver: (service: Caller) => Promise<boolean>,
  { health, searches }: { health: number[]; searches: number[] },
): Promise<void> {
  for (let round = 0; ; round++) {
    health.push((await service.call('GET', '/healthz')).ms);
    searches.push(
      (await service.call('POST', '/v1/search', { query: queries[round % queries.length], rerank: false })).ms,
    );
    if (await isOver(service)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** 99th percentile of the service's event loop lag since its metrics were last read, seconds. */
export async function eventLoopLagP99(service: Caller): Promise<number> {
  const metrics = String((await service.call('GET', '/metrics')).body);
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]);
}
