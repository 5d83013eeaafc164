/**
 * Evaluation over time: judged searches asked again in two ways, model and reranker each. Every replay is a job; what each way came to is a point of the
 * chart and a row of the table.
 */
import { useMemo, useState } from 'preact/hooks';
import type { EvalReplayAccepted, EvalReplayResult, Measures, ReplayReport } from '../../../src/domain/evaluation.ts';
import type { JobListResponse, JobResponse } from '../../../src/domain/job.ts';
import type { ModelInfo } from '../../../src/domain/model.ts';
import { ApiError, call, get, wordsFor } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { notify } from '../../app/notices.tsx';
import { mayWrite } from '../../app/session.tsx';
import { count, decimal, timeOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { type Line, LineChart } from '../../ui/line-chart.tsx';
import { Badge, Dialog, Fault } from '../../ui/parts.tsx';
import { statusKinds } from '../jobs/job-words.ts';
import { ModelChoice } from './model-choice.tsx';

const lookAgainMs = 1500;
const mostShown = 50;

interface Replay {
  job: JobResponse;
  report: ReplayReport | null;
}

const measures: readonly [keyof Measures, string][] = [
  ['ndcg', 'nDCG'],
  ['reciprocal_rank', 'Reciprocal rank'],
  ['recall', 'Recall'],
];

/** The newest first. */
async function loadReplays(signal: AbortSignal): Promise<Replay[]> {
  const { jobs } = await get<JobListResponse>('/v1/jobs', { kind: 'eval_replay', limit: mostShown }, signal);
  const reports = jobs.map(async (job): Promise<Replay[]> => {
    if (job.status !== 'done') return [{ job, report: null }];
    try {
      const path = `/v1/admin/eval/replay/${encodeURIComponent(job.job_id)}`;
      return [{ job, report: (await get<EvalReplayResult>(path, {}, signal)).report }];
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return []; // deleted since the list was made
      throw error;
    }
  });
  return (await Promise.all(reports)).flat();
}

const wayOf = ({ model, rerank }: { model: string; rerank: boolean }): string =>
  rerank ? `${model}, reranked` : `${model}, not reranked`;

export function Replays({ models, judged }: { models: readonly ModelInfo[]; judged: number }) {
  const { data, error, reload } = useLoad(loadReplays, []);
  const [measure, setMeasure] = useState<keyof Measures>('ndcg');
  const [isNew, setNew] = useState(false);
  useRepeat(reload, lookAgainMs, data?.some(({ job: { status } }) => status !== 'done' && status !== 'dead') ?? false);
  const lines = useMemo(() => linesOf(data ?? [], measure), [data, measure]);
  const title = measures.find(([name]) => name === measure)?.[1] ?? '';
  return (
    <section class="block" aria-labelledby="replays">
      <div class="section-head">
        <div>
          <h2 id="replays">Over time</h2>
          <p class="quiet">
            A replay asks every judged search again, in two ways, and measures both by what you said of the pages.
          </p>
        </div>
        {mayWrite() && judged > 0 && (
          <button type="button" class="button" onClick={() => setNew(true)}>
            <Icon name="play" />
            Replay searches…
          </button>
        )}
      </div>
      <Fault error={error} retry={reload} />
      {judged === 0 && <p class="quiet">First judge some results: the thumbs beside each result of a search.</p>}
      {data !== undefined && data.length > 0 && (
        <>
          {lines.length > 0 && (
            <div class="evaluation-chart">
              <fieldset class="segments" aria-label="Measure of the chart">
                {measures.map(([name, text]) => (
                  <button key={name} type="button" aria-pressed={measure === name} onClick={() => setMeasure(name)}>
                    {text}
                  </button>
                ))}
              </fieldset>
              <LineChart label={`${title} of each replay`} lines={lines} format={decimal} />
            </div>
          )}
          <Table replays={data} />
        </>
      )}
      {isNew && (
        <ReplayDialog
          models={models}
          onClose={() => {
            setNew(false);
            reload();
          }}
        />
      )}
    </section>
  );
}

/** One line for each way in which searches were replayed, the oldest point first. */
function linesOf(replays: readonly Replay[], measure: keyof Measures): Line[] {
  const lines = new Map<string, { ts: string; value: number }[]>();
  for (const { job, report } of replays.toReversed()) {
    if (report === null || report.queries === 0) continue;
    const { a, b } = report;
    // Twice the same way is one point.
    for (const arm of wayOf(a) === wayOf(b) ? [a] : [a, b]) {
      const points = lines.get(wayOf(arm)) ?? [];
      points.push({ ts: job.updated_at, value: arm[measure] });
      lines.set(wayOf(arm), points);
    }
  }
  return [...lines].map(([label, points]) => ({ label, points }));
}

function Table({ replays }: { replays: readonly Replay[] }) {
  return (
    <div class="table-scroll">
      <table class="table">
        <caption class="hidden">Replays, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">Replayed</th>
            <th scope="col">Way</th>
            <th scope="col" class="number">
              Searches
            </th>
            {measures.map(([name, text]) => (
              <th key={name} scope="col" class="number">
                {text}
              </th>
            ))}
            <th scope="col" class="number">
              Better in
            </th>
          </tr>
        </thead>
        {replays.map(({ job, report }) => (
          <tbody key={job.job_id}>
            {report === null ? (
              <tr>
                <th scope="row">{timeOf(job.created_at)}</th>
                <td colSpan={6}>
                  <Badge kind={statusKinds[job.status]}>{job.status}</Badge>
                  {job.last_error !== null && (
                    <span class="row-error">
                      {' '}
                      <bdi>{job.last_error}</bdi>
                    </span>
                  )}
                </td>
              </tr>
            ) : (
              (['a', 'b'] as const).map((side) => (
                <tr key={side}>
                  {side === 'a' && (
                    <th scope="rowgroup" rowSpan={2}>
                      {timeOf(job.updated_at)}
                    </th>
                  )}
                  <td>
                    <bdi>{wayOf(report[side])}</bdi>
                  </td>
                  <td class="number">{count(report.queries)}</td>
                  {measures.map(([name]) => (
                    <td key={name} class="number">
                      {decimal(report[side][name])}
                    </td>
                  ))}
                  <td class="number">{count(report.better[side])}</td>
                </tr>
              ))
            )}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function ReplayDialog({ models, onClose }: { models: readonly ModelInfo[]; onClose: () => void }) {
  const active = models.find(({ is_active }) => is_active)?.id ?? models[0]?.id ?? '';
  const [a, setA] = useState({ model: active, rerank: true });
  const [b, setB] = useState(() => {
    const other = models.find(({ id }) => id !== active)?.id;
    return { model: other ?? active, rerank: other !== undefined };
  });
  const [fault, setFault] = useState<string | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const body = { model_a: a.model, rerank_a: a.rerank, model_b: b.model, rerank_b: b.rerank };
      await call<EvalReplayAccepted>('POST', '/v1/admin/eval/replay', { body });
      notify('The searches are replayed.');
      onClose();
    } catch (error) {
      setFault(wordsFor(error));
    }
  };
  return (
    <Dialog title="Replay the judged searches" onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {(
          [
            ['One way', a, setA],
            ['The other', b, setB],
          ] as const
        ).map(([label, way, set]) => (
          <div key={label} class="replay-way">
            <ModelChoice label={label} models={models} value={way.model} choose={(model) => set({ ...way, model })} />
            <label class="check">
              <input
                type="checkbox"
                checked={way.rerank}
                onChange={({ currentTarget }) => set({ ...way, rerank: currentTarget.checked })}
              />
              Reranked
            </label>
          </div>
        ))}
        <p class="quiet">
          Pages that nobody judged count as not relevant, which favours the way in which they were found. It may call
          providers that cost money.
        </p>
        {fault !== null && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <div class="dialog-actions">
          <button type="submit" class="button button-primary">
            Replay
          </button>
        </div>
      </form>
    </Dialog>
  );
}
