/**
 * The handler of `eval_replay` jobs: judged queries of the log are ranked again in two ways, and both are measured against
 * what was said. It goes in slices; each is stored, so that whatever interrupts it, the next attempt goes on behind the last one.
 *
 * 1. plan, once: judged queries, newest first; repetitions of a query are one, with all that was said about it
 * 2. rank the next few queries in both arms and measure them; store that; again until the plan is done
 * 3. the job's completion stores the report
 */
import { planReplay, saveReplayed } from '../../commands/replay-queries.ts';
import { agreementAtK } from '../../compute/agreement/agree.ts';
import { replayReportOf } from '../../compute/measures/replay-report.ts';
import { gradesOf, hasPositive, measureAnswer } from '../../compute/measures/score-run.ts';
import { DomainError, JobError } from '../../domain/errors.ts';
import type { Replay, ReplayedQuery } from '../../domain/evaluation.ts';
import { defaultRrfK, type SearchRequest, searchRequest } from '../../domain/search.ts';
import type { NumberedRun } from '../../store/query-log.ts';
import type { StoreReader } from '../../store/store.ts';
import { type JobHandler, takenOver } from '../jobs/job-actor.ts';
import type { SystemAsk } from '../system/system-messages.ts';

export interface ReplayDependencies {
  ask: SystemAsk;
  reader: StoreReader;
}

/** Queries between two checkpoints: tens of ms with the embedded model. */
const sliceQueries = 8;
/** Logged runs looked at before others get their turn. */
const sliceRuns = 100;

export function replayHandler({ ask, reader }: ReplayDependencies): JobHandler {
  const makePlan = async (limit: number | null): Promise<number[][]> => {
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

  const requireModels = ({ model_a, model_b }: Replay): void => {
    for (const id of [model_a, model_b]) {
      if (reader.models.get(id)?.status !== 'ready')
        throw new JobError(`model ${id} is not ready`, { permanent: true });
    }
  };

  const replayOne = async (replay: Replay, numbers: readonly number[], signal: AbortSignal) => {
    const runs = numbers.flatMap((no) => reader.queryLog.get(no) ?? []);
    const grades = gradesOf(new Map(runs.toReversed().flatMap(({ no }) => [...reader.queryLog.feedback(no)])));
    if (runs.length === 0 || !hasPositive(grades)) return null;
    const arm = async (model: string, rerank: boolean) => {
      const request = { ...requestOf(runs[0]), candidates: replay.candidates, rerank };
      const { pages, candidates, reranker } = await ask('search.rank', { request, model }, { signal });
      const measured = measureAnswer({ ranked: pages, candidates, grades }, replay.k);
      return { pages, measured: { ...measured, reranker_model: reranker } };
    };
    try {
      const a = await arm(replay.model_a, replay.rerank_a);
      const b = await arm(replay.model_b, replay.rerank_b);
      return { a: a.measured, b: b.measured, ...agreementAtK(a.pages, b.pages, replay.k) };
    } catch (error) {
      if (error instanceof DomainError && error.code === 'not_found') return null; // its filter names nothing any more
      requireModels(replay); // a model may go while a query is ranked
      throw error;
    }
  };

  return async (job, { attempt, signal, checkpoint }) => {
    const replay = reader.replays.get(job.no);
    if (replay === undefined) throw new JobError('nobody asked for this replay', { permanent: true });
    requireModels(replay);
    const keep = async (command: ReturnType<typeof planReplay>) => {
      if (!(await checkpoint(command))) throw takenOver();
    };
    const plan = replay.plan ?? (await makePlan(replay.limit));
    if (replay.plan === null) await keep(planReplay(attempt, plan));
    for (let from = reader.replays.countResults(job.no); from < plan.length; from += sliceQueries) {
      const results: (ReplayedQuery | null)[] = [];
      for (const numbers of plan.slice(from, from + sliceQueries))
        results.push(await replayOne(replay, numbers, signal));
      await keep(saveReplayed(attempt, from, results));
    }
    const report = replayReportOf(replay, reader.replays.resultsOf(job.no));
    return ({ replays }) => replays.finish(job.no, report);
  };
}

/** The search that was logged. Ages count from now, not from then. An `rrf_k` of the default was written with every search once. */
function requestOf({ query_text, params }: NumberedRun): SearchRequest {
  const { rollup, rollup_m, recency_half_life_days, filters } = params;
  const rrf_k = params.rrf_k === defaultRrfK ? undefined : params.rrf_k;
  return searchRequest.parse({ query: query_text, rollup, rollup_m, rrf_k, recency_half_life_days, filters });
}
