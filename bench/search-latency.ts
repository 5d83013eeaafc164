/**
 * Search over HTTP by default (reranking, three suggestions), without suggestions, and without reranking: latency and what each
 * stage takes. The texts
 * are made of English words by their frequency (every word has a vector, as in most texts) or of invented ones (none has).
 * The load generator shares the cores. Prints JSON.
 *
 *   npm run bench -- search                                      100,000 chunks, English and invented
 *   npm run bench -- search --chunks 10000 --words english    smaller
 *   npm run bench -- search --words english --keep FOLDER     keeps the data folder, and uses it if it is there
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { englishWords } from './english-words.ts';
import { fill, latency, pagesOf, timeSearches } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const wordsPerPage = 1000;
const chunksPerPage = 3;
const vocabularySize = 60_000;

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '100000' },
    words: { type: 'string', multiple: true, default: ['english', 'invented'] },
    keep: { type: 'string' },
    queries: { type: 'string', default: '300' },
  },
});
const pages = Math.ceil(Number(values.chunks) / chunksPerPage);

async function workloadOf(words: string) {
  if (words === 'invented') return openWorkload({ seed, wordsPerChunk: wordsPerPage });
  if (words !== 'english') throw new Error(`words are english or invented, not ${words}`);
  return openWorkload({ seed, wordsPerChunk: wordsPerPage, vocabulary: englishWords(vocabularySize) });
}

async function measure(words: string) {
  const workload = await workloadOf(words);
  const queries = Array.from({ length: Number(values.queries) }, (_, number) => workload.query(number).words.join(' '));
  const kept = values.keep !== undefined && existsSync(values.keep);
  const service = await runService({
    SERVICE_ENTITY__ENABLED: 'false',
    ...(values.keep === undefined ? {} : { SERVICE_DATA_DIR: values.keep }),
  });
  try {
    const filledS = kept ? null : await fill(service, pagesOf(workload), { to: pages });
    const startMs = Math.round(await service.restart());
    const byDefault = await timeSearches(service, queries, {});
    const noSuggestions = await timeSearches(service, queries, { suggest: 0 });
    const noReranking = await timeSearches(service, queries, { rerank: false, suggest: 0 });
    const health: number[] = [];
    for (let i = 0; i < 100; i++) health.push((await service.call('GET', '/healthz')).ms);
    return {
      words,
      filled_s: filledS === null ? null : Math.round(filledS),
      start_ms: startMs,
      healthz_ms: latency(health),
      by_default: byDefault,
      without_suggestions: noSuggestions,
      without_reranking_and_suggestions: noReranking,
      resident_mb: service.residentMb(),
    };
  } finally {
    await service.stop();
  }
}

const measured = [];
for (const words of values.words) measured.push(await measure(words));
console.log(
  JSON.stringify(
    {
      bench: 'search-latency',
      seed,
      machine: describeMachine(),
      pages,
      words_per_page: wordsPerPage,
      read_for_entities: false,
      measured,
    },
    null,
    2,
  ),
);
