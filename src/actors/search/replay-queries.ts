/**
 * The handler of `eval_replay` jobs: ranks queries in two ways and measures both, in slices with checkpoints.
 * 1. plan: judged queries of the log, without repetitions; or random pages and a seed, so that no page text is stored
 * 2. rank the next queries in both arms, alternating which is first; measure and store; until the plan is done
 * 3. the job's completion stores the report
 */
import { planReplay, saveReplayed } from '../../commands/log-queries.ts';
import { agreementAtK } from '../../compute/ranking/agree.ts';
import { pseudoQuery, withoutOneWord } from '../../compute/ranking/pseudo-queries.ts';
import { replayReportOf } from '../../compute/ranking/replay-report.ts';
import { gradesOf, hasPositive, measureAnswer } from '../../compute/ranking/score-run.ts';
import { seededRandom } from '../../compute/seeded-random.ts';
import { DomainError, JobError } from '../../domain/errors.ts';
import type { Replay, ReplayedQuery } from '../../domain/evaluation.ts';
import { vectorBytes } from '../../domain/known-models.ts';
import { defaultRrfK, type SearchRequest, searchRequest } from '../../domain/search.ts';
import type { NumberedRun } from '../../store/query-log.ts';
import type { StoreReader } from '../../store/store.ts';
import { countPages } from '../models/backfill-slices.ts';
import { costOf } from '../models/estimate-backfill.ts';
import { inParts } from '../system/background.ts';
import { type JobHandler, takenOver } from '../system/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';

interface ReplayDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'monotonic'> {
  /** US dollars per million tokens, by model name. */
  prices: Readonly<Record<string, number>>;
}

interface JudgedQuery {
  request: SearchRequest;
  grades: Map<number, number>;
}

/** Queries per checkpoint: tens of ms with the built-in model. */
const sliceQueries = 8;
const sliceRuns = 100;
/** Default number of library queries: enough to show a difference of .05 in nDCG. */
const usualQueries = 200;
const triesEach = 8;
const slicePages = 20;
/** The same queries for every pair of models. */
const planSeed = 0x7e57;

