/** The command palette: views, actions, search operators, and what the library suggests for the typed words. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { operatorHelp } from '../../src/domain/query-clause.ts';
import type { QuerySuggestion, SuggestResponse } from '../../src/domain/search.ts';
import { get } from '../api/client.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { type Criteria, criteriaOf, linkOf } from '../views/search/criteria.ts';
import { savedSearches } from '../views/search/saved-searches.tsx';
import { maxTyped, Option, SuggestionOption, searchOf } from '../views/search/suggestions.tsx';
import { pauseMs } from '../views/search/use-search.ts';
import { keysShown, paletteShown } from './keys.tsx';
import { go, linkTo } from './router.ts';
import { nextTheme } from './theme.ts';
import { views } from './views.ts';

interface Entry {
  icon: IconName;
  text: string;
  detail: string;
  run: () => void;
}

const search = (part: Partial<Criteria>, view = 'search') =>
  go(linkOf({ ...criteriaOf(new URLSearchParams()), ...part }, view));
const going = (view: string) => () => go(linkTo(view));

const actions: readonly Entry[] = [
  ...views.map(({ name, title, icon, key }) => ({ icon, text: title, detail: `View · g ${key}`, run: going(name) })),
  { icon: 'plus', text: 'Add pages or import a file', detail: 'Sources', run: going('sources') },
  { icon: 'sources', text: 'Follow a feed, channel or podcast', detail: 'Sources', run: going('sources') },
  { icon: 'names', text: 'Review suggested merges of names', detail: 'Names', run: going('names') },
  { icon: 'jobs', text: 'See what failed', detail: 'Jobs', run: going('jobs') },
  { icon: 'key', text: 'Pair a browser or create a token', detail: 'System', run: going('system') },
  { icon: 'file', text: 'Back up', detail: 'System', run: going('system') },
  { icon: 'sun', text: 'Change theme', detail: 'Action', run: nextTheme },
  {
    icon: 'keyboard',
    text: 'Keyboard shortcuts and search operators',
    detail: 'Help · ?',
    run: () => {
      keysShown.value = true;
    },
  },
];
const operators: readonly Entry[] = operatorHelp.map(({ operator, finds, example }) => ({
  icon: 'filter',
  text: `${operator} ${finds}`,
  detail: example,
  run: () => search({ query: example }),
}));

/** All words of the text occur. */
function matching(entries: readonly Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/);
  return entries.filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)));
}

function choicesFor(typed: string, found: readonly QuerySuggestion[]): (Entry | QuerySuggestion)[] {
  const saved = savedSearches.value.map(({ name, link }) => ({
    ...{ icon: 'star' as const, text: name, detail: 'Saved search' },
    run: () => go(link),
  }));
  if (typed === '') return [...actions, ...saved];
  const asked: Entry[] = [
    { icon: 'search', text: typed, detail: 'Search', run: () => search({ query: typed }) },
    { icon: 'ask', text: typed, detail: 'Ask', run: () => search({ query: typed }, 'ask') },
  ];
  return [...matching([...saved, ...actions], typed), ...asked, ...found, ...matching(operators, typed)];
}

const listId = 'palette-list';
const idOf = (at: number) => `palette-${at}`;
const keyOf = (choice: Entry | QuerySuggestion) =>
  'run' in choice ? `${choice.detail} ${choice.text}` : `${choice.kind} ${choice.id ?? choice.text}`;

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key.
  useLayoutEffect(() => {
    if (paletteShown.value) dialog.current?.showModal();
  }, [paletteShown.value]);
  const close = () => {
    paletteShown.value = false;
    dialog.current?.close();
  };
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label="Command palette"
      onClose={() => {
        // It may have been opened again before this event came.
        if (dialog.current?.open === false) paletteShown.value = false;
      }}
      onPointerDown={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      {paletteShown.value && <Choices close={close} />}
    </dialog>
  );
}

function Choices({ close }: { close: () => void }) {
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const [found, setFound] = useState<readonly QuerySuggestion[]>([]);
  const isChosen = useRef(false);
  const text = typed.trim();
  useEffect(() => {
    if (text === '' || text.length > maxTyped) return setFound([]);
    const controller = new AbortController();
    const timer = setTimeout(() => {
      // Nothing moves under the user's choice.
      const show = (suggestions: readonly QuerySuggestion[]) => {
        if (!isChosen.current && !controller.signal.aborted) setFound(suggestions);
      };
      get<SuggestResponse>('/v1/search/suggest', { q: text }, controller.signal).then(
        ({ suggestions }) => show(suggestions),
        () => show([]),
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  useEffect(() => document.getElementById(idOf(active))?.scrollIntoView({ block: 'nearest' }), [active]);
  const choices = choicesFor(text, found);
  const { length: count } = choices;
  const take = (at: number) => {
    const choice = choices[at];
    close();
    if ('run' in choice) choice.run();
    else if (choice.kind === 'page') go(linkTo('page', choice.id ?? ''));
    else search(searchOf(choice));
  };
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === 'Enter') take(active);
    else if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      isChosen.current = true;
      setActive((active + (event.key === 'ArrowDown' ? 1 : count - 1)) % count);
    } else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="text"
        class="palette-input"
        role="combobox"
        aria-label="Search pages, views and actions"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={idOf(active)}
        aria-autocomplete="list"
        placeholder="Pages, views, actions, operators"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={({ currentTarget }) => {
          isChosen.current = false;
          setTyped(currentTarget.value);
          setActive(0);
        }}
        onKeyDown={press}
      />
      <div id={listId} class="palette-list" role="listbox" aria-label="Choices">
        {choices.map((choice, at) => (
          <Option key={keyOf(choice)} id={idOf(at)} isActive={at === active} onTake={() => take(at)}>
            {'run' in choice ? (
              <>
                <Icon name={choice.icon} />
                <bdi class="suggestion-text">{choice.text}</bdi> <bdi class="suggestion-detail">{choice.detail}</bdi>
              </>
            ) : (
              <SuggestionOption item={choice} />
            )}
          </Option>
        ))}
      </div>
    </>
  );
}
