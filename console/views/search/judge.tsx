/** Two thumbs: whether a page was a good result of a search, or of a comparison. They wait for one that is logged: `queryId` is null until then. */
import { signal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { attempt } from '../../app/notices.tsx';
import { Icon } from '../../ui/icon.tsx';

const words = [
  { relevant: true, label: 'Good result', action: 'good', icon: 'up' },
  { relevant: false, label: 'Bad result', action: 'bad', icon: 'down' },
] as const;

/** What was said before is sent first: of two thumbs the last counts. */
let sent: Promise<void> = Promise.resolve();

/** By query and page, what was said since the console was loaded: who comes back to the results finds it. */
export const judgements = signal<ReadonlyMap<string, boolean>>(new Map());

export function Judge({ queryId, pageId }: { queryId: string | null; pageId: string }) {
  const key = `${queryId} ${pageId}`;
  const judged = judgements.value.get(key);
  const judge = (relevant: boolean) => {
    const send = async () => {
      if (judgements.value.get(key) === relevant) return; // a double click
      await call('POST', '/v1/feedback', { body: { query_id: queryId, page_id: pageId, relevant } });
      judgements.value = new Map(judgements.value).set(key, relevant);
    };
    sent = sent.then(() => attempt(send));
  };
  return (
    <fieldset class="judge" aria-label="Was this a good result?">
      {words.map(({ relevant, label, action, icon }) => (
        <button
          key={action}
          type="button"
          class="action action-icon"
          data-action={action}
          aria-label={label}
          disabled={queryId === null}
          aria-pressed={judged === relevant}
          onClick={() => judge(relevant)}
        >
          <Icon name={icon} />
        </button>
      ))}
    </fieldset>
  );
}
