/**
 * One measurement of one engine, in a process of its own: `node --expose-gc measure.js <engine module> <data folder> <index
 * folder> <build|restart>`. `build` fills an empty folder and asks all queries; `restart` opens what `build` left. Prints one
 * line of JSON.
 */
import { peakResidentMb, residentMb } from './process-memory.ts';

const emptyMb = await residentMb();

const { SHARES, bucketOf, bucketsOf } = await import('./allowed.ts');
const { isDeleted, readData, readQueries, readTruth, TOP } = await import('./data-folder.ts');
const { latencyOf, mean, rounded, recallOf, sameList } = await import('./statistics.ts');
type Search = import('./bench-engine.ts').Search;

/** Rounds over all queries that are timed, and seconds after which no further round begins. */
const ROUNDS = 5;
const ROUNDS_S = 4;
/** Rounds and seconds before that, so that every thread runs compiled code; they go to all ways to ask in turn. */
const WARM_UP_ROUNDS = 3;
const WARM_UP_S = 3;
/** Whole rankings of the dense side that filtered searches are compared with. */
const RANKINGS = 30;

const [modulePath, dataDir, indexDir, phase] = process.argv.slice(2);
const data = await readData(dataDir);
const { open } = (await import(modulePath)) as import('./bench-engine.ts').EngineModule;
const queries = await readQueries(data);
const truth = await readTruth(data);
const report = phase === 'build' ? await build() : await restart();
console.log(JSON.stringify(report));
process.exit(0);

async function build(): Promise<object> {
  const engine = await open(indexDir, data);
  const built = await engine.build(data);
  await warmUp(engine.searches);
  const search_ms: Record<string, unknown> = {};
  for (const [name, search] of Object.entries(engine.searches)) search_ms[name] = await time(search);
  const rss = await residentMb();
  const quality = await judge(engine.searches);
  const rankings: number[][] = [];
  if (engine.denseRanking !== undefined) {
    for (const query of queries.slice(0, RANKINGS)) rankings.push(Array.from(await engine.denseRanking(query)));
  }
  const filters = [];
  for (const share of engine.filtered === undefined ? [] : SHARES) {
    const searches = engine.filtered?.(share) ?? {};
    const times: Record<string, unknown> = {};
    for (const [name, search] of Object.entries(searches)) times[name] = await time(search, 1);
    filters.push({ share, search_ms: times, ...(await judgeFiltered(searches, share, rankings)) });
  }
  const footprint = await engine.footprint();
  await engine.close();
  return {
    build: {
      ...built,
      searchable_chunks_per_s: Math.round(data.chunks / built.searchable_s),
      settled_chunks_per_s: Math.round(data.chunks / built.settled_s),
    },
    search_ms,
    quality,
    filters: Object.fromEntries(filters.map(({ share, ...rest }) => [String(share), rest])),
    memory: { empty_mb: emptyMb, over_empty_mb: rss - emptyMb, peak_over_empty_mb: peakResidentMb() - emptyMb },
    footprint,
  };
}

async function restart(): Promise<object> {
  const began = performance.now();
  const engine = await open(indexDir, data);
  const whole = engine.searches.hybrid === undefined ? 'sparse' : 'hybrid';
  await engine.searches[whole](queries[0]);
  const readyMs = performance.now() - began;
  await warmUp({ [whole]: engine.searches[whole] });
  const search_ms = { [whole]: await time(engine.searches[whole], 1) };
  const rss = await residentMb();
  const after_deletion = engine.remove === undefined ? undefined : await judgeDeletion(engine.remove, engine.searches);
  await engine.close();
  return { ready_s: rounded(readyMs / 1000), search_ms, memory: { over_empty_mb: rss - emptyMb }, after_deletion };
}

async function warmUp(searches: Readonly<Record<string, Search>>): Promise<void> {
  const began = performance.now();
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    for (const query of queries) {
      if (performance.now() - began > WARM_UP_S * 1000) return;
      for (const search of Object.values(searches)) await search(query);
    }
  }
}

async function time(search: Search, rounds = ROUNDS): Promise<object> {
  const times: number[] = [];
  const cpu = process.cpuUsage();
  const began = performance.now();
  for (let round = 0; round < rounds && performance.now() - began < ROUNDS_S * 1000; round++) {
    for (const query of queries) {
      const asked = performance.now();
      await search(query);
      times.push(performance.now() - asked);
    }
  }
  const { user, system } = process.cpuUsage(cpu);
  return { ...latencyOf(times), cpu_ms: rounded((user + system) / 1000 / times.length) };
}

async function judge({ dense, sparse }: Readonly<Record<string, Search>>): Promise<object> {
  const judged_queries = truth.dense.length;
  const nearest = dense === undefined ? undefined : await answers(dense, judged_queries);
  const ranked = sparse === undefined ? undefined : await answers(sparse, judged_queries);
  return {
    judged_queries,
    ...(nearest === undefined ? {} : { dense_recall: recall(nearest, truth.dense) }),
    ...(ranked === undefined
      ? {}
      : { sparse_equal: equality(ranked, truth.sparse), sparse_overlap: recall(ranked, truth.sparse) }),
  };
}

/** Against the same search without the filter, all of its answers, filtered afterwards. */
async function judgeFiltered(
  { dense, sparse, hybrid }: Readonly<Record<string, Search>>,
  share: number,
  rankings: readonly number[][],
): Promise<object> {
  const expected = truth.filtered.find((each) => each.share === share);
  if (expected === undefined) throw new Error(`no reference for the filter of ${share}`);
  const isAllowed = (chunk: number) => bucketOf(chunk) < bucketsOf(share);
  const judged = truth.dense.length;
  const fused = await answers(hybrid, judged);
  const nearest = await answers(dense, judged);
  const heads = rankings.map((ranking) => ranking.filter(isAllowed).slice(0, TOP));
  return {
    hits_outside: fused.flat().filter((chunk) => !isAllowed(chunk)).length,
    dense_recall: recall(nearest, expected.dense),
    ...(heads.length === 0 ? {} : { dense_equals_own_ranking: equality(nearest, heads.slice(0, judged)) }),
    sparse_equal: equality(await answers(sparse, judged), expected.sparse),
  };
}

async function judgeDeletion(
  remove: (chunks: readonly number[]) => Promise<void>,
  { sparse, hybrid }: Readonly<Record<string, Search>>,
): Promise<object> {
  const gone = Array.from({ length: data.chunks }, (_, chunk) => chunk).filter(isDeleted);
  await remove(gone);
  const judged = truth.sparseAfterDeletion.length;
  const fused = await answers(hybrid, judged);
  return {
    deleted: gone.length,
    deleted_found: fused.flat().filter(isDeleted).length,
    sparse_equal: equality(await answers(sparse, judged), truth.sparseAfterDeletion),
  };
}

/** Answers to the first queries, as many as are judged. */
async function answers(search: Search, count: number): Promise<number[][]> {
  const found = [];
  for (const query of queries.slice(0, count)) found.push(Array.from(await search(query)));
  return found;
}

function recall(found: readonly number[][], expected: readonly number[][]): number {
  return rounded(mean(expected.map((labels, number) => recallOf(found[number], labels))));
}

function equality(found: readonly number[][], expected: readonly number[][]): number {
  return rounded(mean(expected.map((labels, number) => Number(sameList(found[number], labels)))));
}
