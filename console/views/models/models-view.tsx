/** Models: embedding models, their vectors, which one answers; two beside each other on a query; how well searches did. */
import { useState } from 'preact/hooks';
import type { CompareResponse } from '../../../src/domain/compare.ts';
import type { ScoreReport } from '../../../src/domain/evaluation.ts';
import type { KnownModel, KnownModelsResponse } from '../../../src/domain/known-models.ts';
import type {
  BackfillEstimateResponse,
  ModelBackfillResponse,
  ModelInfo,
  ModelListResponse,
} from '../../../src/domain/model.ts';
import { call, get, wordsFor } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { attempt, notify } from '../../app/notices.tsx';
import { linkTo } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { count, decimal, duration, many, percent } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Badge, Dialog, Fault, Progress, ViewHead } from '../../ui/parts.tsx';
import { nameOf } from '../../ui/text.tsx';

const lookAgainMs = 2000;
const pathOf = (id: string) => `/v1/models/${encodeURIComponent(id)}`;

export function ModelsView() {
  const models = useLoad((signal) => get<ModelListResponse>('/v1/models', {}, signal), []);
  const [isNew, setNew] = useState(false);
  const list = models.data?.models ?? [];
  useRepeat(
    models.reload,
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
      <Compare models={list.filter(({ status }) => status === 'ready')} />
      <Evaluation />
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
  const backfill = useLoad((signal) => get<ModelBackfillResponse>(`${pathOf(id)}/backfill`, {}, signal), [id, status]);
  useRepeat(backfill.reload, lookAgainMs, status === 'backfilling');
  const act = (work: () => Promise<unknown>, said?: string) =>
    attempt(async () => {
      await work();
      if (said !== undefined) notify(said);
      changed();
    });
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
        {backfill.data?.last_error != null && (
          <p class="row-error">
            <bdi>{backfill.data.last_error}</bdi>
          </p>
        )}
      </div>
      {mayWrite() && (
        <div class="row-end">
          {(status === 'registered' || status === 'failed') && (
            <button
              type="button"
              class="button button-small"
              onClick={() =>
                attempt(async () => {
                  setEstimate(await call<BackfillEstimateResponse>('POST', `${pathOf(id)}/backfill`, { body: {} }));
                })
              }
            >
              Make its vectors…
            </button>
          )}
          {status === 'ready' && !is_active && (
            <>
              <button
                type="button"
                class="button button-small"
                onClick={() => act(() => call('POST', `${pathOf(id)}/activate`), `${id} answers from now on.`)}
              >
                Search by it
              </button>
              <button
                type="button"
                class="button button-small button-quiet-danger"
                onClick={() => act(() => call('DELETE', pathOf(id)))}
              >
                Delete
              </button>
            </>
          )}
        </div>
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
            <button
              type="button"
              class="button button-primary"
              onClick={() => {
                setEstimate(null);
                void act(() => call('POST', `${pathOf(id)}/backfill`, { body: { confirm: true } }));
              }}
            >
              Begin
            </button>
          </div>
        </Dialog>
      )}
    </li>
  );
}

/** An embedding model once for each provider that has it. */
function choicesOf(model: KnownModel) {
  if (model.does !== 'embedding') return [];
  return Object.entries(model.names).map(([provider, called]) => ({ model, provider, called }));
}

const factsOf = ({ languages, parameters_millions, memory_mb, license, score }: KnownModel): string[] => [
  `Languages: ${languages}`,
  ...(parameters_millions === null ? [] : [`${count(parameters_millions)} million parameters`]),
  ...(memory_mb === null ? [] : [`${count(memory_mb)} MB for 100,000 passages`]),
  `Licence: ${license}`,
  ...(score === null ? [] : [`nDCG@10 ${score.value} (${score.benchmark})`]),
];

