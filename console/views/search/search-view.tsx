/** Search: the box, the results, and beside them what narrows them. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { connection, epoch } from '../../api/client.ts';
import { isTyping, searchWanted } from '../../app/keys.tsx';
import { go, route, settle } from '../../app/router.ts';
import { duration, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Fault } from '../../ui/parts.tsx';
import { type Criteria, criteriaOf, filterless, isFiltered, linkOf } from './criteria.ts';
import { FilterChips, FilterPanel } from './filters.tsx';
import { Landing } from './landing.tsx';
import { ResultList } from './result-list.tsx';
import { useSearch } from './use-search.ts';

/** What is looked for becomes something else; `passing` while it is typed. */
function change(part: Partial<Criteria>, { passing = false } = {}): void {
  go(linkOf({ ...criteriaOf(route.value.params), ...part }), { replace: true, passing });
}

const resultTitle = '[data-result] .result-title';

/** Results of something else than what is asked for now are told apart once that takes a while, ms: with every key they would flicker. */
const staleMs = 400;

const again = () => {
  epoch.value++;
};

export function SearchView() {
  const box = useRef<HTMLInputElement>(null);
  const section = useRef<HTMLElement>(null);
  const [showsFilters, setShowsFilters] = useState(false);
  const criteria = criteriaOf(route.value.params);
  const { found, isStale, error, busy, counted, isCounted, more, type, rest } = useSearch(criteria);
  const focusBox = () => {
    box.current?.focus();
    box.current?.select();
  };
  useEffect(() => {
    if (searchWanted.value > 0) focusBox();
    else if (!matchMedia('(hover: none)').matches) box.current?.focus();
  }, [searchWanted.value]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) {
        if (isTyping(event.target) && event.target === box.current) change({ query: '' });
        else focusBox();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  useKeptFocus(section, found);
  const looksStale = useLasting(isStale, staleMs);
  const toResults = () => {
    rest(); // also where there are none yet to go to
    section.current?.querySelector<HTMLElement>(resultTitle)?.focus();
  };
  const isEmpty = criteria.query.trim() === '';
  // Neither is drawn anew with every key: results come with an answer, what the filters show when typing rests.
  const filterKey = linkOf({ ...criteria, query: '' });
  const resultList = useMemo(
    () =>
      found !== null && (
        <ResultList
          found={found}
          busy={busy}
          isFiltered={isFiltered(criteria)}
          toBox={focusBox}
          more={more}
          clearFilters={() => change(filterless)}
          searchFor={(query) => change({ query })}
          narrow={change}
        />
      ),
    [found, busy, filterKey],
  );
  const filterPanel = useMemo(
    () => <FilterPanel criteria={criteria} counted={counted} change={change} isOpen={showsFilters} />,
    [counted, filterKey, showsFilters],
  );
  return (
    <div class={isEmpty ? 'search search-idle' : 'search'}>
      <h1 class="hidden">Search</h1>
      <div class="search-top">
        <search>
          <form
            class="search-box"
            onSubmit={(event) => {
              event.preventDefault();
              toResults();
            }}
          >
            <Icon name="search" />
            <input
              ref={box}
              type="search"
              name="q"
              aria-label="Search what you have read"
              placeholder="Search what you have read"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              maxLength={4000}
              enterkeyhint="search"
              value={criteria.query}
              onInput={({ currentTarget }) => {
                type(currentTarget.value);
                change({ query: currentTarget.value }, { passing: true });
              }}
              onBlur={settle}
              onKeyDown={(event) => {
                if (event.key !== 'ArrowDown') return;
                event.preventDefault();
                toResults();
              }}
            />
            {!isEmpty && (
              <button
                type="button"
                class="icon-button"
                aria-label="Clear the search"
                onClick={() => {
                  change({ query: '' });
                  focusBox();
                }}
              >
                <Icon name="x" />
              </button>
            )}
            <span class="search-key" aria-hidden="true">
              /
            </span>
          </form>
        </search>
        {!isEmpty && (
          <div class="search-line">
            <p class="search-status" role="status">
              {statusOf({ found, busy, counted: isCounted ? counted.length : 0, isAway: connection.value === 'lost' })}
            </p>
            <button
              type="button"
              class="button button-small filter-button"
              aria-expanded={showsFilters}
              aria-controls="filters"
              onClick={() => setShowsFilters(!showsFilters)}
            >
              <Icon name="filter" />
              Filters
            </button>
          </div>
        )}
        <FilterChips criteria={criteria} change={change} />
      </div>
      {isEmpty ? (
        <Landing />
      ) : (
        <div class="search-body">
          <section
            ref={section}
            class={looksStale ? 'results results-stale' : 'results'}
            aria-label="Results"
            aria-busy={busy}
            tabIndex={-1}
            onFocusIn={rest}
          >
            <Fault error={error} retry={again} />
            {resultList}
          </section>
          {filterPanel}
        </div>
      )}
    </div>
  );
}

/** Whether `is` has been so for a while. */
function useLasting(is: boolean, ms: number): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    if (!is) return;
    const timer = setTimeout(() => setLasts(true), ms);
    return () => {
      clearTimeout(timer);
      setLasts(false);
    };
  }, [is]);
  return is && lasts;
}

/** The focus stays in `section` when `shown` changes: on its result, or where that is gone on the one in its place. */
function useKeptFocus(section: { current: HTMLElement | null }, shown: unknown): void {
  const { activeElement } = document;
  const focused = section.current?.contains(activeElement) ? (activeElement as HTMLElement) : null;
  const place = section.current === null || focused === null ? 0 : resultsBefore(section.current, focused);
  useLayoutEffect(() => {
    if (focused === null || section.current === null || section.current.contains(document.activeElement)) return;
    const titles = [...section.current.querySelectorAll<HTMLElement>(resultTitle)];
    // A result that moved is taken out and put in again.
    const next = focused.isConnected ? focused : (titles[Math.min(place, titles.length - 1)] ?? section.current);
    next.focus();
  }, [shown]);
}

const resultsBefore = (section: HTMLElement, element: HTMLElement): number =>
  [...section.querySelectorAll('[data-result]')].filter(
    (item) => !item.contains(element) && item.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING,
  ).length;

interface Told {
  found: { results: readonly unknown[]; tookMs: number; has_more: boolean } | null;
  busy: boolean;
  counted: number;
  isAway: boolean;
}

function statusOf({ found, busy, counted, isAway }: Told): string {
  if (isAway) return 'Waiting for the service';
  if (found === null) return busy ? 'Searching…' : '';
  const all = Math.max(counted, found.results.length);
  if (all === 0) return 'Nothing found';
  const isMore = all >= 100 || (all > counted && found.has_more);
  const pages = `${many(all, 'page')}${isMore ? ' and more' : ''}`;
  return `${pages} in ${duration(found.tookMs / 1000)}`;
}
