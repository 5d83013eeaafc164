/**
 * What a search costs in units of the cheapest request: medians of `POST /v1/search` over that of `GET /v1/whoami`, by one client in one run, so
 * that machines compare. Pages of English words, all with vectors; queries of three words, each asked first without its vector (`new`), then
 * with the vector known (`known`). Kinds: by default, without reranking, and as one types (`prefix`, words alone). The kinds take turns, query by
 * query. The load generator shares the cores. Prints JSON: medians of the runs.
 *
 *   npm run bench -- units                            1,500 pages of 330 words, three runs
 *   npm run bench -- units --pages 5000 --words 960 --encoder test/fixtures/encoder
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ModelListResponse } from '../src/domain/model.ts';
import { englishWords } from './english-words.ts';
import { fill, latency, pageOf } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { type RunningService, runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const wordsPerQuery = 3;
const warmUps = 100;
const lookMs = 500;
/** At most, in units. */
const goals = {
  new: { default: 12, without_reranking: 10 },
  known: { default: 6, without_reranking: 6, as_you_type: 4 },
};

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '1500' },
    words: { type: 'string', default: '330' },
    queries: { type: 'string', default: '100' },
    runs: { type: 'string', default: '3' },
    encoder: { type: 'string' },
  },
});
const [pages, wordsPerPage, count, runs] = [values.pages, values.words, values.queries, values.runs].map(Number);
const workload = openWorkload({ seed, wordsPerChunk: wordsPerPage, vocabulary: englishWords(60_000) });
const queryAt = (number: number) => workload.query(number).words.slice(0, wordsPerQuery).join(' ');

const kinds = {
  default: {},
  without_reranking: { rerank: false },
  as_you_type: { rerank: false, suggest: 0, prefix: true },
} as const;
type Kind = keyof typeof kinds;

async function timed(service: RunningService, from: number, queries: number) {
  const whoami: number[] = [];
  const times: Record<'new' | 'known', Partial<Record<Kind, number[]>>> = { new: {}, known: {} };
  const search = async (kind: Kind, state: 'new' | 'known', query: string) => {
    const { status, ms } = await service.call('POST', '/v1/search', { ...kinds[kind], query });
    if (status !== 200) throw new Error(`a search was answered ${status}`);
    times[state][kind] = [...(times[state][kind] ?? []), ms];
  };
  for (let number = from; number < from + 2 * queries; number += 2) {
    const [one, other] = [queryAt(number), queryAt(number + 1)];
    whoami.push((await service.call('GET', '/v1/whoami')).ms);
    await search('default', 'new', one);
    await search('without_reranking', 'new', other);
    await search('default', 'known', other);
    await search('without_reranking', 'known', one);
    await search('as_you_type', 'known', one);
  }
  const unit = latency(whoami);
  const ofState = (state: 'new' | 'known') =>
    Object.fromEntries(
      Object.entries(times[state]).map(([kind, each]) => {
        const ms = latency(each);
        return [kind, { units: Math.round((100 * ms.p50) / unit.p50) / 100, p50_ms: ms.p50, p95_ms: ms.p95 }];
      }),
    );
  return { whoami_ms: unit.p50, new: ofState('new'), known: ofState('known') };
}

async function vectorsPending(service: RunningService): Promise<number> {
  const { models } = (await service.call('GET', '/v1/models')).body as ModelListResponse;
  return models.find(({ is_active }) => is_active)?.vectors_pending ?? 0;
}

const service = await runService({
  SERVICE_CLUSTER__ENABLED: 'false',
  ...(values.encoder === undefined ? {} : { SERVICE_ENCODER__DIR: resolve(values.encoder) }),
});
try {
  await fill(service, (number) => pageOf(number, workload.chunkWords(number), 'bench'), { to: pages });
  while ((await vectorsPending(service)) > 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
  await service.restart();
  await timed(service, 0, warmUps);
  const all: Awaited<ReturnType<typeof timed>>[] = [];
  for (let run = 0; run < runs; run++) all.push(await timed(service, 2 * (warmUps + run * count), count));
  const median = (of: (run: (typeof all)[number]) => number) => latency(all.map(of)).p50;
  const units = (state: 'new' | 'known') =>
    Object.fromEntries(Object.keys(all[0][state]).map((kind) => [kind, median((run) => run[state][kind].units)]));
  console.log(
    JSON.stringify(
      {
        ...{ bench: 'search-units', seed, machine: describeMachine(), pages, words_per_page: wordsPerPage },
        words_per_query: wordsPerQuery,
        encoder: values.encoder ?? 'shipped',
        units: { new: units('new'), known: units('known') },
        goals,
        runs: all,
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
