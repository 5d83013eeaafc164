/** Two thumbs for a result of a search or comparison. `queryId` is null until the search is logged. */
import { signal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { attempt } from '../../app/notices.tsx';
import { Icon } from '../../ui/icon.tsx';

const words = [
  { relevant: true, label: 'Good result', action: 'good', icon: 'up' },
  { relevant: false, label: 'Bad result', action: 'bad', icon: 'down' },
] as const;

type Judgements = ReadonlyMap<string, boolean>;

/** Judgements by query and page since the console was loaded, for returns to the results. */
export const judgements = signal<Judgements>(new Map());
/** The same, including those still being sent. */
const said = signal<Judgements>(new Map());
/** Sent in order per page: the last thumb counts. */
const sent = new Map<string, Promise<void>>();

function withJudgement(all: Judgements, key: string, relevant: boolean | undefined): Judgements {
  const changed = new Map(all);
  if (relevant === undefined) changed.delete(key);
  else changed.set(key, relevant);
  return changed;
}

export function Judge({ queryId, pageId }: { queryId: string | null; pageId: string }) {
  const key = `${queryId} ${pageId}`;
  const judged = said.value.get(key);
  const judge = (relevant: boolean) => {
    if (said.value.get(key) === relevant) return;
    said.value = withJudgement(said.value, key, relevant);
    const send = async () => {
      try {
        await call('POST', '/v1/feedback', { body: { query_id: queryId, page_id: pageId, relevant } });
        judgements.value = withJudgement(judgements.value, key, relevant);
      } catch (error) {
        // The service's value, unless there are newer ones.
        if (sent.get(key) === own) said.value = withJudgement(said.value, key, judgements.value.get(key));
        throw error;
      }
    };
    const own = (sent.get(key) ?? Promise.resolve()).then(() => attempt(send));
    sent.set(key, own);
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
