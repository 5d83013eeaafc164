/**
 * Forgets a domain of many pages and tells how long that takes: the request, searches beside it, and until no file of the data
 * folder holds a byte of it. Prints JSON. Usage: `npm run bench -- forget [pages]` (10,000 unless given).
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startApp } from '../src/app.ts';
import { searchRequest } from '../src/domain/search.ts';
import { readSettings } from '../src/settings/read-settings.ts';
import { createLog } from '../src/telemetry/log.ts';
import { createMetrics } from '../src/telemetry/metrics.ts';
import { describeMachine } from './machine.ts';

const pages = Number(process.argv[2] ?? 10_000);
/** Only the pages have it: what is searched for stays in the query log. */
const canary = 'zqxverbork';
/** The pages of both domains have it. */
const common = 'brontok';
/** Pages of another domain, which stay. */
const kept = 1000;
const words = [
  'heron',
  'river',
  'fish',
  'bread',
  'oven',
  'chess',
  'king',
  'meadow',
  'tree',
  'stone',
  'tide',
  'harbour',
];

const home = mkdtempSync(join(tmpdir(), 'readback-forget-'));
const dataDir = join(home, 'data');
const settings = readSettings({
  SERVICE_DATA_DIR: dataDir,
  SERVICE_AUTH_TOKEN: 'bench',
  SERVICE_FORGET__COMPACT_AFTER_S: '1',
});
const log = createLog({ json_logs: true, log_level: 'warn' }, { write: (line) => process.stderr.write(line) });
const app = await startApp({ settings, log, metrics: createMetrics() });
const ask = app.askOf('default');

const textOf = (i: number, mark: string) =>
  `${Array.from({ length: 120 }, (_, at) => words[(i * 7 + at * (1 + (i % 5))) % words.length]).join(' ')} ${mark} ${common} page${i}`;
const handIn = async (from: number, to: number, host: string, mark: string) => {
  for (let at = from; at < to; at += 100) {
    await ask('page.ingestBatch', {
      pages: Array.from({ length: Math.min(100, to - at) }, (_, i) => ({
        url: `https://${host}/${at + i}`,
        title: `${words[(at + i) % words.length]} ${mark} ${at + i}`,
        body_extracted: textOf(at + i, mark),
      })),
    });
  }
};
const until = async (holds: () => Promise<boolean> | boolean) => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 100));
};
const idle = async () => {
  for (const status of ['pending', 'running'] as const) {
    const { jobs } = await ask('job.list', { status, limit: 1 });
    if (jobs.length > 0) return false;
  }
  return true;
};
const holding = () =>
  readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(canary),
  ).length;
const search = async (query: string) => {
  const began = performance.now();
  const { results } = await ask('search.query', searchRequest.parse({ query, k: 50, suggest: 10 }));
  return { ms: performance.now() - began, results };
};

const say = (stage: string) => process.stderr.write(`${Math.round(performance.now())} ms: ${stage}\n`);

try {
  await handIn(0, kept, 'stays.example', 'plain');
  await handIn(0, pages, 'a.goes.example', canary);
  await until(idle);
  const found = (await search(common)).results.length;
  say('pages are indexed');

  const began = performance.now();
  let answered = false;
  let slowest = 0;
  let turnMs = 0;
  const beside = (async () => {
    while (!answered) {
      slowest = Math.max(slowest, (await search('heron river')).ms);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  let last = performance.now();
  const ticking = setInterval(() => {
    turnMs = Math.max(turnMs, performance.now() - last - 5);
    last = performance.now();
  }, 5);
  const reply = await ask('page.forget', { domain: 'goes.example' });
  const requestMs = performance.now() - began;
  lag.disable();
  answered = true;
  say(`forgotten in ${Math.round(requestMs)} ms`);
  const after = await search('heron river');
  const leaked = [...after.results, ...(await search(common)).results].filter(
    ({ domain }) => domain !== 'stays.example',
  ).length;
  await beside;
  clearInterval(ticking);
  await until(idle);
  const purgedMs = performance.now() - began;
  say('purged');
  await until(() => holding() === 0);
  const cleanMs = performance.now() - began;
  const round = (ms: number) => Math.round(ms);
  process.stdout.write(
    `${JSON.stringify(
      {
        pages,
        kept,
        found_before: found,
        ...reply,
        request_ms: round(requestMs),
        slowest_search_beside_ms: round(slowest),
        longest_turn_ms: round(turnMs),
        lag_p99_ms: round(lag.percentile(99) / 1e6 - 5),
        results_of_the_domain_after: leaked,
        results_that_stay: after.results.length,
        purge_jobs_done_ms: round(purgedMs),
        files_clean_ms: round(cleanMs),
        machine: describeMachine(),
      },
      null,
      1,
    )}\n`,
  );
} finally {
  await app.close();
  rmSync(home, { recursive: true, force: true });
}
