/** Compares two models on the user's query; thumbs count for both. */
import type { CompareResponse } from '../../../src/domain/compare.ts';
import type { ModelInfo } from '../../../src/domain/model.ts';
import { call } from '../../api/client.ts';
import { useAttempt } from '../../app/notices.tsx';
import { linkTo, useKept } from '../../app/router.ts';
import { decimal, percent } from '../../ui/format.ts';
import { FormFault } from '../../ui/parts.tsx';
import { nameOf, shortUrl } from '../../ui/text.tsx';
import { Judge } from '../search/judge.tsx';
import { ModelChoice } from './model-choice.tsx';

export function Compare({ models }: { models: readonly ModelInfo[] }) {
  const [query, setQuery] = useKept('compared-query', '');
  const [chosen, setChosen] = useKept<readonly (string | null)[]>('compared-models', [null, null]);
  const [compared, setCompared] = useKept<{ query: string; answer: CompareResponse } | null>('compared', null);
  const { busy, said, attempt } = useAttempt();
  if (models.length < 2) return null;
  const [a = models[0].id, b = models.find(({ id }) => id !== a)?.id ?? models[1].id] = chosen.map(
    (id) => id ?? undefined,
  );
  const submit = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const body = { query: query.trim(), models: [a, b], k: 10 };
      setCompared({ query: body.query, answer: await call<CompareResponse>('POST', '/v1/compare', { body }) });
    });
  };
  return (
    <section class="block" aria-labelledby="compare">
      <h2 id="compare">Compare two models</h2>
      <p class="quiet">The results of two models for one query.</p>
      <form class="compare-form" onSubmit={submit}>
        <ModelChoice label="First model" models={models} value={a} choose={(id) => setChosen([id, b])} />
        <ModelChoice label="Second model" models={models} value={b} choose={(id) => setChosen([a, id])} />
        <label class="field compare-query">
          <span>Query</span>
          <input
            class="input"
            required
            pattern=".*\S.*"
            maxLength={4000}
            value={query}
            onInput={({ currentTarget }) => setQuery(currentTarget.value)}
          />
        </label>
        <button type="submit" class="button" disabled={busy || a === b}>
          Compare
        </button>
      </form>
      <FormFault said={said} />
      {a === b && <p class="quiet">Choose two different models.</p>}
      {compared !== null && <Answer key={compared.answer.compare_id} {...compared} />}
    </section>
  );
}

function Answer({ query, answer: { compare_id, agreement, runs } }: { query: string; answer: CompareResponse }) {
  return (
    <>
      <p class="quiet" role="status">
        <bdi>“{query}”</bdi>:{' '}
        {agreement.map(
          ({ jaccard_at_k, rbo }) =>
            `${percent(jaccard_at_k)} of the results are shared; rank agreement ${decimal(rbo, 2)} of 1.`,
        )}
      </p>
      <div class="compare">
        {runs.map(({ model, results }, side) => (
          <section key={model} class="card" aria-labelledby={`compare-${side}`}>
            <h3 id={`compare-${side}`}>
              <bdi>{model}</bdi>
            </h3>
            {results.length === 0 && <p class="quiet">No results.</p>}
            <ol class="plain-list compare-list">
              {results.map((page) => {
                const there = runs[1 - side].results.findIndex(({ page_id }) => page_id === page.page_id);
                return (
                  <li key={page.page_id} class={there < 0 ? 'compare-only' : undefined}>
                    <div class="compare-page">
                      <a href={linkTo('page', page.page_id)}>
                        <bdi>{nameOf(page)}</bdi>
                      </a>
                      <span class="quiet">
                        <bdi>{shortUrl(page.canonical_url).split('/')[0]}</bdi> ·{' '}
                        {there < 0 ? 'only here' : `rank ${there + 1} there`}
                      </span>
                    </div>
                    <Judge queryId={compare_id} pageId={page.page_id} />
                  </li>
                );
              })}
            </ol>
          </section>
        ))}
      </div>
    </>
  );
}
