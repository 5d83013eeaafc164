/**
 * Libraries on three hosts and a PostgreSQL of its own, all on this machine, beside one library in one process: searches where the library is
 * served and through another host, pages, commits, cold openings, bytes and memory. Prints JSON; `--plot FOLDER` draws the growth into
 * `growth-cluster-latency.svg` and `growth-cluster-memory.svg`.
 *
 *   npm run bench -- cluster                       1,000 libraries of 200 pages
 *   npm run bench -- cluster --libraries 20     more than three, one for each host
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { listLibraries, newLibrary, newToken, releaseLibrary } from '../src/cluster/administration.ts';
import { openDatabase } from '../src/cluster/database.ts';
import { migrateSchema } from '../src/cluster/schema.ts';
import { Postgres } from '../test/cluster/postgres.ts';
import { freePort } from '../test/free-port.ts';
import { allIndexed, latency, pageOf, pushPages } from './http-load.ts';
import { type Line, lineChart } from './line-chart.ts';
import { describeMachine } from './machine.ts';
import { type Caller, type RunningService, runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 47;
const wordsPerPage = 560;
/** Of each kind. */
const searches = 400;
/** What is quiet for so long has let go of what it needs no more, s. */
const quietS = 60;
/** Libraries that are opened by a host that has no copy. */
const coldOpenings = 10;
/** Looked at when so many are open. */
const grownTo: readonly number[] = [10, 30, 100, 300, 600, 1000];
/** Libraries that take as many pages again, in turn with the one process, which has pages by then, too. */
const filledAgain = 12;

const { values } = parseArgs({
  options: {
    libraries: { type: 'string', default: '1000' },
    pages: { type: 'string', default: '200' },
    plot: { type: 'string' },
  },
});
const [count, pagesEach] = [Number(values.libraries), Number(values.pages)];
const workload = openWorkload({ seed, wordsPerChunk: wordsPerPage });
const queries = Array.from({ length: searches }, (_, number) => workload.query(number).words.join(' '));
const pagesFrom = (first: number) =>
  Array.from({ length: pagesEach }, (_, at) => pageOf(first + at, workload.chunkWords(first + at), 'bench'));
const settings = { SERVICE_ENTITY__ENABLED: 'false' };
const round = (value: number) => Math.round(value * 100) / 100;

/** Ask until the library is open; gives ms. */
async function opened(caller: Caller): Promise<number> {
  const began = performance.now();
  while ((await caller.call('GET', '/v1/jobs?limit=1')).status !== 200);
  return performance.now() - began;
}

/** Pages in and indexed; gives them a second. */
async function fill(caller: Caller, first: number): Promise<{ accepted: number; indexed: number }> {
  const pages = pagesFrom(first);
  const began = performance.now();
  const accepted = await pushPages(caller, pages);
  while (!(await allIndexed(caller)));
  return { accepted, indexed: (pages.length / (performance.now() - began)) * 1000 };
}

async function search(caller: Caller, query: string): Promise<number> {
  const { status, ms } = await caller.call('POST', '/v1/search', { query });
  if (status !== 200) throw new Error(`a search was answered ${status}`);
  return ms;
}

interface Grown {
  libraries: number;
  memory_mb: number;
  first_ms: ReturnType<typeof latency>;
  last_ms: ReturnType<typeof latency>;
}

async function plot(folder: string, growth: readonly Grown[]): Promise<void> {
  const line = (name: string, of: (row: Grown) => number): Line => ({
    name,
    points: growth.map((row) => ({ x: row.libraries, y: of(row) })),
  });
  const charts = {
    latency: {
      ...{ title: 'Search in an open library', yLabel: 'ms' },
      lines: [
        line('first, p50', ({ first_ms }) => first_ms.p50),
        line('first, p95', ({ first_ms }) => first_ms.p95),
        line('last, p50', ({ last_ms }) => last_ms.p50),
        line('last, p95', ({ last_ms }) => last_ms.p95),
      ],
    },
    memory: {
      ...{ title: 'Anonymous memory of three hosts', yLabel: 'MB' },
      lines: [line('together', ({ memory_mb }) => memory_mb)],
    },
  };
  const xLabel = `open libraries of ${pagesEach} pages`;
  for (const [name, chart] of Object.entries(charts))
    await writeFile(join(folder, `growth-cluster-${name}.svg`), lineChart({ ...chart, xLabel }));
}

