/**
 * Many libraries in one process: what an idle one costs, and how long searches in one of them take while others are busy. Prints JSON.
 *
 *   npm run bench -- libraries                            100 libraries of 200 pages, 10 of them busy
 *   npm run bench -- libraries --libraries 20 --busy 2
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { allIndexed, latency, pageOf, pushPages } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { type Caller, type RunningService, runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 43;
const wordsPerPage = 560;
/** Searches of each kind. */
const searches = 400;
/** What is quiet for so long has let go of what it needs no more, s. */
const quietS = 60;
/** Pages of one big import, beside which others search. */
const importedPages = 100_000;

const { values } = parseArgs({
  options: {
    libraries: { type: 'string', default: '100' },
    pages: { type: 'string', default: '200' },
    busy: { type: 'string', default: '10' },
  },
});
const [count, pagesEach, busy] = [Number(values.libraries), Number(values.pages), Number(values.busy)];
const workload = openWorkload({ seed, wordsPerChunk: wordsPerPage });
const queries = Array.from({ length: searches }, (_, number) => workload.query(number).words.join(' '));
const pagesFrom = (first: number, length: number) =>
  Array.from({ length }, (_, at) => pageOf(first + at, workload.chunkWords(first + at), 'bench'));

const tokenOf = (library: number) => `bench-token-of-library-${library}`;
const settingsFor = (dir: string, libraries: number) => ({
  SERVICE_AUTH_TOKEN: '',
  SERVICE_LIBRARIES__DIR: dir,
  SERVICE_ENTITY__ENABLED: 'false',
  SERVICE_AUTH_TOKENS: JSON.stringify(
    Array.from({ length: libraries }, (_, at) => ({ name: 'bench', token: tokenOf(at), library: `library-${at}` })),
  ),
});

/** Wait until a library serves. */
async function opened(caller: Caller): Promise<void> {
  while ((await caller.call('GET', '/v1/jobs?limit=1')).status !== 200) await delay(50);
}

const memory = (service: RunningService) => ({ resident: service.residentMb(), anonymous: service.anonymousMb() });

/** Libraries with pages, after a restart and a quiet minute: what they take, MB. */
async function measureIdle(dir: string, libraries: number) {
  const service = await runService(settingsFor(dir, libraries));
  const callers = Array.from({ length: libraries }, (_, at) => service.as(tokenOf(at)));
  for (const caller of callers) await opened(caller);
  const filled: number[] = [];
  for (const [at, caller] of callers.entries()) {
    const began = performance.now();
    await pushPages(caller, pagesFrom(at * pagesEach, pagesEach));
    while (!(await allIndexed(caller))) await delay(20);
    filled.push(performance.now() - began);
  }
  const restartMs = await service.restart();
  const began = performance.now();
  for (const caller of callers) await opened(caller);
  const openedMs = performance.now() - began;
  await delay(quietS * 1000);
  return { service, callers, restartMs, openedMs, memory_mb: memory(service), fill_ms: latency(filled) };
}

/** Times of searches in a library, one after the other. */
async function timeSearches(caller: Caller, isOver: (done: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver(times.length)) {
    const query = queries[times.length % queries.length];
    const { status, ms } = await caller.call('POST', '/v1/search', { query });
    if (status !== 200) throw new Error(`a search was answered ${status}`);
    times.push(ms);
    await delay(5);
  }
  return times;
}

const homes = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'readback-libraries-')));
const emptyHome = mkdtempSync(join(tmpdir(), 'readback-libraries-'));
try {
  const empty = await runService(settingsFor(emptyHome, 1));
  await opened(empty.as(tokenOf(0)));
  await delay(quietS * 1000);
  const empty_mb = memory(empty);
  await empty.stop();
  const alone = await measureIdle(homes[0], 1);
  await alone.service.stop();
  const { service, callers, ...idle } = await measureIdle(homes[1], count);

  const [quiet] = callers;
  await timeSearches(quiet, (done) => done >= 20);
  const nothingElse = await timeSearches(quiet, (done) => done >= searches);
  let isBusy = true;
  const work = callers.slice(1, 1 + busy).map(async (caller, at) => {
    for (let round = 0; isBusy; round++) {
      await pushPages(caller, pagesFrom((count + at) * pagesEach + round * 20, 20));
      await timeSearches(caller, (done) => done >= 5);
    }
  });
  const beside = await timeSearches(quiet, (done) => done >= searches);
  isBusy = false;
  await Promise.all(work);
  const busy_mb = memory(service);
  for (const caller of callers) while (!(await allIndexed(caller))) await delay(100);

  let isImporting = true;
  const importer = (async () => {
    for (let at = 0; isImporting && at < importedPages; at += 800) {
      await pushPages(callers[1], pagesFrom(1_000_000 + at, 800));
      // As who imports waits where too much is queued: so it goes on as long as the searches do.
      while (isImporting && !(await allIndexed(callers[1]))) await delay(20);
    }
  })();
  const besideImport = await timeSearches(quiet, (done) => done >= searches);
  isImporting = false;
  await importer;
  await service.stop();

  const perLibrary = (idle.memory_mb.anonymous - alone.memory_mb.anonymous) / Math.max(1, count - 1);
  const p95 = (times: readonly number[]) => latency(times).p95;
  console.log(
    JSON.stringify(
      {
        bench: 'libraries',
        seed,
        machine: describeMachine(),
        libraries: count,
        pages_each: pagesEach,
        words_per_page: wordsPerPage,
        busy,
        empty_mb,
        one_of_them_mb: alone.memory_mb,
        all_idle_mb: idle.memory_mb,
        idle_library_mb: Math.round(perLibrary * 100) / 100,
        busy_mb,
        all_open_after_ms: Math.round(idle.restartMs + idle.openedMs),
        search_ms: {
          nothing_else: latency(nothingElse),
          others_busy: latency(beside),
          one_imports: latency(besideImport),
        },
        p95_ratio: {
          others_busy: Math.round((100 * p95(beside)) / p95(nothingElse)) / 100,
          one_imports: Math.round((100 * p95(besideImport)) / p95(nothingElse)) / 100,
        },
      },
      null,
      2,
    ),
  );
} finally {
  for (const home of [...homes, emptyHome]) rmSync(home, { recursive: true, force: true });
}
