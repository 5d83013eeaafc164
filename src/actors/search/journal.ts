/** The journal: logs searches in batches (reads flush them first), feedback, evaluations, replays; deletes old runs. */
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { appendRuns, giveFeedback, purgeRunsBefore, startReplay } from '../../commands/log-queries.ts';
import * as scoring from '../../compute/ranking/score-run.ts';
import { DomainError, unknownId } from '../../domain/errors.ts';
import type {
  EvalReplayItem,
  EvalReplayList,
  EvalReplayRequest,
  EvalReplayResult,
  EvalScoreRequest,
  ScoreReport,
} from '../../domain/evaluation.ts';
import type { MessageName } from '../../domain/messages.ts';
import type { LoggedHit, LoggedHits, QueryLogRunResponse } from '../../domain/query-log.ts';
import { idOf, instantOf, isoOf, numberOf } from '../../domain/values.ts';
import { type NumberedRun, withoutPages } from '../../store/query-log.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background, inParts } from '../system/background.ts';
import type { OldBefore } from '../system/retention.ts';
import type { Handlers, LibraryParts, StartService } from '../system/service.ts';
import { type FreshRun, type QueryLogQueue, queryRunOf } from './query-log-queue.ts';

export interface JournalDependencies extends EvaluationDependencies {
  queue: QueryLogQueue;
  oldBefore: OldBefore;
  log: Logger;
}

type JournalMessages = Extract<MessageName, `queryLog.${string}` | `eval.${string}`> | 'feedback.give';

const purgeEveryMs = 3_600_000;
/** Time that a run waits for others, to share a commit, ms. */
const gatherMs = 100;
/** Encoding them takes a few ms. */
const runsPerCommit = 32;

export function journalService(dependencies: JournalDependencies): StartService<JournalMessages> {
  const { reader, commit, queue, oldBefore, log } = dependencies;
  const { score, start: startReplay, result: replayResult, list: listReplays } = evaluation(dependencies);

  const start = async () => {
    const background = new Background(log);
    const write = async (runs: readonly FreshRun[]) => {
      try {
        await commit(appendRuns(runs.map(queryRunOf)));
      } catch (error) {
        queue.drop(runs.length);
        log.warn({ err: error, runs: runs.length }, 'runs could not be written to the query log');
      }
    };
    const inTurn = pLimit(1);
    /** Resolves when all runs offered so far are written or dropped. */
    const flush = () =>
      inTurn(async () => {
        for (let left = queue.waiting; left > 0; left -= runsPerCommit) await write(queue.take(runsPerCommit));
        // The queue only signals the first waiting run.
        if (queue.waiting > 0 && !background.isStopping) gather();
      });
    let gathering: NodeJS.Timeout | undefined;
    const gather = () => {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        void flush();
      }, gatherMs);
    };
    const unlisten = queue.listen(gather);
    background.purge(purgeEveryMs, 'old runs could not be deleted from the query log', oldBefore, async (_, before) =>
      (await commit(purgeRunsBefore(before))) ? 0 : null,
    );

    async function* runsOf(numbers: readonly number[]): AsyncGenerator<QueryLogRunResponse> {
      for (const no of numbers) {
        const run = reader.queryLog.get(no);
        if (run !== undefined) yield runResponseOf(run, reader);
      }
    }

    const handlers: Handlers<JournalMessages> = {
      'queryLog.list': async ({ since, limit, kind }) => {
        await flush();
        const numbers = reader.queryLog.numbers({
          since: since === undefined ? undefined : instantOf(since),
          kind,
          limit,
        });
        return { runs: runsOf(numbers) };
      },
      'queryLog.get': async ({ query_id }) => {
        await flush();
        for (const no of reader.queryLog.numbersOf(query_id)) {
          const run = reader.queryLog.get(no);
          if (run?.query_id === query_id) return runResponseOf(run, reader);
        }
        throw unknownId('query', query_id);
      },
      'feedback.give': async (feedback) => {
        await flush();
        await commit(giveFeedback(feedback));
        return { status: 'accepted' };
      },
      'eval.score': async (request) => {
        await flush();
        return score(request);
      },
      'eval.startReplay': async (request) => {
        await flush();
        return startReplay(request);
      },
      'eval.replay': replayResult,
      'eval.replays': listReplays,
    };
    return {
      handlers,
      stop: async () => {
        unlisten();
        clearTimeout(gathering);
        await Promise.all([background.stop(), flush()]);
      },
    };
  };
  return start;
}

function runResponseOf(logged: NumberedRun, reader: StoreReader): QueryLogRunResponse {
  const stays = (pageNo: number) => reader.pages.has(pageNo); // a forgotten page is removed from the log a little later
  const run = { ...logged, ...withoutPages(logged, stays) };
  const { no, ts, candidate_set, dense_hits, sparse_hits, final_pages, ...rest } = run;
  return {
    ...rest,
    ts: isoOf(ts),
    candidate_set: hitsOf(candidate_set),
    dense_hits: hitsOf(dense_hits),
    sparse_hits: hitsOf(sparse_hits),
    final_pages: final_pages.map(({ page_no, score, rank }) => ({ page_id: idOf('page', page_no), score, rank })),
    feedback: Object.fromEntries(
      [...reader.queryLog.feedback(no)]
        .filter(([pageNo]) => stays(pageNo))
        .map(([pageNo, relevant]) => [idOf('page', pageNo), relevant]),
    ),
  };
}

