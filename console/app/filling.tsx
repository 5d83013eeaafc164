/** Filling the vectors of the built-in model: its bar while many passages wait, and the pause button. */
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ModelInfo, ModelListResponse } from '../../src/domain/model.ts';
import { call, connection, get, session } from '../api/client.ts';
import { useLoad, useRepeat } from '../api/load.ts';
import { duration, many } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { ActButton } from '../ui/parts.tsx';
import { mayWrite } from './session.tsx';

const idleMs = 30_000;
const lookAgainMs = 5000;
/** New pages get their vectors soon: the bar needs more waiting passages than this for some time. */
const fewPassages = 50;
const shownAfterMs = 10_000;

const fillTurn = signal(0);

/** Reloaded when filling is paused or resumed. */
export const useModels = (isOn: boolean) =>
  useLoad((signal) => get<ModelListResponse>('/v1/models', {}, signal), [isOn || null], [fillTurn.value]);

/** Only this model has a runtime. */
export const isBuiltIn = ({ runtime }: ModelInfo): boolean => runtime !== undefined;

export function PauseButton({ paused = false }: Pick<ModelInfo, 'paused'>) {
  const change = async () => {
    await call('POST', '/v1/models/fill', { body: { paused: !paused } });
    fillTurn.value++;
  };
  if (!mayWrite()) return null;
  return (
    <ActButton class="button button-small" act={change}>
      {paused ? 'Resume' : 'Pause'}
    </ActButton>
  );
}

export function FillLine() {
  const isOn = session.value === 'in' && connection.value === 'ok';
  const models = useModels(session.value === 'in');
  const model = models.data?.models.find(isBuiltIn);
  const pending = model === undefined || model.status === 'failed' ? 0 : (model.vectors_pending ?? 0);
  const [isShown, setShown] = useState(false);
  const since = useRef<number | null>(null);
  useRepeat([models], pending > 0 ? lookAgainMs : idleMs, isOn);
  useEffect(() => {
    const now = performance.now();
    since.current = pending > fewPassages ? (since.current ?? now) : null;
    const isLong = since.current !== null && now - since.current >= shownAfterMs;
    setShown((before) => pending > 0 && (before || isLong));
  }, [models.data]);
  const { paused, pages_pending = 0, eta_s } = model ?? {};
  const isVisible = isShown && pending > 0 && connection.value === 'ok';
  return (
    <>
      <p class="hidden" role="status">
        {isVisible && (paused ? 'Filling vectors is paused.' : 'Computing vectors.')}
      </p>
      {isVisible && (
        <div class="bar bar-fill">
          <Icon name="models" />
          <span>
            {paused ? 'Filling vectors is paused' : `Vectors: ${many(pages_pending, 'page')} left`}
            {!paused && eta_s != null && <span class="wide-only">, about {duration(eta_s)}</span>}
          </span>
          <PauseButton paused={paused} />
        </div>
      )}
    </>
  );
}
