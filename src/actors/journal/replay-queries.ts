/**
 * The handler of `eval_replay` jobs: queries are ranked in two ways, and both are measured against what is known of their pages: judged
 * queries of the log against what was said, queries made of pages against that page. It goes in slices; each is stored, so that whatever
 * interrupts it, the next attempt goes on behind the last one.
 *
 * 1. learn what each model's vectors are worth beside the words, where that is due: without it an outside model that was not
 *    active yet counts nothing
 * 2. plan, once. Log: judged queries, newest first; repetitions of a query are one, with all that was said about it. Library: pages by
 *    chance, each once, and the seed of a query; no text, so that nothing of a forgotten page stays in it
 * 3. rank the next few queries in both arms, by turns either first, and measure them; store that; again until the plan is done
 * 4. the job's completion stores the report
 */
import { planReplay, saveReplayed } from '../../commands/replay-queries.ts';
import { agreementAtK } from '../../compute/agreement/agree.ts';
import { replayReportOf } from '../../compute/measures/replay-report.ts';
import { gradesOf, hasPositive, measureAnswer } from '../../compute/measures/score-run.ts';
import { seededRandom } from '../../compute/seeded-random.ts';
import { DomainError, JobError } from '../../domain/errors.ts';
import type { Replay, ReplayedQuery } from '../../domain/evaluation.ts';
import { vectorBytes } from '../../domain/known-models.ts';
import { defaultRrfK, type SearchRequest, searchRequest } from '../../domain/search.ts';
import type { Embedders } from '../../providers/embedders.ts';
import type { NumberedRun } from '../../store/query-log.ts';
import type { StoreReader } from '../../store/store.ts';
import { type JobContext, type JobHandler, takenOver } from '../jobs/job-actor.ts';
import { countPages } from '../models/backfill-slices.ts';
import { costOf } from '../models/estimate-backfill.ts';
import { fusionLearner, isLearningDue } from '../models/learn-fusion.ts';
import { measuringQuery } from '../models/page-queries.ts';
import { commitThrough, type SystemAsk } from '../system/system-messages.ts';

export interface ReplayDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  embedders: Pick<Embedders, 'queryVectors'>;
  /** US dollars for a million tokens, by name of the model. */
  prices: Readonly<Record<string, number>>;
  /** Ms, for what lasts. */
  monotonic: () => number;
}

/** A query, and what is known of its pages. */
interface JudgedQuery {
  request: SearchRequest;
  grades: Map<number, number>;
}

/** Queries between two checkpoints: tens of ms with the embedded model. */
const sliceQueries = 8;
/** Logged runs looked at before others get their turn. */
const sliceRuns = 100;
/** Queries of the library where none are asked for: a difference of .05 in nDCG shows. */
const usualQueries = 200;
/** Pages that are looked at for a query, at most. */
const triesEach = 8;
/** Pages looked at before others get their turn. */
const slicePages = 20;
/** Other queries than those from which weights are learned, whose seeds count from 1; the same for every pair of models. */
const planSeed = 0x7e57;
/** When a model whose provider did not answer is tried again, ms. */
const retryAfterMs = 30_000;

export function replayHandler({ ask, reader, embedders, prices, monotonic }: ReplayDependencies): JobHandler {
  const learn = fusionLearner({ ask, reader, embedders, commit: commitThrough(ask) });

  const planOfLog = async (limit: number | null): Promise<number[][]> => {
    const byQuery = new Map<string, number[]>();
    for (let after = 0; ; ) {
      const numbers = reader.queryLog.judgedAfter(after, sliceRuns);
      if (numbers.length === 0) break;
      for (const no of numbers) {
        const run = reader.queryLog.get(no);
        if (run === undefined || !hasPositive(gradesOf(reader.queryLog.feedback(no)))) continue;
        const key = JSON.stringify([run.query_text, run.params.filters ?? null]);
        byQuery.set(key, [no, ...(byQuery.get(key) ?? [])]);
      }
      after = numbers[numbers.length - 1];
      await new Promise(setImmediate);
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

  /** Null for one that cannot be asked any more. */
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
      if (error instanceof DomainError && error.code === 'not_found') return null; // its filter names nothing any more
      requireModels(replay); // a model may go while a query is ranked
      throw error;
    }
  };

  const learnDue = async ({ model_a, model_b }: Replay, { signal, goOn }: JobContext) => {
    for (const id of new Set([model_a, model_b])) {
      const model = reader.models.get(id);
      if (model === undefined || !isLearningDue(model, reader.pages.count())) continue;
      if (await learn(model, signal, goOn)) continue;
      signal.throwIfAborted();
      throw new JobError(`what ${id} is worth beside the words cannot be learned now`, { retryAfterMs });
    }
  };

  /** What a model's vectors of the library take. */
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
    if (replay === undefined) throw new JobError('nobody asked for this replay', { permanent: true });
    requireModels(replay);
    const keep = async (command: ReturnType<typeof planReplay>) => {
      if (!(await checkpoint(command))) throw takenOver();
    };
    await learnDue(replay, context);
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

/** The search that was logged. Ages count from now, not from then. An `rrf_k` of the default was written with every search once. */
function requestOf({ query_text, params }: NumberedRun): SearchRequest {
  const { rollup, rollup_m, recency_half_life_days, filters } = params;
  const rrf_k = params.rrf_k === defaultRrfK ? undefined : params.rrf_k;
  return searchRequest.parse({ query: query_text, rollup, rollup_m, rrf_k, recency_half_life_days, filters });
}