function hitsOf({ labels, page_nos, scores }: LoggedHits): LoggedHit[] {
  return Array.from(labels, (label, i) => ({
    chunk_id: idOf('chunk', label),
    page_id: idOf('page', page_nos[i]),
    score: scores[i],
  }));
}

type EvaluationDependencies = Pick<LibraryParts, 'reader' | 'commit' | 'maxAttempts' | 'now'>;

/** Runs per turn: a few ms with 1,000 candidates each. */
const sliceRuns = 10;

export function evaluation({ reader, commit, maxAttempts, now }: EvaluationDependencies) {
  async function* runsOf(next: (after: number) => number[], wanted: (run: NumberedRun) => boolean) {
    for await (const numbers of inParts(next, Number)) {
      for (const no of numbers) {
        const run = reader.queryLog.get(no);
        if (run !== undefined && wanted(run)) yield run;
      }
    }
  }

  const score = async ({ k, since, model }: EvalScoreRequest): Promise<ScoreReport> => {
    const from = since == null ? 0 : instantOf(since);
    const wanted = (run: NumberedRun) => run.ts >= from && (model == null || run.active_model === model);
    let logged = model == null ? reader.queryLog.countSince(from) : 0;
    if (model != null) {
      for await (const _run of runsOf((after) => reader.queryLog.numbersAfter(after, sliceRuns), wanted)) logged++;
    }
    let labeled = 0;
    const queries: ScoreReport['queries'] = [];
    for await (const run of runsOf((after) => reader.queryLog.judgedAfter(after, sliceRuns), wanted)) {
      if ((run.params.sort ?? 'relevance') !== 'relevance') continue; // the order of such a run is not a ranking
      labeled++;
      const grades = scoring.gradesOf(reader.queryLog.feedback(run.no));
      if (!scoring.hasPositive(grades)) continue;
      const answer = { ranked: rankedPages(run), candidates: [...new Set(run.candidate_set.page_nos)], grades };
      queries.push({
        query_id: run.query_id,
        query_text: run.query_text,
        model: run.active_model,
        ...scoring.measureAnswer(answer, k),
        rerank_lift: run.reranker_model === null ? null : scoring.rerankLift(answer, k),
      });
    }
    const models = [...new Set(queries.map((query) => query.model))].sort().map((name) => {
      const ofModel = queries.filter((query) => query.model === name);
      const rerank_lift = scoring.meanOf(ofModel.map((query) => query.rerank_lift));
      return { model: name, queries: ofModel.length, ...scoring.meanMeasures(ofModel), rerank_lift };
    });
    return {
      k,
      logged,
      labeled,
      scored: queries.length,
      skipped_no_positive: labeled - queries.length,
      models,
      queries,
    };
  };

  /** Default: the active one. Errors: `invalid` for an unknown model or one that is not ready. */
  const modelOf = (field: string, id: string | null | undefined): string => {
    const used = id ?? reader.models.activeId();
    if (used === null) throw new DomainError('no_active_model', 'no active embedding model');
    const status = reader.models.get(used)?.status;
    if (status === 'ready') return used;
    const shown = JSON.stringify(used.slice(0, 64));
    throw new DomainError(
      'invalid',
      `${field}: ${shown} is ${status === undefined ? 'unknown' : `${status}, not ready`}`,
    );
  };

  const start = async ({ model_a, model_b, limit, ...request }: EvalReplayRequest) => {
    const models = { model_a: modelOf('model_a', model_a), model_b: modelOf('model_b', model_b) };
    const replay = { ...request, ...models, limit: limit ?? null };
    const job = await commit(startReplay(replay, { at: now(), max_attempts: maxAttempts }));
    const job_id = idOf('job', job.no);
    return { job_id, result_url: `/v1/admin/eval/replay/${job_id}` };
  };

  const result = ({ job_id }: { job_id: string }): EvalReplayResult => {
    const no = numberOf('job', job_id);
    const job = no === null ? undefined : reader.jobs.get(no);
    const replay = job === undefined ? undefined : reader.replays.get(job.no);
    if (job === undefined || replay === undefined) {
      throw new DomainError('not_found', `unknown replay: ${job_id.slice(0, 64)}`);
    }
    return { job_id, status: job.status, report: replay.report, error: job.status === 'dead' ? job.last_error : null };
  };

  const list = ({ limit }: { limit: number }): EvalReplayList => ({
    replays: reader.replays.numbers(limit).flatMap((no): EvalReplayItem[] => {
      const [job, replay] = [reader.jobs.get(no), reader.replays.get(no)];
      if (job === undefined || replay === undefined) return [];
      const { plan, report, source = 'log', ...asked } = replay;
      const replayed = report === null ? reader.replays.countResults(no) : report.queries + report.skipped;
      return [
        {
          ...{ job_id: idOf('job', no), status: job.status },
          ...{ created_at: isoOf(job.created_at), updated_at: isoOf(job.updated_at) },
          ...{ rerank_locally_a: false, rerank_locally_b: false },
          ...{ source, ...asked, planned: report === null ? (plan?.length ?? null) : replayed, replayed },
          ...{ report, last_error: job.last_error },
        },
      ];
    }),
  });

  return { score, start, result, list };
}

/** By rank; 0 for ranks before the run's offset. */
function rankedPages({ final_pages }: NumberedRun): number[] {
  const ranked: number[] = [];
  for (const { page_no, rank } of final_pages) {
    while (ranked.length < rank - 1) ranked.push(0);
    ranked.push(page_no);
  }
  return ranked;
}
