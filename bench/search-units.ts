/**
 * What a search costs in units of the cheapest request: medians of `POST /v1/search` over that of `GET /v1/whoami`, by one client in one run,
 * so that machines compare. 5,000 pages of 960 English words, queries of three words; first while names are read from the pages, then with
 * nothing else going on. Kinds: by default, without reranking, and as one types (`prefix`, without reranking and suggestions). The kinds take
 * turns, query by query. The load generator shares the cores. Prints JSON.
 *
 *   npm run bench -- units
 *   npm run bench -- units --pages 1000 --queries 100
 */
import { parseArgs } from 'node:util';
import { englishWords } from './english-words.ts';
import { allIndexed, latency, noneLeft, pageOf, pushPages } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { type RunningService, runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const wordsPerPage = 960;
const wordsPerQuery = 3;
const warmUps = 300;
const goals = { default: 8, without_reranking: 5, as_you_type: 4, while_reading_names: 1.3 };

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '5000' }, queries: { type: 'string', default: '300' } },
});
const workload = openWorkload({
  seed,
  wordsPerChunk: wordsPerPage,
  vocabulary: englishWords(60_000),
});
const pages = Array.from({ length: Number(values.pages) }, (_, i) => pageOf(i, workload.chunkWords(i), 'bench'));
const queries = Array.from({ length: Number(values.queries) }, (_, number) =>
  workload.query(number).words.slice(0, wordsPerQuery).join(' '),
);

const kinds = {
  default: {},
  without_reranking: { rerank: false },
  as_you_type: { rerank: false, suggest: 0, prefix: true },
} as const;
type Kind = keyof typeof kinds;

/** Times of each kind and of `whoami`, until `isOver` says so or the queries are at their end. */
async function timed(service: RunningService, asked: readonly string[], isOver: () => Promise<boolean>) {
  const times: Record<Kind | 'whoami', number[]> = { whoami: [], default: [], without_reranking: [], as_you_type: [] };
  for (const [number, query] of asked.entries()) {
    if (number % 10 === 0 && (await isOver())) break;
    times.whoami.push((await service.call('GET', '/v1/whoami')).ms);
    for (const [kind, parameters] of Object.entries(kinds)) {
      const { status, ms } = await service.call('POST', '/v1/search', { ...parameters, query });
      if (status !== 200) throw new Error(`a search was answered ${status}`);
      times[kind as Kind].push(ms);
    }
  }
  return times;
}

function inUnits(times: Awaited<ReturnType<typeof timed>>) {
  const ms = Object.fromEntries(Object.entries(times).map(([kind, each]) => [kind, latency(each)]));
  const units = Object.fromEntries(
    Object.keys(kinds).map((kind) => [kind, Math.round((ms[kind].p50 / ms.whoami.p50) * 100) / 100]),
  );
  return { ms, units };
}

const never = async () => false;
const service = await runService({ SERVICE_CLUSTER__ENABLED: 'false' });
try {
  await pushPages(service, pages);
  while (!(await allIndexed(service))) await new Promise((resolve) => setTimeout(resolve, 50));
  // Names are read in quiet times and beside searches: as many rounds as there is reading.
  const rounds = Array.from({ length: 20 }, () => queries).flat();
  const reading = await timed(service, rounds, () => noneLeft(service, 'extract_entities'));
  while (!(await noneLeft(service, 'extract_entities')) || !(await noneLeft(service, 'canonicalize_entities')))
    await new Promise((resolve) => setTimeout(resolve, 200));
  await service.restart();
  await timed(
    service,
    Array.from({ length: warmUps }, (_, i) => queries[i % queries.length]),
    never,
  );
  const quiet = await timed(service, queries, never);
  const beside = Object.fromEntries(
    Object.keys(kinds).map((kind) => [
      kind,
      Math.round((latency(reading[kind as Kind]).p50 / latency(quiet[kind as Kind]).p50) * 100) / 100,
    ]),
  );
  console.log(
    JSON.stringify(
      {
        bench: 'search-units',
        seed,
        machine: describeMachine(),
        pages: pages.length,
        words_per_page: wordsPerPage,
        words_per_query: wordsPerQuery,
        quiet: inUnits(quiet),
        while_reading_names: { ...inUnits(reading), times_quiet: beside },
        goals,
        resident_mb: service.residentMb(),
        anonymous_mb: service.anonymousMb(),
      },
      null,
      2,
    ),
  );
} finally {
  await service.stop();
}
