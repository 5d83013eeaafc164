/** Short notices at the edge: what was done, what went wrong. They go by themselves, errors when closed, or with the view that they are about. */
import { effect, signal } from '@preact/signals';
import { isAbort, wordsFor } from '../api/client.ts';
import { Icon } from '../ui/icon.tsx';
import { currentView } from './router.ts';

interface Notice {
  id: number;
  text: string;
  kind: 'done' | 'error';
}

const notices = signal<readonly Notice[]>([]);
const shownMs = 5000;
const mostAtOnce = 4;
let next = 1;

let viewBefore = currentView.peek();
effect(() => {
  if (currentView.value === viewBefore) return;
  viewBefore = currentView.value;
  notices.value = notices.peek().filter(({ kind }) => kind === 'done');
});

export function notify(text: string, kind: Notice['kind'] = 'done'): void {
  const notice = { id: next++, text, kind };
  notices.value = [...notices.value, notice].slice(-mostAtOnce);
  if (kind === 'done') setTimeout(() => dismiss(notice.id), shownMs);
}

function dismiss(id: number): void {
  notices.value = notices.value.filter((each) => each.id !== id);
}

/** Do something for the person, and say so if it fails. */
export async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isAbort(error)) notify(wordsFor(error), 'error');
  }
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, kind }) => (
        <div key={id} class={`notice notice-${kind}`}>
          <Icon name={kind === 'done' ? 'check' : 'alert'} />
          <span>
            <bdi>{text}</bdi>
          </span>
          <button type="button" class="icon-button" aria-label="Close notice" onClick={() => dismiss(id)}>
            <Icon name="x" />
          </button>
        </div>
      ))}
    </div>
  );
}
