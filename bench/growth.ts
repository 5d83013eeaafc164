/**
 * Growth over HTTP with the built-in model: one service is filled to one size after another. At each: search by default,
 * without reranking and as you type (`prefix`, without reranking and suggestions), resident memory after a restart, and recall of the dense
 * side: of the pages that have the ten passages nearest to a query by an exact scan of the stored vectors and above the model's floor, how many the service has among
 * its pages with vector rank ten or better. Texts are made of English words by their frequency. The load generator shares the cores. Prints JSON.
 *
 *   npm run bench -- growth                                            10,000, 100,000, 300,000 and 1,000,000 passages: hours
 *   npm run bench -- growth --passages 10000                        smaller
 *   npm run bench -- growth --passages 10000,100000 --queries 100
 *   npm run bench -- growth --passages 1000000 --plot docs --with before.json    draws latency and memory, with the sizes that an earlier run printed
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { SearchResponse } from '../src/domain/search.ts';
import { StoreView } from '../src/store/store-view.ts';
import { openBenchEncoder } from './bench-encoder.ts';
import { ExactNearest } from './engine/exact-nearest.ts';
import { englishWords } from './english-words.ts';
import { fill, pagesOf, timeSearches } from './http-load.ts';
import { type Line, lineChart } from './line-chart.ts';
import { describeMachine } from './machine.ts';
import { type RunningService, runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const wordsPerPage = 1000;
const vocabularySize = 60_000;
const nearest = 10;
/** Passages of such a page, about: what a size is first taken to be in pages. */
const passagesPerPage = 3;

const { values } = parseArgs({
  options: {
    passages: { type: 'string', default: '10000,100000,300000,1000000' },
    queries: { type: 'string', default: '300' },
    plot: { type: 'string' },
    with: { type: 'string' },
  },
});
const workload = openWorkload({
  seed,
  wordsPerChunk: wordsPerPage,
  vocabulary: englishWords(vocabularySize),
});
const queries = Array.from({ length: Number(values.queries) }, (_, number) => workload.query(number).words.join(' '));

/** Vectors of the queries as the service makes them. */
async function queryVectors(): Promise<Float32Array[]> {
  const encoder = openBenchEncoder();
  try {
    const { rows } = await encoder.encode(queries, 'query');
    return queries.map((_, at) =>
      rows.subarray((at * rows.length) / queries.length, ((at + 1) * rows.length) / queries.length),
    );
  } finally {
    await encoder.close();
  }
}

/** Of each query the addresses of the pages that have the passages nearest to it, by all stored vectors. */
async function exactPages(dataDir: string): Promise<{ dim: number; passages: number; pages: Set<string>[] }> {
  const view = StoreView.open(dataDir);
  try {
    const { reader } = view;
    const model = reader.models.activeModel();
    if (model === undefined) throw new Error('there is no active model');
    const { dim, space } = model;
    const floor = model.floor ?? -1;
    const asked = await queryVectors();
    const exact = new ExactNearest(asked, nearest, [() => true]);
    /** By passage: its page, and its row there. */
    const pageOfPassage: number[] = [];
    const rowOfPassage: number[] = [];
    for (const no of reader.vectors.pageNumbers(space)) {
      const rows = reader.vectors.get(space, no) ?? new Float32Array();
      exact.add(pageOfPassage.length, rows);
      for (let row = 0; row < rows.length / dim; row++) {
        pageOfPassage.push(no);
        rowOfPassage.push(row);
      }
    }
    const [lists] = exact.results();
    const cosine = (query: Float32Array, passage: number) => {
      const from = rowOfPassage[passage] * dim;
      const row = reader.vectors.get(space, pageOfPassage[passage])?.subarray(from, from + dim) ?? [];
      return query.reduce((sum, component, at) => sum + component * row[at], 0);
    };
    const addressOf = (passage: number) => reader.pages.head(pageOfPassage[passage])?.canonical_url ?? '';
    const found = lists.map((list, at) => list.filter((passage) => cosine(asked[at], passage) >= floor));
    return { dim, passages: pageOfPassage.length, pages: found.map((list) => new Set(list.map(addressOf))) };
  } finally {
    await view.close();
  }
}