function RegisterDialog({ onClose }: { onClose: () => void }) {
  const [provider, setProvider] = useState('');
  const [name, setName] = useState('');
  const [dim, setDim] = useState('');
  const [tokens, setTokens] = useState('8192');
  const [fault, setFault] = useState<string | null>(null);
  const known = useLoad((signal) => get<KnownModelsResponse>('/v1/models/known', {}, signal), []);
  const choices = known.data?.models.flatMap(choicesOf) ?? [];
  const [chosen, setChosen] = useState<KnownModel | null>(null);
  const choose = (at: number) => {
    const choice = choices[at];
    setChosen(choice?.model ?? null);
    if (choice === undefined) return;
    setProvider(choice.provider);
    setName(choice.called);
    setDim(String(choice.model.dim));
    setTokens(String(choice.model.max_input_tokens));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const body = { provider, model_name: name, dim: Number(dim), max_input_tokens: Number(tokens) };
      await call('POST', '/v1/models', { body });
      onClose();
    } catch (error) {
      setFault(wordsFor(error));
    }
  };
  return (
    <Dialog title="Register a model" onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <label class="field">
          <span>One that is known</span>
          <select class="input" onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
            <option value={-1}>Another</option>
            {choices.map(({ model, provider }, at) => (
              <option key={model.name + provider} value={at}>
                {`${model.name} by ${provider}`}
              </option>
            ))}
          </select>
        </label>
        {chosen !== null && <p class="quiet">{factsOf(chosen).join(' · ')}</p>}
        <label class="field">
          <span>Provider, as it is set</span>
          <input
            class="input"
            required
            maxLength={200}
            value={provider}
            onInput={({ currentTarget }) => setProvider(currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Model</span>
          <input
            class="input"
            required
            maxLength={200}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <div class="field-pair">
          <label class="field">
            <span>Dimensions</span>
            <input
              class="input"
              type="number"
              required
              min={1}
              max={8192}
              value={dim}
              onInput={({ currentTarget }) => setDim(currentTarget.value)}
            />
          </label>
          <label class="field">
            <span>Tokens at most</span>
            <input
              class="input"
              type="number"
              required
              min={1}
              value={tokens}
              onInput={({ currentTarget }) => setTokens(currentTarget.value)}
            />
          </label>
        </div>
        {fault !== null && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <div class="dialog-actions">
          <button type="submit" class="button button-primary">
            Register
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Compare({ models }: { models: readonly ModelInfo[] }) {
  const [query, setQuery] = useState('');
  const [answer, setAnswer] = useState<CompareResponse | null>(null);
  if (models.length < 2) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const body = { query: query.trim(), models: models.slice(0, 5).map(({ id }) => id), k: 10 };
      setAnswer(await call<CompareResponse>('POST', '/v1/compare', { body }));
    });
  };
  return (
    <section class="block" aria-labelledby="compare">
      <h2 id="compare">Side by side</h2>
      <form class="field-row compare-form" onSubmit={submit}>
        <input
          class="input"
          required
          aria-label="A query of yours"
          placeholder="A query of yours"
          maxLength={4000}
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
        <button type="submit" class="button">
          Compare
        </button>
      </form>
      {answer !== null && (
        <>
          {answer.agreement.map(({ model_a, model_b, jaccard_at_k, rbo }) => (
            <p key={model_a + model_b} class="quiet">
              <bdi>{model_a}</bdi> and <bdi>{model_b}</bdi> share {percent(jaccard_at_k)} of the pages; agreement by
              rank {decimal(rbo, 2)}
            </p>
          ))}
          <div class="compare">
            {answer.runs.map(({ model, results }) => (
              <section key={model} class="card">
                <h3>
                  <bdi>{model}</bdi>
                </h3>
                <ol class="plain-list compare-list">
                  {results.map((page) => (
                    <li key={page.page_id}>
                      <a href={linkTo('page', page.page_id)}>
                        <bdi>{nameOf(page)}</bdi>
                      </a>
                    </li>
                  ))}
                </ol>
              </section>
            ))}
          </div>
        </>
      )}
    </section>
  );
}

function Evaluation() {
  const { data, error, reload } = useLoad(
    (signal) => call<ScoreReport>('POST', '/v1/admin/eval/score', { body: {}, signal }),
    [],
  );
  if (data === undefined) return <Fault error={error} retry={reload} />;
  return (
    <section class="block" aria-labelledby="evaluation">
      <h2 id="evaluation">How well searches did</h2>
      <p class="quiet">
        By your thumbs: {many(data.labeled, 'search', 'searches')} judged of {count(data.logged)}, at {data.k} results.
      </p>
      {data.models.length > 0 && (
        <div class="table-scroll">
          <table class="table">
            <caption class="hidden">Measures by model</caption>
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col" class="number">
                  Searches
                </th>
                <th scope="col" class="number">
                  nDCG
                </th>
                <th scope="col" class="number">
                  Reciprocal rank
                </th>
                <th scope="col" class="number">
                  Recall
                </th>
                <th scope="col" class="number">
                  Gain by reranking
                </th>
              </tr>
            </thead>
            <tbody>
              {data.models.map((each) => (
                <tr key={each.model}>
                  <th scope="row">
                    <bdi>{each.model}</bdi>
                  </th>
                  <td class="number">{count(each.queries)}</td>
                  <td class="number">{decimal(each.ndcg)}</td>
                  <td class="number">{decimal(each.reciprocal_rank)}</td>
                  <td class="number">{decimal(each.recall)}</td>
                  <td class="number">{each.rerank_lift === null ? '–' : decimal(each.rerank_lift)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
