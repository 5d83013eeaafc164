/**
 * The handler of `eval_replay` jobs: ranks judged queries in two ways and measures both against their feedback. Works in slices with
 * checkpoints.
 *
 * 1. plan, once: judged queries, newest first, merging repetitions and their feedback
 * 2. rank the next queries in both arms, measure and store; until the plan is done
 * 3. the job's completion stores the report
 */
import { planReplay, saveReplayed } from '../../commands/log-queries.ts';
import { agreementAtK } from '../../compute/ranking/agree.ts';
import { replayReportOf } from '../../compute/ranking/replay-report.ts';
import { gradesOf, hasPositive, measureAnswer } from '../../compute/ranking/score-run.ts';
import { DomainError, JobError } from '../../domain/errors.ts';
import type { Replay, ReplayedQuery } from '../../domain/evaluation.ts';
import { defaultRrfK, type SearchRequest, searchRequest } from '../../domain/search.ts';
import type { NumberedRun } from '../../store/query-log.ts';
import { inParts } from '../system/background.ts';
import { type JobHandler, takenOver } from '../system/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';

interface JudgedQuery {
  request: SearchRequest;
  grades: Map<number, number>;
}

/** Queries per checkpoint: tens of ms with the built-in model. */
const sliceQueries = 8;
/** Per turn. */
const sliceRuns = 100;

export function replayHandler({ ask, reader }: Pick<LibraryParts, 'ask' | 'reader'>): JobHandler {
  const makePlan = async (limit: number | null): Promise<number[][]> => {
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

  const requireModels = ({ model_a, model_b }: Replay): void => {
    for (const id of [model_a, model_b]) {
      if (reader.models.get(id)?.status !== 'ready')
        throw new JobError(`model ${id} is not ready`, { permanent: true });
    }
  };

  /** Null if it can no longer be asked. */
  const queryOf = (planned: readonly number[]): JudgedQuery | null => {
    const runs = planned.flatMap((no) => reader.queryLog.get(no) ?? []);
    const grades = gradesOf(new Map(runs.toReversed().flatMap(({ no }) => [...reader.queryLog.feedback(no)])));
    return runs.length === 0 || !hasPositive(grades) ? null : { request: requestOf(runs[0]), grades };
  };

  const replayOne = async (replay: Replay, planned: readonly number[], signal: AbortSignal) => {
    const query = queryOf(planned);
    if (query === null) return null;
    const arm = async (model: string, rerank: boolean) => {
      const request = { ...query.request, candidates: replay.candidates, rerank };
      const { pages, candidates, reranker } = await ask('search.rank', { request, model }, { signal });
      const measured = measureAnswer({ ranked: pages, candidates, grades: query.grades }, replay.k);
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

  return async (job, context) => {
    const { attempt, signal, checkpoint } = context;
    const replay = reader.replays.get(job.no);
    if (replay === undefined) throw new JobError('nobody asked for this replay', { permanent: true });
    if (replay.source === 'library') throw new JobError('queries are no longer made of pages', { permanent: true });
    requireModels(replay);
    const keep = async (command: ReturnType<typeof planReplay>) => {
      if (!(await checkpoint(command))) throw takenOver();
    };
    const plan = replay.plan ?? (await makePlan(replay.limit));
    if (replay.plan === null) await keep(planReplay(attempt, plan));
    for (let from = reader.replays.countResults(job.no); from < plan.length; from += sliceQueries) {
      const results: (ReplayedQuery | null)[] = [];
      for (const planned of plan.slice(from, from + sliceQueries))
        results.push(await replayOne(replay, planned, signal));
      await keep(saveReplayed(attempt, from, results));
    }
    const report = replayReportOf(replay, reader.replays.resultsOf(job.no));
    return ({ replays }) => replays.finish(job.no, report);
  };
}

/** The logged search. Ages count from now. The default `rrf_k` was once logged with every search. */
function requestOf({ query_text, params }: NumberedRun): SearchRequest {
  const { rollup, rollup_m, recency_half_life_days, filters } = params;
  const rrf_k = params.rrf_k === defaultRrfK ? undefined : params.rrf_k;
  return searchRequest.parse({ query: query_text, rollup, rollup_m, rrf_k, recency_half_life_days, filters });
}
