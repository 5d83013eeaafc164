/**
 * Searches that answer with long pages, over HTTP: what a passage and a quoted phrase cost where each page has two megabytes of English
 * words by frequency, and how long /healthz, asked all the time from this process, waits beside them. Prints JSON.
 *
 *   npm run bench -- long [--pages 5 --rounds 10]
 */
import { parseArgs } from 'node:util';
import { englishWords } from './english-words.ts';
import { allIndexed, latency, pageOf, pushPages } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { type RunningService, runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
/** Some two million characters. */
const wordsPerPage = 330_000;
const warmUps = 3;
/** In each page once, behind most of its text. */
const phrase = 'zorilla stands still';

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '20' }, rounds: { type: 'string', default: '20' } },
});
const rounds = Number(values.rounds);
const vocabulary = englishWords(60_000);
const workload = openWorkload({ seed, wordsPerChunk: wordsPerPage, vocabulary });

const pages = Array.from({ length: Number(values.pages) }, (_, number) => {
  const words = workload.chunkWords(number);
  return pageOf(number, [...words.slice(0, 300_000), ...phrase.split(' '), ...words.slice(300_000)], 'long');
});

const queries = {
  plain: `zorilla ${vocabulary[200]}`,
  a_quoted_phrase: `"${phrase}"`,
  a_quoted_phrase_that_is_nowhere: `zorilla "${vocabulary.slice(20, 24).join(' ')}"`,
};

async function measure(service: RunningService, query: string) {
  const search = () => service.call('POST', '/v1/search', { query, k: 20 });
  for (let round = 0; round < warmUps; round++) await search();
  const health: number[] = [];
  let going = true;
  const watching = (async () => {
    while (going) health.push((await service.call('GET', '/healthz')).ms);
  })();
  const times: number[] = [];
  let results: { exact_match: boolean }[] = [];
  for (let round = 0; round < rounds; round++) {
    const { status, ms, body } = await search();
    if (status !== 200) throw new Error(`a search was answered ${status}: ${JSON.stringify(body)}`);
    times.push(ms);
    results = (body as { results: typeof results }).results;
  }
  going = false;
  await watching;
  const exact = results.filter(({ exact_match }) => exact_match).length;
  return { search_ms: latency(times), healthz_worst_ms: Math.max(...health), results: results.length, exact };
}

const service = await runService({ SERVICE_ENTITY__ENABLED: 'false' });
try {
  const machine = describeMachine();
  for (const page of pages) await pushPages(service, [page]);
  while (!(await allIndexed(service))) await new Promise((resolve) => setTimeout(resolve, 200));
  await service.restart();
  const measured: Record<string, unknown> = {};
  for (const [name, query] of Object.entries(queries)) measured[name] = await measure(service, query);
  const characters = pages.reduce((sum, { body_extracted }) => sum + body_extracted.length, 0) / pages.length;
  const sizes = { pages: pages.length, characters_per_page: Math.round(characters) };
  console.log(JSON.stringify({ bench: 'long-pages', seed, machine, ...sizes, measured }, null, 2));
} finally {
  await service.stop();
}
