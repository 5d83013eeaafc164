/**
 * The main job over HTTP, the load generator on the same cores: accepted pages/s, pages/s until indexed, search latency, health
 * while indexing, memory (resident, and without what is in files: anonymous; empty, full, and after a quiet minute), start-up.
 * Prints JSON.
 *
 *   npm run bench -- main-job                      10,000 chunks
 *   npm run bench -- main-job --chunks 100000   the size that the search target is for
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { builtInModel, modelIdOf } from '../src/domain/model.ts';
import { allIndexed, eventLoopLagP99, latency, meanwhile, pageOf, pushPages, timeSearches } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const wordsPerPage = 1000;
/** What has nothing to do for so long has let go of what it needs no more. */
const quietMs = 60_000;

const { values } = parseArgs({
  options: { chunks: { type: 'string', default: '10000' } },
});
const wantedChunks = Number(values.chunks);

const pageWords = openWorkload({ seed, wordsPerChunk: wordsPerPage });
const queries = Array.from({ length: 300 }, (_, number) => pageWords.query(number).words.join(' '));

/** What was seen beside its target. */
const against = (seen: number, target: { atMost: number } | { atLeast: number }) => ({
  seen,
  ...target,
  met: 'atMost' in target ? seen <= target.atMost : seen >= target.atLeast,
});

const pages = Array.from({ length: Math.ceil(wantedChunks / 3) }, (_, number) =>
  pageOf(number, pageWords.chunkWords(number), 'long'),
);
const service = await runService({ SERVICE_ENTITY__ENABLED: 'false' });
try {
  const memory = () => ({ resident: service.residentMb(), anonymous: service.anonymousMb() });
  const empty = memory();
  const small = openWorkload({ seed: seed + 1, wordsPerChunk: 120 });
  const smallPages = Array.from({ length: 4000 }, (_, number) => pageOf(number, small.chunkWords(number), 'small'));

  const indexing = { health: [] as number[], searches: [] as number[] };
  const began = performance.now();
  const acceptedLong = await pushPages(service, pages);
  await meanwhile(service, queries, allIndexed, indexing);
  const indexedPerS = (pages.length / (performance.now() - began)) * 1000;

  const fused = await timeSearches(service, queries, { rerank: false });
  const reranked = await timeSearches(service, queries, { rerank: true });
  const full = memory();
  const lagP99 = await eventLoopLagP99(service);
  await delay(quietMs);
  const quiet = memory();
  const restartMs = await service.restart();
  const acceptedSmall = Math.round(await pushPages(service, smallPages));
  const searchesMeanwhile = latency(indexing.searches);

  console.log(
    JSON.stringify(
      {
        bench: 'main-job',
        seed,
        machine: describeMachine(),
        model: modelIdOf(builtInModel),
        targets: {
          accepted_pages_per_s: against(acceptedSmall, { atLeast: 5000 }),
          indexed_pages_per_s: against(Math.round(indexedPerS), { atLeast: 200 }),
          search_while_indexing_p95_ms: against(searchesMeanwhile.p95, { atMost: 20 }),
          ...(wantedChunks >= 100_000 ? { search_p50_ms: against(fused.ms.p50, { atMost: 5 }) } : {}),
        },
        pages: pages.length,
        words_per_page: wordsPerPage,
        read_for_entities: false,
        accepted_pages_per_s: {
          pages_of_1_kb: acceptedSmall,
          pages_of_1000_words: Math.round(acceptedLong),
        },
        indexed_pages_per_s: Math.round(indexedPerS * 10) / 10,
        search_ms: fused.ms,
        search_stages_ms: fused.stages,
        search_reranked_ms: reranked.ms,
        search_reranked_stages_ms: reranked.stages,
        search_while_indexing_ms: searchesMeanwhile,
        healthz_while_indexing_ms: latency(indexing.health),
        memory_mb: { empty, full, quiet },
        start_ms: { empty: Math.round(service.startMs), full: Math.round(restartMs) },
        event_loop_lag_p99_s: lagP99,
      },
      null,
      2,
    ),
  );
} finally {
  await service.stop();
}
