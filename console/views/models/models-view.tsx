/** Models: embedding models, their vectors, and which one answers; below them two beside each other, and how well searches did. */
import { useState } from 'preact/hooks';
import type {
  BackfillEstimateResponse,
  ModelBackfillResponse,
  ModelInfo,
  ModelListResponse,
} from '../../../src/domain/model.ts';
import { call, get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { notify } from '../../app/notices.tsx';
import { mayWrite } from '../../app/session.tsx';
import { count, decimal, duration } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton, Badge, Confirm, Dialog, Fault, Progress, ViewHead } from '../../ui/parts.tsx';
import { Compare } from './compare.tsx';
import { Evaluation } from './evaluation.tsx';
import { KnownModels } from './known-models.tsx';
import { RegisterDialog } from './register-dialog.tsx';

const lookAgainMs = 2000;
const pathOf = (id: string) => `/v1/models/${encodeURIComponent(id)}`;

export function ModelsView() {
  const models = useLoad((signal) => get<ModelListResponse>('/v1/models', {}, signal), []);
  const [isNew, setNew] = useState(false);
  const list = models.data?.models ?? [];
  const ready = list.filter(({ status }) => status === 'ready');
  useRepeat(
    [models],
    lookAgainMs,
    list.some(({ status }) => status === 'backfilling'),
  );
  return (
    <div class="view">
      <ViewHead title="Models" lead="What makes vectors of passages. One is built in; others may know more.">
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

function ModelRow({ model, changed }: { model: ModelInfo; changed: () => void }) {
  const { id, provider, model_name, dim, is_active, status } = model;
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
    notify(`${id} answers from now on.`);
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
        {backfill.data !== undefined && status === 'backfilling' && (
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
          {(status === 'registered' || status === 'failed') && (
            <ActButton class="button button-small" act={estimateBackfill}>
              Make its vectors…
            </ActButton>
          )}
          {status === 'ready' && !is_active && (
            <ActButton class="button button-small" act={activate}>
              Search by it
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
          <p>Its vectors go with it. To have them again they must be made again.</p>
        </Confirm>
      )}
      {estimate !== null && (
        <Dialog title="Make vectors of every passage?" onClose={() => setEstimate(null)}>
          <dl class="facts facts-wide">
            <div>
              <dt>Passages</dt>
              <dd>{count(estimate.n_chunks)}</dd>
            </div>
            <div>
              <dt>Tokens</dt>
              <dd>{count(estimate.total_tokens)}</dd>
            </div>
            <div>
              <dt>Time</dt>
              <dd>{estimate.est_duration_s === null ? 'not known' : `about ${duration(estimate.est_duration_s)}`}</dd>
            </div>
            <div>
              <dt>Cost</dt>
              <dd>{estimate.est_cost_usd === null ? 'not known' : `about $${decimal(estimate.est_cost_usd, 2)}`}</dd>
            </div>
          </dl>
          <p class="quiet">Searches go on with the active model meanwhile. It goes on after a restart.</p>
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