export function replayHandler({ ask, reader, prices, monotonic }: ReplayDependencies): JobHandler {
  const planOfLog = async (limit: number | null): Promise<number[][]> => {
    const byQuery = new Map<string, number[]>();
    for await (const numbers of inParts((after) => reader.queryLog.judgedAfter(after, sliceRuns), Number)) {
      for (const no of numbers) {
        const run = reader.queryLog.get(no);
        if (run === undefined || !hasPositive(gradesOf(reader.queryLog.feedback(no)))) continue;
        const key = JSON.stringify([run.query_text, run.params.filters ?? null]);
        byQuery.set(key, [no, ...(byQuery.get(key) ?? [])]);
      }
    }
    const newestFirst = [...byQuery.values()].sort(([a], [b]) => b - a);
    return limit === null ? newestFirst : newestFirst.slice(0, limit);
  };

  const planOfLibrary = async (limit: number): Promise<number[][]> => {
    const random = seededRandom(planSeed);
    const end = reader.counters.peek('page');
    const plan = new Map<number, number>();
    for (let tried = 1; plan.size < limit && tried <= triesEach * Math.min(limit, end); tried++) {
      const no = 1 + Math.floor(random() * (end - 1));
      const seed = Math.floor(random() * 2 ** 32);
      if (!plan.has(no) && measuringQuery(reader, no, seededRandom(seed)) !== null) plan.set(no, seed);
      if (tried % slicePages === 0) await new Promise(setImmediate);
    }
    return [...plan];
  };

  const requireModels = ({ model_a, model_b }: Replay): void => {
    for (const id of [model_a, model_b]) {
      if (reader.models.get(id)?.status !== 'ready')
        throw new JobError(`model ${id} is not ready`, { permanent: true });
    }
  };

  /** Null if the query can no longer be ranked. */
  const queryOf = ({ source }: Replay, [first, ...rest]: readonly number[]): JudgedQuery | null => {
    if (source === 'library') {
      const query = measuringQuery(reader, first, seededRandom(rest[0]));
      return query === null ? null : { request: searchRequest.parse({ query }), grades: new Map([[first, 1]]) };
    }
    const runs = [first, ...rest].flatMap((no) => reader.queryLog.get(no) ?? []);
    const grades = gradesOf(new Map(runs.toReversed().flatMap(({ no }) => [...reader.queryLog.feedback(no)])));
    return runs.length === 0 || !hasPositive(grades) ? null : { request: requestOf(runs[0]), grades };
  };

  const replayOne = async (replay: Replay, planned: readonly number[], aFirst: boolean, signal: AbortSignal) => {
    const query = queryOf(replay, planned);
    if (query === null) return null;
    const arm = async (model: string, rerank: boolean, isLocal = false) => {
      const request = { ...query.request, candidates: replay.candidates, rerank };
      const began = monotonic();
      const { pages, candidates, reranker } = await ask('search.rank', { request, model, isLocal }, { signal });
      const ms = monotonic() - began;
      const measured = measureAnswer({ ranked: pages, candidates, grades: query.grades }, replay.k);
      return { pages, measured: { ...measured, reranker_model: reranker, ms } };
    };
    const armA = () => arm(replay.model_a, replay.rerank_a, replay.rerank_locally_a);
    const armB = () => arm(replay.model_b, replay.rerank_b, replay.rerank_locally_b);
    try {
      const early = aFirst ? await armA() : await armB();
      const late = aFirst ? await armB() : await armA();
      const [a, b] = aFirst ? [early, late] : [late, early];
      return { a: a.measured, b: b.measured, ...agreementAtK(a.pages, b.pages, replay.k) };
    } catch (error) {
      if (error instanceof DomainError && error.code === 'not_found') return null; // its filter is gone
      requireModels(replay); // a model may be deleted while a query is ranked
      throw error;
    }
  };

  const costsOf = (id: string, { chunks, tokens }: { chunks: number; tokens: number }) => {
    const model = reader.models.get(id);
    if (model === undefined) return {};
    const pages = reader.pages.count();
    return {
      vectors_bytes: vectorBytes(model.dim, chunks),
      cost_usd_per_1000_pages: pages === 0 ? 0 : costOf((1000 * tokens) / pages, model, prices),
    };
  };

  return async (job, context) => {
    const { attempt, signal, checkpoint } = context;
    const replay = reader.replays.get(job.no);
    if (replay === undefined) throw new JobError('this job has no replay', { permanent: true });
    requireModels(replay);
    const keep = async (command: ReturnType<typeof planReplay>) => {
      if (!(await checkpoint(command))) throw takenOver();
    };
    const { source, limit } = replay;
    const makePlan = () => (source === 'library' ? planOfLibrary(limit ?? usualQueries) : planOfLog(limit));
    const plan = replay.plan ?? (await makePlan());
    if (replay.plan === null) await keep(planReplay(attempt, plan));
    for (let from = reader.replays.countResults(job.no); from < plan.length; from += sliceQueries) {
      const results: (ReplayedQuery | null)[] = [];
      for (const [at, planned] of plan.slice(from, from + sliceQueries).entries())
        results.push(await replayOne(replay, planned, at % 2 === 0, signal));
      await keep(saveReplayed(attempt, from, results));
    }
    const counts = await countPages(reader, signal);
    const { a, b, ...rest } = replayReportOf(replay, reader.replays.resultsOf(job.no));
    const report = {
      ...rest,
      a: { ...a, ...costsOf(a.model, counts) },
      b: { ...b, ...costsOf(b.model, counts) },
    };
    return ({ replays }) => replays.finish(job.no, report);
  };
}

/** The logged search. Ages count from now. Earlier versions logged the default `rrf_k` with every search. */
function requestOf({ query_text, params }: NumberedRun): SearchRequest {
  const { rollup, rollup_m, recency_half_life_days, filters } = params;
  const rrf_k = params.rrf_k === defaultRrfK ? undefined : params.rrf_k;
  return searchRequest.parse({ query: query_text, rollup, rollup_m, rrf_k, recency_half_life_days, filters });
}

/** UTF-16 units from which the sentence is taken. */
const stretch = 4000;
const maxLength = 4000;

/** A query for the page; null if it is gone or has too few words. Drops a word, because a whole title is too easy. */
function measuringQuery(reader: StoreReader, no: number, random: () => number): string | null {
  const page = reader.pages.head(no);
  if (page === undefined || page.chunk_count === 0) return null;
  const length = reader.pages.bodyLength(no) ?? 0;
  const from = Math.floor(random() * Math.max(1, length - stretch));
  const text = reader.pages.bodySlice(no, from, from + stretch);
  const sections = reader.pages.sections(no);
  const section = sections[Math.floor(random() * sections.length)]?.title ?? null;
  const query = pseudoQuery(
    { title: withoutOneWord(page.title, random), section: withoutOneWord(section, random), text },
    random,
  );
  return query?.slice(0, maxLength) ?? null;
}
