/**
 * Real pages through the whole service: they go in as saved HTML over HTTP, and each query of theirs must find its page. Used by
 * the demo on real data and by the test of it; both bring a running service.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Pages and queries that are handed to the team beside the project; not part of it. */
export const realPagesDir = join(import.meta.dirname, '../../shared/data/pages');
export const haveRealPages = existsSync(join(realPagesDir, 'pages.jsonl'));

export type Call = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown }>;

/** `rank` counts from 1; 0: not among the first ten. `first` is the page that was found first. */
export interface Ranked {
  query: string;
  file: string;
  rank: number;
  first: string | null;
}

export interface RealPagesReport {
  pages: number;
  queries: Ranked[];
  /** Searches for each page's own title. */
  titles: Ranked[];
  /** Ingest of all, and from the first until all are indexed, ms. */
  ingestMs: number;
  indexedMs: number;
}

interface PageEntry {
  file: string;
  url: string;
  title: string;
}

const patienceMs = 120_000;
const depth = 10;

/** Put the pages in, wait until they are indexed, ask every query. Errors: where an answer is not what the contract says. */
export async function searchRealPages(call: Call): Promise<RealPagesReport> {
  const pages = readLines<PageEntry>('pages.jsonl');
  const began = performance.now();
  const fileOf = new Map<string, string>();
  for (const { file, url, title } of pages) {
    const body_html = readFileSync(join(realPagesDir, file), 'utf8');
    const { page_id } = await expectStatus<{ page_id: string }>(
      202,
      call('POST', '/v1/pages', { url, title, body_html }),
    );
    fileOf.set(page_id, file);
  }
  const ingested = performance.now();
  await indexed(call, [...fileOf.keys()]);
  const done = performance.now();

  const rank = async (query: string, file: string): Promise<Ranked> => {
    const { results } = await expectStatus<{ results: { page_id: string }[] }>(
      200,
      call('POST', '/v1/search', { query, k: depth }),
    );
    const files = results.map(({ page_id }) => fileOf.get(page_id) ?? page_id);
    return { query, file, rank: files.indexOf(file) + 1, first: files[0] ?? null };
  };
  const queries: Ranked[] = [];
  for (const { query, file } of readLines<{ query: string; file: string }>('queries.jsonl')) {
    queries.push(await rank(query, file));
  }
  const titles: Ranked[] = [];
  for (const { file, title } of pages) titles.push(await rank(title, file));
  return { pages: pages.length, queries, titles, ingestMs: ingested - began, indexedMs: done - began };
}

/** Share of the queries whose page is among the first `depth`. */
export function shareWithin(ranked: readonly Ranked[], depth: number): number {
  return ranked.filter(({ rank }) => rank > 0 && rank <= depth).length / ranked.length;
}

async function indexed(call: Call, page_ids: string[]): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { results } = await expectStatus<{
      results: { page_id: string; status: string; last_error: string | null }[];
    }>(200, call('POST', '/v1/pages/status/batch', { page_ids }));
    if (results.every(({ status }) => status === 'indexed')) return;
    const dead = results.find(({ status }) => status === 'dead');
    if (dead !== undefined) throw new Error(`${dead.page_id} is dead: ${dead.last_error}`);
    if (performance.now() > deadline) throw new Error('the pages were not indexed in time');
    await delay(50);
  }
}

async function expectStatus<Body>(status: number, answer: ReturnType<Call>): Promise<Body> {
  const { status: given, body } = await answer;
  if (given !== status) throw new Error(`answered ${given}, not ${status}: ${JSON.stringify(body).slice(0, 300)}`);
  return body as Body;
}

function readLines<Entry>(name: string): Entry[] {
  const lines = readFileSync(join(realPagesDir, name), 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line));
}
