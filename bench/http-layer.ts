/**
 * What the HTTP layer itself costs: batches of 100 pages over 8 connections against a system that accepts at once, and writing
 * replies as they are against checking each with its schema. node --import ./scripts/tsx-in-threads.mjs bench/http-layer.ts
 * The client is a process of its own, so that the CPU time counted is the server's alone.
 */
import { fork } from 'node:child_process';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Access } from '../src/access/access.ts';
import { type AuthToken, defaultLibrary } from '../src/domain/access.ts';
import type { Ask } from '../src/domain/messages.ts';
import { type IngestBatchResult, ingestBatchResponse } from '../src/domain/page.ts';
import { searchResponse } from '../src/domain/search.ts';
import { listen } from '../src/http/listen.ts';
import { buildServer } from '../src/http/server.ts';
import { createLog } from '../src/telemetry/log.ts';
import { createMetrics } from '../src/telemetry/metrics.ts';
import { describeMachine } from './machine.ts';

const token = 'bench-token';
const connections = 8;
const pagesPerBatch = 100;
const runs = 5;
const batchesPerRun = 200;
/** 300 words of six letters: an ordinary page, 2 KB. */
const text = 'lorema '.repeat(300);

const results: IngestBatchResult[] = Array.from({ length: pagesPerBatch }, (_each, index) => ({
  outcome: 'accepted',
  index,
  page_id: `pg_0000${1000 + index}`,
  status: 'queued',
}));
const found = {
  query_id: 'q_00000001',
  corrected: [],
  corrected_query: null,
  no_results: null,
  results: Array.from({ length: 10 }, (_each, i) => ({
    page_id: `pg_0000000${i}`,
    canonical_url: `https://a.example/${i}`,
    title: 'A title of some length',
    domain: 'a.example',
    first_seen_at: '2026-01-02T03:04:05.000Z',
    visit_count: 1,
    author: 'Ada Lovelace',
    published_at: '2026-01-01T00:00:00.000Z',
    language: 'en-GB',
    site_name: 'A site',
    is: [],
    read_minutes: 4,
    score: 0.5,
    relevance: 0.5,
    cluster: null,
    tags: [],
    chunks: [0, 1].map((ordinal) => ({
      chunk_id: `ck_${ordinal}`,
      ordinal,
      char_start: 0,
      text,
      score: 0.5,
      relevance: 0.5,
      highlights: [],
      snippet: { start: 0, end: 4, text: text.slice(0, 4) },
      link: `https://a.example/${i}#:~:text=${text.slice(0, 4)}`,
    })),
    exact_match: false,
    duplicates: [],
    why: { exact: null, keyword_rank: i + 1, vector_rank: null, reranked: true },
  })),
  offset: 0,
  has_more: true,
  suggestions: [],
  timing_ms: { total: 1 },
};

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const round = (value: number, digits = 1): number => Number(value.toFixed(digits));

async function load(port: number, path: string, body: string, requests: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  let left = requests;
  const send = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', path, method: 'POST', agent, headers }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`status ${answer.statusCode}`));
        answer.resume().on('end', resolve);
      });
      sent.on('error', reject).end(body);
    });
  const connection = async (): Promise<void> => {
    while (left-- > 0) await send();
  };
  await Promise.all(Array.from({ length: connections }, connection));
  agent.destroy();
}

const batchBody = JSON.stringify({
  pages: Array.from({ length: pagesPerBatch }, (_each, i) => ({
    url: `https://a.example/${i}`,
    title: 'T',
    body_extracted: text,
  })),
});
const searchBody = JSON.stringify({ query: 'what was it' });

async function measureServer(): Promise<object> {
  const ask = (async (name: string) => (name === 'page.ingestBatch' ? results : found)) as unknown as Ask;
  const tokens: AuthToken[] = [{ name: 'bench', library: defaultLibrary, token, scopes: ['write'] }];
  const log = createLog({ json_logs: true, log_level: 'info' });
  const app = buildServer({
    askOf: () => ask,
    readiness: (signal) => ask('system.readiness', {}, { signal }),
    access: new Access({
      operatorTokens: () => tokens,
      libraries: new Set([defaultLibrary]),
      file: { records: null, save: async () => {} },
      log,
    }),
    consoleDir: '/nowhere',
    log,
    metrics: createMetrics(),
    version: '0.0.0',
    bind_host: '127.0.0.1',
    allowed_hosts: [],
    allowed_origins: [],
    events: { heartbeat_s: 15 },
    mcp: { enable_mutating_tools: false },
    shownSettings: () => ({ settings: {}, mutability: {} }),
    backups: {
      make: () => Promise.reject(new Error('no backups here')),
      list: () => Promise.reject(new Error('no backups here')),
    },
    capabilities: async () => ({ yt_dlp: null, transcription: { kind: null, detail: '', ffmpeg: false } }),
  });
  const { port } = await listen(app, { host: '127.0.0.1', port: 0 });
  const client = fork(fileURLToPath(import.meta.url), [String(port)], { execArgv: process.execArgv });
  const turn = (path: string, body: string, requests: number) =>
    new Promise<{ wallS: number; cpuS: number }>((resolve) => {
      const began = performance.now();
      const cpu = process.cpuUsage();
      client.once('message', () => {
        const { user, system } = process.cpuUsage(cpu);
        resolve({ wallS: (performance.now() - began) / 1000, cpuS: (user + system) / 1e6 });
      });
      client.send({ path, body, requests });
    });
  const series = async (path: string, body: string, requests: number) => {
    await turn(path, body, requests);
    const turns = [];
    for (let run = 0; run < runs; run++) turns.push(await turn(path, body, requests));
    return {
      perWallSecond: Math.round(requests / median(turns.map(({ wallS }) => wallS))),
      cpuMsEach: round((1000 * median(turns.map(({ cpuS }) => cpuS))) / requests, 3),
    };
  };
  const batches = await series('/v1/pages/batch', batchBody, batchesPerRun);
  const searches = await series('/v1/search', searchBody, batchesPerRun * 10);
  client.disconnect();
  await app.close();
  return {
    batches: {
      ...batches,
      pagesPerWallSecond: batches.perWallSecond * pagesPerBatch,
      pagesPerCpuSecond: Math.round((1000 * pagesPerBatch) / batches.cpuMsEach),
    },
    searches,
  };
}

function measureWriting(): object {
  const each = (work: () => void): number => {
    const rounds = Array.from({ length: 9 }, () => {
      const began = performance.now();
      for (let i = 0; i < 500; i++) work();
      return ((performance.now() - began) * 1000) / 500;
    });
    return round(median(rounds));
  };
  const batch = { results };
  return {
    unit: 'microseconds',
    batchAsIs: each(() => JSON.stringify(batch)),
    batchChecked: each(() => JSON.stringify(ingestBatchResponse.encode(batch))),
    searchAsIs: each(() => JSON.stringify(found)),
    searchChecked: each(() => JSON.stringify(searchResponse.encode(found))),
  };
}

if (process.send === undefined) {
  const machine = describeMachine();
  console.log(
    JSON.stringify({ machine, connections, runs, ...(await measureServer()), writing: measureWriting() }, null, 2),
  );
} else {
  const port = Number(process.argv[2]);
  process.on('message', async ({ path, body, requests }: { path: string; body: string; requests: number }) => {
    await load(port, path, body, requests);
    process.send?.('done');
  });
}
