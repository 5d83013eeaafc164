/** Short notices. Most disappear on their own; errors when closed or with their view; undoable ones on request. */
import { effect, signal } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import { isAbort, wordsFor } from '../api/client.ts';
import { Icon } from '../ui/icon.tsx';
import { currentView } from './router.ts';

interface Notice {
  id: number;
  text: string;
  kind: 'done' | 'error' | 'waiting';
  undo?: () => void;
}

const notices = signal<readonly Notice[]>([]);
const shownMs = 5000;
const maxDone = 4;
let next = 1;

let viewBefore = currentView.peek();
effect(() => {
  if (currentView.value === viewBefore) return;
  viewBefore = currentView.value;
  notices.value = notices.peek().filter(({ kind }) => kind !== 'error');
});

/** Returns a function that dismisses the notice. */
export function notify(text: string, kind: Notice['kind'] = 'done', undo?: () => void): () => void {
  const notice = { id: next++, text, kind, ...(undo && { undo }) };
  const done = notices.value.filter((each) => each.kind === 'done').slice(1 - maxDone);
  notices.value = [...notices.value.filter((each) => each.kind !== 'done' || done.includes(each)), notice];
  const dismissIt = () => dismiss(notice.id);
  if (kind === 'done') setTimeout(dismissIt, shownMs);
  return dismissIt;
}

function dismiss(id: number): void {
  notices.value = notices.value.filter((each) => each.id !== id);
}

/** Run an action and show its error. */
export async function attempt(
  work: () => Promise<unknown>,
  tell: (said: string) => unknown = (said) => notify(said, 'error'),
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isAbort(error)) tell(wordsFor(error));
  }
}

/** One action at a time; `said` is the last error. */
export function useAttempt() {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<string | null>(null);
  const isRunning = useRef(false);
  const attemptOne = async (work: () => Promise<unknown>): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setSaid(null);
    await attempt(work, setSaid);
    isRunning.current = false;
    setBusy(false);
  };
  return { busy, said, attempt: attemptOne };
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, kind, undo }) => (
        <div key={id} class={`notice notice-${kind}`}>
          <Icon name={kind === 'done' ? 'check' : kind === 'error' ? 'alert' : 'trash'} />
          <span>
            <bdi>{text}</bdi>
          </span>
          {undo !== undefined ? (
            <button type="button" class="button button-small" aria-label={`Undo: ${text}`} onClick={undo}>
              Undo
            </button>
          ) : (
            <button type="button" class="icon-button" aria-label="Close notice" onClick={() => dismiss(id)}>
              <Icon name="x" />
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
