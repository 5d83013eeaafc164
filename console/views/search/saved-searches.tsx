/** Saved searches: names and links to results, kept in this browser for each library and token. */
import { effect, signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { useAttempt } from '../../app/notices.tsx';
import { holder } from '../../app/session.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Dialog, FormEnd } from '../../ui/parts.tsx';
import { isolated } from '../../ui/text.tsx';
import { type Criteria, linkOf, sortNames, stateNames, typeNames } from './criteria.ts';
import { periodOf } from './filters.tsx';

interface SavedSearch {
  name: string;
  link: string;
}

/** By name. */
export const savedSearches = signal<readonly SavedSearch[]>([]);
const storageKey = () => `readback.searches.${holder.value?.library}.${holder.value?.name}`;

function read(): void {
  try {
    savedSearches.value = JSON.parse(localStorage.getItem(storageKey()) ?? '[]');
  } catch {
    savedSearches.value = []; // edited by hand
  }
}
effect(read);
addEventListener('storage', read); // another tab

function write(searches: readonly SavedSearch[]): void {
  localStorage.setItem(storageKey(), JSON.stringify(searches));
  savedSearches.value = searches;
}

const remove = (link: string) => write(savedSearches.value.filter((each) => each.link !== link));

function nameOf({ query, topic, topicName, name, nameText, type, sort, from, to, ...rest }: Criteria): string {
  const period = from === null && to === null ? null : periodOf(from, to);
  const parts = [
    query,
    rest.site,
    topicName ?? topic,
    nameText ?? name,
    rest.lang,
    type && typeNames[type],
    rest.is && stateNames[rest.is],
  ];
  return [...parts, rest.tag, rest.folder, rest.source, period, sort && sortNames[sort]].filter(Boolean).join(' · ');
}

export function SaveButton({ criteria }: { criteria: Criteria }) {
  const [isAsked, setAsked] = useState(false);
  const link = linkOf(criteria);
  const isSaved = savedSearches.value.some((each) => each.link === link);
  return (
    <>
      <button
        type="button"
        class="icon-button save-button"
        aria-label="Save search"
        aria-pressed={isSaved}
        title={isSaved ? 'Remove from saved searches' : 'Save search'}
        onClick={() => (isSaved ? remove(link) : setAsked(true))}
      >
        <Icon name="star" />
      </button>
      {isAsked && <SaveDialog link={link} proposed={nameOf(criteria).slice(0, 100)} close={() => setAsked(false)} />}
    </>
  );
}

function SaveDialog({ link, proposed, close }: { link: string; proposed: string; close: () => void }) {
  const [typed, setTyped] = useState(proposed);
  const { busy, said, attempt } = useAttempt();
  const save = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const name = typed.trim();
      const others = savedSearches.value.filter((each) => each.link !== link);
      if (name === '') throw new Error('Type a name.');
      if (others.some((each) => each.name === name)) throw new Error(`Another search is saved as ${isolated(name)}.`);
      write([...others, { name, link }].sort((a, b) => a.name.localeCompare(b.name)));
      close();
    });
  };
  return (
    <Dialog title="Save search" onClose={close}>
      <form class="stack" onSubmit={save}>
        <label class="field">
          <span>Name</span>
          <input
            required
            maxLength={100}
            autocomplete="off"
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </label>
        <p class="hint">Saved with its filters and order, in this browser only. It is listed under the search box.</p>
        <FormEnd said={said} busy={busy} act="Save" cancel={close} />
      </form>
    </Dialog>
  );
}

export function SavedSearches() {
  if (savedSearches.value.length === 0) return null;
  return (
    <section class="recent" aria-labelledby="saved">
      <h2 id="saved">Saved searches in this browser</h2>
      <ul class="tags">
        {savedSearches.value.map(({ name, link }) => (
          <li key={link} class="tag">
            <a href={link}>
              <bdi>{name}</bdi>
            </a>
            <button
              type="button"
              class="tag-remove"
              aria-label={`Remove saved search ${name}`}
              onClick={() => remove(link)}
            >
              <Icon name="x" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