const server = await Postgres.start({ connections: 100 });
const database = await openDatabase({ url: server.url, timeoutMs: 60_000, log: { warn: () => {} } });
const services: RunningService[] = [];
try {
  await migrateSchema(database);
  const single = await runService(settings);
  services.push(single);
  const hosts: { service: RunningService; address: string }[] = [];
  for (let at = 0; at < 3; at++) {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const service = await runService({
      ...settings,
      SERVICE_AUTH_TOKEN: '',
      SERVICE_BIND_PORT: String(port),
      SERVICE_CLUSTER__DATABASE_URL: server.url,
      SERVICE_CLUSTER__ADDRESS: address,
      SERVICE_CLUSTER__SECRET: 'of the hosts of a bench',
      SERVICE_CLUSTER__MAX_OPEN_LIBRARIES: '100000',
    });
    hosts.push({ service, address });
    services.push(service);
  }
  const memory = () => hosts.reduce((sum, { service }) => sum + service.anonymousMb(), 0);

  await fill(single, 0); // when threads and code are made
  const tokens: string[] = [];
  /** With one library in each host, behind a quiet minute. */
  let startedMb = 0;
  const rates: Record<'single' | 'first' | 'further', { accepted: number; indexed: number }[]> = {
    single: [],
    first: [],
    further: [],
  };
  let pagesIn = 0;
  /** So many libraries are open: what the three hosts hold together, and searches in the first and in the last of them. */
  const growth: Grown[] = [];
  const callerOf = (at: number) => hosts[at % 3].service.as(tokens[at]);
  const add = async (at: number): Promise<{ accepted: number; indexed: number }> => {
    const name = `library-${at}`;
    await newLibrary(database, name);
    tokens[at] = await newToken(database, { library: name, name: 'bench', scopes: ['write'], now: 0 });
    await opened(callerOf(at));
    const rate = await fill(callerOf(at), at * pagesEach);
    pagesIn += pagesEach;
    return rate;
  };
  /** Behind those that rates are taken of one in each host is filled at a time: it takes an hour otherwise. */
  const adding: Promise<unknown>[] = [];
  for (let at = 0; at < count; at++) {
    const isAlone = at < 3 + filledAgain;
    const added = add(at);
    adding.push(added);
    if (isAlone || adding.length === 3 || grownTo.includes(at + 1)) await Promise.all(adding.splice(0));
    if (at >= 3 && isAlone) rates.first.push(await added); // behind the first of each host
    const caller = callerOf(at);
    if (at >= 3 && isAlone) {
      const others = (count + 2 * at) * pagesEach;
      rates.further.push(await fill(caller, others));
      rates.single.push(await fill(single, others + pagesEach));
      pagesIn += pagesEach;
    }
    if (grownTo.includes(at + 1)) {
      const last: number[] = [];
      const earliest: number[] = [];
      for (const query of queries.slice(0, 100)) {
        earliest.push(await search(hosts[0].service.as(tokens[0]), query));
        last.push(await search(caller, query));
      }
      const row = { libraries: at + 1, memory_mb: memory(), first_ms: latency(earliest), last_ms: latency(last) };
      growth.push(row);
      process.stderr.write(`bench: ${JSON.stringify(row)}\n`);
    }
    if (at !== 2) continue;
    await delay(quietS * 1000);
    startedMb = memory();
  }
  await Promise.all(adding);
  await delay(quietS * 1000);
  const openMb = memory();
  const libraries = await listLibraries(database);
  const commits = libraries.reduce((sum, { seq }) => sum + seq, 0);
  const [{ bytes }] = await database.query<{ bytes: number }>({
    text: `select sum(pg_total_relation_size(inhrelid))::bigint as bytes from pg_inherits where inhparent = 'readback.entry'::regclass`,
  });

  // In turn, so that what else the machine does falls on each alike.
  const times: Record<'single' | 'owner' | 'other', number[]> = { single: [], owner: [], other: [] };
  const callers = { single, owner: hosts[0].service.as(tokens[0]), other: hosts[1].service.as(tokens[0]) };
  for (const [at, query] of [...queries.slice(0, 40), ...queries].entries())
    for (const kind of ['single', 'owner', 'other'] as const) {
      const ms = await search(callers[kind], query);
      if (at >= 40) times[kind].push(ms);
    }

  const cold: number[] = [];
  for (let at = 0; at < Math.min(coldOpenings, count); at++) {
    await releaseLibrary(database, `library-${at}`);
    cold.push(await opened(hosts[(at + 1) % 3].service.as(tokens[at])));
  }

  if (values.plot !== undefined) await plot(values.plot, growth);
  const meanOf = (some: (typeof rates)['single']) => {
    const mean = (of: 'accepted' | 'indexed') => round(some.reduce((sum, each) => sum + each[of], 0) / some.length);
    return { accepted: mean('accepted'), indexed: mean('indexed') };
  };
  console.log(
    JSON.stringify(
      {
        ...{ bench: 'cluster', seed, machine: describeMachine(), libraries: count, pages_each: pagesEach },
        words_per_page: wordsPerPage,
        search_ms: { single: latency(times.single), owner: latency(times.owner), other_host: latency(times.other) },
        pages_per_s: {
          single: meanOf(rates.single),
          first_of_a_library: meanOf(rates.first),
          further: meanOf(rates.further),
        },
        growth,
        commits_per_page: round(commits / pagesIn),
        commits_per_s: round((commits / pagesIn) * meanOf(rates.further).indexed),
        postgres_bytes_per_page: Math.round(bytes / pagesIn),
        cold_opening_ms: latency(cold),
        memory_mb: {
          one_library_each: startedMb,
          all_libraries: openMb,
          library: round((openMb - startedMb) / (count - 3)),
        },
      },
      null,
      2,
    ),
  );
} finally {
  for (const service of services) await service.stop();
  await database.close();
  await server[Symbol.asyncDispose]();
}
