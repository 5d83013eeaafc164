/** Registers a known model, or any other of a configured provider. */
import { useState } from 'preact/hooks';
import type { KnownModel, KnownModelsResponse } from '../../../src/domain/known-models.ts';
import { call, get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { useAttempt } from '../../app/notices.tsx';
import { count } from '../../ui/format.ts';
import { Dialog, FormEnd } from '../../ui/parts.tsx';

/** An embedding model once per provider. */
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

export function RegisterDialog({ onClose }: { onClose: () => void }) {
  const [provider, setProvider] = useState('');
  const [name, setName] = useState('');
  const [dim, setDim] = useState('');
  const [tokens, setTokens] = useState('8192');
  const { busy, said, attempt } = useAttempt();
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
  const submit = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const body = { provider, model_name: name, dim: Number(dim), max_input_tokens: Number(tokens) };
      await call('POST', '/v1/models', { body });
      onClose();
    });
  };
  return (
    <Dialog title="Register a model" onClose={busy ? null : onClose}>
      <form class="stack" onSubmit={submit}>
        <label class="field">
          <span>Known model</span>
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
          <span>Provider, as in the settings</span>
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
            <span>Max tokens</span>
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
        <FormEnd said={said} busy={busy} act="Register" />
      </form>
    </Dialog>
  );
}
