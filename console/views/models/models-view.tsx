/** Embedding models, their vectors and the active one; comparison and evaluation. */
import { useState } from 'preact/hooks';
import type { BackfillEstimateResponse, ModelBackfillResponse, ModelInfo } from '../../../src/domain/model.ts';
import { call, get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { isBuiltIn, PauseButton, useModels } from '../../app/filling.tsx';
import { notify } from '../../app/notices.tsx';
import { mayWrite } from '../../app/session.tsx';
import { count, decimal, duration, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton, Badge, Confirm, Dialog, Facts, Fault, Progress, ViewHead } from '../../ui/parts.tsx';
import { Compare } from './compare.tsx';
import { Evaluation } from './evaluation.tsx';
import { KnownModels } from './known-models.tsx';
import { RegisterDialog } from './register-dialog.tsx';

const lookAgainMs = 2000;
const idleMs = 30_000;
const pathOf = (id: string) => `/v1/models/${encodeURIComponent(id)}`;

export function ModelsView() {
  const models = useModels(true);
  const [isNew, setNew] = useState(false);
  const list = models.data?.models ?? [];
  const ready = list.filter(({ status }) => status === 'ready');
  const isMoving = list.some(
    ({ status, vectors_pending = 0, paused }) => !paused && (status === 'backfilling' || vectors_pending > 0),
  );
  useRepeat([models], isMoving ? lookAgainMs : idleMs, true);
  return (
    <div class="view">
      <ViewHead
        title="Models"
        lead="Embedding models compute vectors of passages. One is built in; others may be more accurate."
      >
        {mayWrite() && (
          <button type="button" class="button" onClick={() => setNew(true)}>
            <Icon name="plus" />
            Register a model
          </button>
        )}
      </ViewHead>
      <Fault error={models.error} retry={models.reload} />
      <ul class="rows">
        {list.map((model) => (
          <ModelRow key={model.id} model={model} changed={models.reload} />
        ))}
      </ul>
      <Compare models={ready} />
      <Evaluation models={ready} />
      <KnownModels />
      {isNew && (
        <RegisterDialog
          onClose={() => {
            setNew(false);
            models.reload();
          }}
        />
      )}
    </div>
  );
}

const runtimeWords: Record<string, string> = { native: 'Runs natively', webassembly: 'Runs in WebAssembly' };

/** The built-in model's device, and its waiting passages. */
function BuiltInState({ model }: { model: ModelInfo }) {
  const { runtime = null, vectors_pending = 0, pages_pending = 0, rate_per_s, eta_s, paused } = model;
  const words = runtime === null ? 'Loads with the first search or page' : runtimeWords[runtime];
  const pending = `${many(vectors_pending, 'passage')} of ${many(pages_pending, 'page')} without vectors`;
  const facts = [
    words,
    vectors_pending === 0 ? 'every page has its vectors' : pending,
    vectors_pending > 0 && paused && 'paused',
    vectors_pending > 0 && !paused && rate_per_s != null && `${decimal(rate_per_s, 1)} passages a second`,
    vectors_pending > 0 && eta_s != null && `about ${duration(eta_s)} left`,
  ];
  return (
    <>
      <p class="quiet">{facts.filter(Boolean).join(' · ')}</p>
      {runtime !== null && words === undefined && (
        <p class="row-error">
          <bdi>{runtime}</bdi>
        </p>
      )}
    </>
  );
}

function ModelRow({ model, changed }: { model: ModelInfo; changed: () => void }) {
  const { id, provider, model_name, dim, is_active, status, vectors_pending = 0, paused } = model;
  const [estimate, setEstimate] = useState<BackfillEstimateResponse | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const backfill = useLoad(
    (signal) => get<ModelBackfillResponse>(`${pathOf(id)}/backfill`, {}, signal),
    [id],
    [status],
  );
  useRepeat([backfill], lookAgainMs, status === 'backfilling');
  const remove = async () => {
    await call('DELETE', pathOf(id));
    changed();
  };
  const activate = async () => {
    await call('POST', `${pathOf(id)}/activate`);
    notify(`Searches now use ${id}.`);
    changed();
  };
  const estimateBackfill = async () => {
    setEstimate(await call<BackfillEstimateResponse>('POST', `${pathOf(id)}/backfill`, { body: {} }));
  };
  const beginBackfill = async () => {
    await call('POST', `${pathOf(id)}/backfill`, { body: { confirm: true } });
    setEstimate(null);
    changed();
  };
  return (
    <li class="row">
      <Badge kind={is_active ? 'ok' : status === 'failed' ? 'bad' : status === 'backfilling' ? 'live' : 'plain'}>
        {is_active ? 'active' : status}
      </Badge>
      <div class="row-main">
        <p class="row-title">
          <bdi>{id}</bdi>
        </p>
        <p class="quiet">
          <bdi>{provider}</bdi> · <bdi>{model_name}</bdi> · {count(dim)} dimensions
        </p>
        {isBuiltIn(model) && <BuiltInState model={model} />}
        {backfill.data !== undefined && status === 'backfilling' && !isBuiltIn(model) && (
          <Progress
            part={backfill.data.embedded_chunks}
            whole={backfill.data.total_chunks}
            label={`Vectors of ${id}`}
          />
        )}
        <Fault error={backfill.error} retry={backfill.reload} />
        {backfill.data?.last_error != null && (
          <p class="row-error">
            <bdi>{backfill.data.last_error}</bdi>
          </p>
        )}
      </div>
      {mayWrite() && (
        <div class="row-end">
          {isBuiltIn(model) && (paused || vectors_pending > 0) && <PauseButton paused={paused} />}
          {(status === 'registered' || status === 'failed') && (
            <ActButton class="button button-small" act={estimateBackfill}>
              Compute vectors…
            </ActButton>
          )}
          {status === 'ready' && !is_active && (
            <ActButton class="button button-small" act={activate}>
              Use for search
            </ActButton>
          )}
          {!is_active && (
            <ActButton
              class="button button-small button-quiet-danger"
              act={async () => (status === 'registered' ? remove() : setRemoving(true))}
            >
              {status === 'backfilling' ? 'Stop and delete' : 'Delete'}
            </ActButton>
          )}
        </div>
      )}
      {isRemoving && (
        <Confirm title={`Delete ${id}?`} act="Delete" onAct={remove} onClose={() => setRemoving(false)}>
          <p>Its vectors are deleted too, and must be computed again if needed.</p>
        </Confirm>
      )}
      {estimate !== null && (
        <Dialog title="Compute vectors of every passage?" onClose={() => setEstimate(null)}>
          <Facts
            class="facts facts-wide"
            of={[
              ['Passages', count(estimate.n_chunks)],
              ['Tokens', count(estimate.total_tokens)],
              ['Time', estimate.est_duration_s === null ? 'unknown' : `about ${duration(estimate.est_duration_s)}`],
              ['Cost', estimate.est_cost_usd === null ? 'unknown' : `about $${decimal(estimate.est_cost_usd, 2)}`],
            ]}
          />
          <p class="quiet">Searches keep using the active model meanwhile. A restart resumes it.</p>
          <div class="dialog-actions">
            <ActButton class="button button-primary" act={beginBackfill}>
              Begin
            </ActButton>
          </div>
        </Dialog>
      )}
    </li>
  );
}
