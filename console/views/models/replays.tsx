/**
 * Evaluation over time: queries replayed in two ways, by model and ranking. Every replay is a job; each way is a point
 * of the chart and a row of the table.
 */
import { useMemo, useState } from 'preact/hooks';
import type {
  EvalReplayAccepted,
  EvalReplayItem,
  EvalReplayList,
  Measures,
  ReplayReport,
} from '../../../src/domain/evaluation.ts';
import type { ModelInfo } from '../../../src/domain/model.ts';
import { call, get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { notify, useAttempt } from '../../app/notices.tsx';
import { mayWrite } from '../../app/session.tsx';
import { count, decimal, timeOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { type Line, LineChart } from '../../ui/line-chart.tsx';
import { Badge, Dialog, Fault, FormEnd, Table } from '../../ui/parts.tsx';
import { jobStates } from '../jobs/job-words.ts';
import { ModelChoice } from './model-choice.tsx';

const lookAgainMs = 1500;
const maxShown = 50;

const measures: readonly [keyof Measures, string][] = [
  ['ndcg', 'nDCG'],
  ['reciprocal_rank', 'Reciprocal rank'],
  ['recall', 'Recall'],
];

/** Newest first. */
const loadReplays = async (signal: AbortSignal): Promise<EvalReplayItem[]> =>
  (await get<EvalReplayList>('/v1/admin/eval/replay', { limit: maxShown }, signal)).replays;

/** Scores of pages' own queries are not comparable with judged searches. */
function wayOf({ source = 'log' }: ReplayReport, { model, rerank, reranker_model: by }: ReplayReport['a']): string {
  const reranked = by === 'local' ? 'score fusion' : `reranked by ${by}`;
  const way = `${model}, ${rerank && by !== null ? reranked : 'rank fusion'}`;
  return source === 'log' ? way : `${way}, on queries made of pages`;
}

export function Replays({ models, judged }: { models: readonly ModelInfo[]; judged: number }) {
  const replays = useLoad(loadReplays, []);
  const { data, error, reload } = replays;
  const [measure, setMeasure] = useState<keyof Measures>('ndcg');
  const [isNew, setNew] = useState(false);
  useRepeat([replays], lookAgainMs, data?.some(({ status }) => status !== 'done' && status !== 'dead') ?? false);
  const lines = useMemo(() => linesOf(data ?? [], measure), [data, measure]);
  const title = measures.find(([name]) => name === measure)?.[1] ?? '';
  return (
    <section class="block" aria-labelledby="replays">
      <div class="section-head">
        <div>
          <h2 id="replays">Over time</h2>
          <p class="quiet">A replay repeats every judged search by two methods and scores both by your judgements.</p>
        </div>
        {mayWrite() && judged > 0 && (
          <button type="button" class="button" onClick={() => setNew(true)}>
            <Icon name="play" />
            Replay searches…
          </button>
        )}
      </div>
      <Fault error={error} retry={reload} />
      {judged === 0 && <p class="quiet">First judge some results with the thumbs next to each search result.</p>}
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
          <ReplayTable replays={data} />
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

/** One line per way, oldest point first. */
function linesOf(replays: readonly EvalReplayItem[], measure: keyof Measures): Line[] {
  const lines = new Map<string, { ts: string; value: number }[]>();
  for (const { updated_at, report } of replays.toReversed()) {
    if (report === null || report.queries === 0) continue;
    // Two equal ways are one point.
    const arms = new Map([report.a, report.b].map((arm) => [wayOf(report, arm), arm]));
    for (const [way, arm] of arms) {
      const points = lines.get(way) ?? [];
      points.push({ ts: updated_at, value: arm[measure] });
      lines.set(way, points);
    }
  }
  return [...lines].map(([label, points]) => ({ label, points }));
}

const numbers = ['Searches', ...measures.map(([, text]) => text), 'Better in'];

function ReplayTable({ replays }: { replays: readonly EvalReplayItem[] }) {
  return (
    <Table label="Replays, newest first" columns={['Replayed', 'Method', ...numbers]} numbers={numbers}>
      {replays.map(({ job_id, status, created_at, updated_at, last_error, planned, replayed, report }) => (
        <tbody key={job_id}>
          {report === null ? (
            <tr>
              <th scope="row">{timeOf(created_at)}</th>
              <td colSpan={6}>
                <Badge kind={jobStates[status].badge}>{jobStates[status].word}</Badge>{' '}
                {planned !== null && `${count(replayed)} of ${count(planned)}`}
                {last_error !== null && (
                  <span class="row-error">
                    {' '}
                    <bdi>{last_error}</bdi>
                  </span>
                )}
              </td>
            </tr>
          ) : (
            (['a', 'b'] as const).map((side) => (
              <tr key={side}>
                {side === 'a' && (
                  <th scope="rowgroup" rowSpan={2}>
                    {timeOf(updated_at)}
                  </th>
                )}
                <td class="words">
                  <bdi>{wayOf(report, report[side])}</bdi>
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
    </Table>
  );
}

function ReplayDialog({ models, onClose }: { models: readonly ModelInfo[]; onClose: () => void }) {
  const active = models.find(({ is_active }) => is_active)?.id ?? models[0]?.id ?? '';
  const [a, setA] = useState({ model: active, rerank: true });
  const [b, setB] = useState(() => {
    const other = models.find(({ id }) => id !== active)?.id;
    return { model: other ?? active, rerank: other !== undefined };
  });
  const { busy, said, attempt } = useAttempt();
  const submit = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const body = { model_a: a.model, rerank_a: a.rerank, model_b: b.model, rerank_b: b.rerank };
      await call<EvalReplayAccepted>('POST', '/v1/admin/eval/replay', { body });
      notify('Replay started.');
      onClose();
    });
  };
  return (
    <Dialog title="Replay the judged searches" onClose={busy ? null : onClose}>
      <form class="stack" onSubmit={submit}>
        {(
          [
            ['First method', a, setA],
            ['Second method', b, setB],
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
              By scores, or by the reranker if one is set
            </label>
          </div>
        ))}
        <p class="quiet">
          Unjudged pages count as not relevant, which favours the original ranking. It may call providers that cost
          money.
        </p>
        <FormEnd said={said} busy={busy} act="Replay" />
      </form>
    </Dialog>
  );
}