/** Share of the exact pages that the service has by their vectors. */
async function recallOf(service: RunningService, exact: readonly Set<string>[]): Promise<number> {
  let [found, all] = [0, 0];
  for (const [number, query] of queries.entries()) {
    const request = { query, k: 100, rerank: false, suggest: 0, chunks_per_page: 0, min_relevance: 0 };
    const results: SearchResponse['results'] = [];
    // Both lists have 100 candidates.
    for (const offset of [0, 100]) {
      const { status, body } = await service.call('POST', '/v1/search', { ...request, offset });
      if (status !== 200) throw new Error(`a search was answered ${status}: ${JSON.stringify(body)}`);
      results.push(...(body as SearchResponse).results);
    }
    const near = results.filter(({ why }) => (why.vector_rank ?? nearest + 1) <= nearest);
    found += near.filter(({ canonical_url }) => exact[number].has(canonical_url)).length;
    all += exact[number].size;
  }
  return Math.round((found / all) * 10_000) / 10_000;
}

/** Of a size, what is drawn. */
interface Point {
  passages: number;
  resident_mb: number;
  anonymous_mb: number;
  by_default: { p50: number };
  without_reranking: { p50: number };
  as_you_type: { p50: number };
}

/** `growth-service-latency.svg` and `growth-service-memory.svg`. */
function plot(folder: string, points: readonly Point[]): void {
  const line = (name: string, of: (point: Point) => number): Line => ({
    name,
    points: points.map((point) => ({ x: point.passages, y: of(point) })),
  });
  const charts = {
    latency: {
      title: 'Search over HTTP, default model',
      yLabel: 'p50, ms',
      lines: [
        line('by default', ({ by_default }) => by_default.p50),
        line('without reranking', ({ without_reranking }) => without_reranking.p50),
        line('as one types', ({ as_you_type }) => as_you_type.p50),
      ],
    },
    memory: {
      title: 'Memory of the service',
      yLabel: 'MB',
      lines: [
        line('resident', ({ resident_mb }) => resident_mb),
        line('anonymous', ({ anonymous_mb }) => anonymous_mb),
      ],
    },
  };
  const xLabel = `passages, of pages of ${wordsPerPage} words`;
  for (const [name, chart] of Object.entries(charts))
    writeFileSync(join(folder, `growth-service-${name}.svg`), lineChart({ ...chart, xLabel }));
}

let pages = 0;
let passages = 0;

/** Pages until there are about so many passages; gives seconds. */
async function fillTo(service: RunningService, size: number): Promise<number> {
  const perPage = passages === 0 ? passagesPerPage : passages / pages;
  const from = pages;
  pages = Math.max(from, Math.ceil(size / perPage));
  return fill(service, pagesOf(workload), { from, to: pages });
}

const service = await runService({ SERVICE_ENTITY__ENABLED: 'false', SERVICE_CLUSTER__ENABLED: 'false' });
const measured = [];
try {
  for (const size of values.passages.split(',').map(Number)) {
    const filledS = await fillTo(service, size);
    let exact: Awaited<ReturnType<typeof exactPages>> | undefined;
    const startMs = await service.restart(async (dataDir) => {
      exact = await exactPages(dataDir);
    });
    if (exact === undefined) throw new Error('the service was not started again');
    passages = exact.passages;
    const recall = await recallOf(service, exact.pages);
    const byDefault = await timeSearches(service, queries, {});
    const noReranking = await timeSearches(service, queries, { rerank: false });
    const asYouType = await timeSearches(service, queries, { rerank: false, suggest: 0, prefix: true });
    measured.push({
      passages,
      pages,
      dim: exact.dim,
      filled_s: Math.round(filledS),
      start_ms: Math.round(startMs),
      resident_mb: service.residentMb(),
      anonymous_mb: service.anonymousMb(),
      recall_at_10: recall,
      by_default: byDefault.ms,
      without_reranking: noReranking.ms,
      as_you_type: asYouType.ms,
    });
    console.error(JSON.stringify(measured.at(-1))); // the next size may take an hour
  }
} finally {
  await service.stop();
}
if (values.plot !== undefined) {
  const before: Point[] = values.with === undefined ? [] : JSON.parse(readFileSync(values.with, 'utf8')).measured;
  plot(values.plot, [...before, ...measured]);
}
console.log(
  JSON.stringify(
    { bench: 'growth', seed, machine: describeMachine(), words_per_page: wordsPerPage, measured },
    null,
    2,
  ),
);
