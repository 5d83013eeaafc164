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
type BenchQuery = import('./data-folder.ts').BenchQuery;
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
  await engine.searches[engine.searches.hybrid === undefined ? 'sparse' : 'hybrid'](queries[0]);
  const readyMs = performance.now() - began;
  await warmUp(engine.searches);
  const search_ms: Record<string, unknown> = {};
  for (const [name, search] of Object.entries(engine.searches)) search_ms[name] = await time(search, 1);
  const rss = await residentMb();
  const afterDeletion =
    engine.remove === undefined ? {} : { after_deletion: await judgeDeletion(engine.remove, engine.searches) };
  await engine.close();
  return { ready_s: rounded(readyMs / 1000), search_ms, memory: { over_empty_mb: rss - emptyMb }, ...afterDeletion };
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

async function judge(searches: Readonly<Record<string, Search>>): Promise<object> {
  const { dense, sparse } = searches;
  return {
    judged_queries: truth.dense.length,
    ...(dense === undefined ? {} : { dense_recall: rounded(mean(await recalls(dense, truth.dense))) }),
    ...(sparse === undefined
      ? {}
      : {
          sparse_equal: rounded(mean(await equalities(sparse, truth.sparse))),
          sparse_overlap: rounded(mean(await recalls(sparse, truth.sparse))),
        }),
  };
}

/** Against the same search without the filter, all of its answers, filtered afterwards. */
async function judgeFiltered(
  searches: Readonly<Record<string, Search>>,
  share: number,
  rankings: readonly number[][],
): Promise<object> {
  const expected = truth.filtered.find((each) => each.share === share);
  if (expected === undefined) throw new Error(`no reference for the filter of ${share}`);
  const { dense, sparse, hybrid } = searches;
  const foreign = async (query: BenchQuery) =>
    Array.from(await hybrid(query)).filter((chunk) => bucketOf(chunk) >= bucketsOf(share)).length;
  let outside = 0;
  if (hybrid !== undefined) for (const query of queries) outside += await foreign(query);
  return {
    ...(hybrid === undefined ? {} : { hits_outside: outside }),
    ...(dense === undefined
      ? {}
      : {
          dense_recall: rounded(mean(await recalls(dense, expected.dense))),
          ...(rankings.length === 0 ? {} : { dense_equals_own_ranking: await agreement(dense, share, rankings) }),
        }),
    ...(sparse === undefined ? {} : { sparse_equal: rounded(mean(await equalities(sparse, expected.sparse))) }),
  };
}

/** Share of queries whose filtered search gives the head of their own whole ranking, filtered afterwards. */
async function agreement(search: Search, share: number, rankings: readonly number[][]): Promise<number> {
  const heads = rankings.map((ranking) => ranking.filter((chunk) => bucketOf(chunk) < bucketsOf(share)).slice(0, TOP));
  return rounded(mean(await equalities(search, heads)));
}

async function judgeDeletion(
  remove: (chunks: readonly number[]) => Promise<void>,
  { sparse, hybrid }: Readonly<Record<string, Search>>,
): Promise<object> {
  const gone = Array.from({ length: data.chunks }, (_, chunk) => chunk).filter(isDeleted);
  await remove(gone);
  let deletedFound = 0;
  for (const query of queries) deletedFound += Array.from(await hybrid(query)).filter(isDeleted).length;
  return {
    deleted: gone.length,
    deleted_found: deletedFound,
    sparse_equal: rounded(mean(await equalities(sparse, truth.sparseAfterDeletion))),
  };
}

async function recalls(search: Search, expected: readonly number[][]): Promise<number[]> {
  const found = [];
  for (const [number, labels] of expected.entries()) found.push(recallOf(await search(queries[number]), labels));
  return found;
}

async function equalities(search: Search, expected: readonly number[][]): Promise<number[]> {
  const found = [];
  for (const [number, labels] of expected.entries()) {
    found.push(Number(sameList(await search(queries[number]), labels)));
  }
  return found;
}
