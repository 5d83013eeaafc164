/** Suggestions in a list over the results, until the next one arrives. Arrows move in it, then to the results. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { QuerySuggestion, SuggestResponse } from '../../../src/domain/search.ts';
import { get } from '../../api/client.ts';
import { go, linkTo } from '../../app/router.ts';
import { many } from '../../ui/format.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { SiteMark } from '../../ui/text.tsx';
import type { Criteria } from './criteria.ts';
import { pauseMs } from './use-search.ts';

/** The service's maximum. */
export const maxTyped = 200;

const kinds: Record<QuerySuggestion['kind'], { icon: IconName | null; label: string }> = {
  query: { icon: 'clock', label: 'Earlier search' },
  page: { icon: 'text', label: 'Page' },
  domain: { icon: null, label: 'Site' },
  entity: { icon: 'names', label: 'Name' },
  cluster: { icon: 'topics', label: 'Topic' },
};
function KindMark({ kind, text }: QuerySuggestion) {
  const { icon } = kinds[kind];
  return icon === null ? <SiteMark domain={text} /> : <Icon name={icon} />;
}

/** An option of a list whose box keeps the focus. */
export function Option(given: { id: string; isActive: boolean; onTake: () => void; children: ComponentChildren }) {
  return (
    <button
      type="button"
      tabIndex={-1}
      id={given.id}
      class="suggestion"
      role="option"
      aria-selected={given.isActive}
      onClick={given.onTake}
    >
      {given.children}
    </button>
  );
}

export function SuggestionOption({ item }: { item: QuerySuggestion }) {
  return (
    <>
      <KindMark {...item} />
      <bdi class="suggestion-text">{item.text}</bdi>{' '}
      <bdi class="suggestion-detail">
        {kinds[item.kind].label}
        {item.domain !== null && <span class="suggestion-site"> · {item.domain}</span>}
        {item.page_count !== null && ` · ${many(item.page_count, 'page')}`}
      </bdi>
    </>
  );
}

/** The criteria of a suggestion; a page is opened instead. */
const criteriaOf: Record<Exclude<QuerySuggestion['kind'], 'page'>, (item: QuerySuggestion) => Partial<Criteria>> = {
  query: ({ text }) => ({ query: text }),
  domain: ({ text }) => ({ query: '', site: text }),
  entity: ({ id, text }) => ({ query: '', name: id, nameText: text }),
  cluster: ({ id, text }) => ({ query: '', topic: id, topicName: text }),
};

export const searchOf = (item: QuerySuggestion): Partial<Criteria> =>
  item.kind === 'page' ? {} : criteriaOf[item.kind](item);

const listId = 'suggestions';
const idOf = (at: number) => `suggestion-${at}`;
const closed = { items: [] as readonly QuerySuggestion[], active: -1 };

/** `shown`: the query in the box. `choose`: search for this. `leave`: go to the results. */
export function useSuggestions(shown: string, choose: (part: Partial<Criteria>) => void, leave: () => void) {
  const [{ items, active }, setShown] = useState(closed);
  const pending = useRef<{ query: string; stop: () => void } | null>(null);
  useEffect(() => document.getElementById(idOf(active))?.scrollIntoView({ block: 'nearest' }), [active]);
  const activate = (at: number) => setShown({ items, active: at });
  const close = () => {
    pending.current?.stop();
    pending.current = null;
    setShown(closed);
  };
  useEffect(() => () => pending.current?.stop(), []);
  // The box changed, but not by typing.
  useLayoutEffect(() => {
    if (pending.current !== null && shown.trim() !== pending.current.query) close();
  }, [shown]);

  const type = (text: string) => {
    const query = text.trim();
    if (query === pending.current?.query) return;
    if (query === '' || query.length > maxTyped) return close();
    pending.current?.stop();
    if (active >= 0) activate(-1);
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(() => {
      get<SuggestResponse>('/v1/search/suggest', { q: query }, signal).then(
        ({ suggestions }) => {
          // The list does not change under the user's choice.
          if (!signal.aborted) setShown((now) => (now.active >= 0 ? now : { items: suggestions, active: -1 }));
        },
        () => {
          if (!signal.aborted) setShown(closed); // the search reports errors
        },
      );
    }, pauseMs);
    pending.current = {
      query,
      stop: () => {
        clearTimeout(timer);
        controller.abort();
      },
    };
  };

  const take = (item: QuerySuggestion) => {
    close();
    if (item.kind === 'page') go(linkTo('page', item.id ?? ''));
    else choose({ spelling: null, ...searchOf(item) });
  };

  /** Returns whether the list has handled the key. */
  const press = (event: KeyboardEvent): boolean => {
    if (items.length === 0 || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && active >= 0) take(items[active]);
    else if (event.key === 'ArrowUp') activate(active < 0 ? items.length - 1 : active - 1);
    else if (event.key === 'ArrowDown' && active < items.length - 1) activate(active + 1);
    else if (event.key === 'ArrowDown') {
      close();
      leave();
    } else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };

  const isOpen = items.length > 0;
  const attributes = {
    role: 'combobox',
    list: undefined, // required by the types of this role
    'aria-autocomplete': 'list',
    'aria-expanded': isOpen,
    'aria-controls': isOpen ? listId : undefined,
    'aria-activedescendant': active < 0 ? undefined : idOf(active),
  } as const;
  const list = isOpen && (
    // The box keeps the focus.
    <div
      id={listId}
      class="suggestions"
      role="listbox"
      aria-label="Suggestions"
      onMouseDown={(event) => event.preventDefault()}
    >
      {items.map((item, at) => (
        <Option
          key={`${item.kind} ${item.id ?? item.text}`}
          id={idOf(at)}
          isActive={at === active}
          onTake={() => take(item)}
        >
          <SuggestionOption item={item} />
        </Option>
      ))}
    </div>
  );
  return { attributes, list, type, press, close };
}
