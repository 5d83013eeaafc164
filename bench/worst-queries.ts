/**
 * The dearest searches that the contract allows, over HTTP at 10,000 chunks of English words: one common word as often as it
 * fits, as many distinct common words as fit, 1,000 candidates, 100 pages, batches of 20, a filter that one page passes; plain
 * searches and /healthz go on beside them on a connection of their own. Prints JSON; leaves with code 1 where a search's p99 is
 * not below the bound.
 *
 *   npm run bench -- worst [--chunks 2000 --rounds 20 --keep FOLDER]
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { englishWords } from './english-words.ts';
import { allIndexed, latency, pageOf, pushPages } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { type RunningService, runService } from './running-service.ts';
import { openWorkload } from './workload.ts';

const seed = 42;
const boundMs = 300;
const maxCharacters = 4000;
const wordsPerPage = 1000;
const chunksPerPage = 3;
const warmUps = 3;

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '50' },
    keep: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const pages = Math.ceil(Number(values.chunks) / chunksPerPage);

const vocabulary = englishWords(60_000);
const workload = openWorkload({ seed, wordsPerChunk: wordsPerPage, vocabulary });

/** As many of the words as a query may be long. */
function joined(words: Iterable<string>): string {
  let text = '';
  for (const word of words) {
    if (text.length + 1 + word.length > maxCharacters) break;
    text += text === '' ? word : ` ${word}`;
  }
  return text;
}

/** Other words each round, so that nothing is remembered of the one before. */
const shapes: Record<string, (round: number) => { path: string; body: object }> = {
  one_common_word_4000_characters: (round) =>
    search({ query: joined(Array(maxCharacters).fill(vocabulary[150 + round])) }),
  distinct_common_words_4000_characters: (round) => search({ query: joined(vocabulary.slice(round, round + 1000)) }),
  the_same_with_1000_candidates_and_100_pages: (round) =>
    search({ query: joined(vocabulary.slice(round, round + 1000)), candidates: 1000, k: 100, chunks_per_page: 10 }),
  plain_with_1000_candidates_and_100_pages: (round) =>
    search({ query: plain(round), candidates: 1000, k: 100, chunks_per_page: 10, suggest: 10 }),
  a_filter_that_one_page_passes: (round) =>
    search({ query: joined(vocabulary.slice(round, round + 1000)), filters: { domain: 'alone.example' } }),
};

function plain(number: number): string {
  return workload.query(number).words.join(' ');
}

function search(body: object) {
  return { path: '/v1/search', body };
}

function batch(round: number) {
  return { path: '/v1/search/batch', body: { queries: Array.from({ length: 20 }, (_, i) => plain(20 * round + i)) } };
}

async function timed(service: RunningService, { path, body }: { path: string; body: object }): Promise<number> {
  const { status, ms, body: answer } = await service.call('POST', path, body);
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(answer)}`);
  return ms;
}

/** Plain searches and health, one after the other, until told to stop. */
function beside(service: RunningService) {
  const searches: number[] = [];
  const health: number[] = [];
  let going = true;
  const run = async () => {
    for (let number = 0; going; number++) {
      searches.push(await timed(service, search({ query: plain(number % 300) })));
      health.push((await service.call('GET', '/healthz')).ms);
    }
  };
  const running = run();
  return async () => {
    going = false;
    await running;
    return { search_ms: latency(searches), healthz_ms: latency(health) };
  };
}

async function measure(service: RunningService, shape: (round: number) => { path: string; body: object }) {
  for (let round = 0; round < warmUps; round++) await timed(service, shape(round));
  const alone: number[] = [];
  for (let round = 0; round < rounds; round++) alone.push(await timed(service, shape(warmUps + round)));
  const stop = beside(service);
  const together: number[] = [];
  for (let round = 0; round < rounds; round++) together.push(await timed(service, shape(warmUps + rounds + round)));
  return { alone: latency(alone), with_others: latency(together), others: await stop() };
}

const kept = values.keep !== undefined && existsSync(values.keep);
const service = await runService({
  SERVICE_ENTITY__ENABLED: 'false',
  ...(values.keep === undefined ? {} : { SERVICE_DATA_DIR: values.keep }),
});
try {
  if (!kept) {
    const alone = pageOf(pages, workload.chunkWords(pages), 'alone');
    const others = Array.from({ length: pages - 1 }, (_, page) => pageOf(page, workload.chunkWords(page), 'bench'));
    await pushPages(service, [alone, ...others]);
    while (!(await allIndexed(service))) await new Promise((resolve) => setTimeout(resolve, 200));
    await service.restart();
  }
  const measured: Record<string, Awaited<ReturnType<typeof measure>>> = {};
  for (const [name, shape] of Object.entries(shapes)) measured[name] = await measure(service, shape);
  // A batch is twenty searches, one after the other: its share of one is what is bounded.
  const batches = await measure(service, batch);
  const over = Object.entries(measured).filter(([, { alone }]) => alone.p99 >= boundMs);
  console.log(
    JSON.stringify(
      {
        bench: 'worst-queries',
        seed,
        machine: describeMachine(),
        pages,
        words_per_page: wordsPerPage,
        read_for_entities: false,
        bound_ms: boundMs,
        measured,
        batches_of_20: batches,
        over_the_bound: over.map(([name]) => name),
      },
      null,
      2,
    ),
  );
  if (over.length > 0) process.exitCode = 1;
} finally {
  await service.stop();
}
