/** Search: the box, results and filters. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { connection } from '../../api/client.ts';
import { isTyping, searchWanted } from '../../app/keys.tsx';
import { go, keep, kept, route, settle, stepNow, useTitle } from '../../app/router.ts';
import { count, duration, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Fault } from '../../ui/parts.tsx';
import { BestSentence } from '../ask/quotes.tsx';
import { type Criteria, criteriaOf, isFiltered, linkOf, maxLetters, sortNames } from './criteria.ts';
import { FilterChips, FilterPanel } from './filters.tsx';
import { Landing } from './landing.tsx';
import { ResultList } from './result-list.tsx';
import { SaveButton } from './saved-searches.tsx';
import { useSuggestions } from './suggestions.tsx';
import { type Counted, type Found, nothingCounted, useSearch } from './use-search.ts';

/** Change the criteria: adds a history step, except while `passing`, or replaces the last one with `again`. */
function change(part: Partial<Criteria>, { passing = false, again = false } = {}): void {
  go(linkOf({ ...criteriaOf(route.value.params), ...part }), { replace: again, passing });
}

const resultTitle = '[data-result] .result-title';

/** Stale results are dimmed after this time, ms, to avoid flicker. */
const staleMs = 400;

export function SearchView() {
  const box = useRef<HTMLInputElement>(null);
  const section = useRef<HTMLElement>(null);
  const [showsFilters, setShowsFilters] = useState(kept<boolean>('filters') ?? false);
  const criteria = criteriaOf(route.value.params);
  const { found, isStale, key, error, moreError, busy, counted, isCounted, more, again, type, rest, finish } =
    useSearch(criteria);
  const focusBox = () => {
    box.current?.focus();
    box.current?.select();
  };
  const [wantedBefore] = useState(searchWanted.value);
  useEffect(() => {
    if (searchWanted.value > wantedBefore) focusBox();
    // Returns restore the focus on a result.
    else if (!kept('link') && !matchMedia('(hover: none)').matches) box.current?.focus();
  }, [searchWanted.value]);
  const title = criteria.query.trim();
  useTitle(title === '' ? 'Search' : title);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // Input methods and other fields handle Escape first.
      if (event.key !== 'Escape' || event.isComposing || document.querySelector('dialog[open]') !== null) return;
      if (event.target === box.current) change({ query: '', spelling: null });
      else if (!isTyping(event.target)) focusBox();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  const looksStale = useLasting(isStale, staleMs);
  const countsLast = useLasting(!isCounted, staleMs);
  const hasFailed = error !== undefined && isStale;
  /** Whether the ranking is final: passing results have another order. */
  const isPassing = isStale || (found?.isPassing === true && error === undefined);
  /** The search whose results get the focus when they arrive. */
  const wanted = useRef<string | null>(null);
  const toResults = () => {
    rest(); // even if there are no results to go to yet
    if (isPassing) wanted.current = key;
    else toFirst();
  };
  const toFirst = () => section.current?.querySelector<HTMLElement>(resultTitle)?.focus();
  useEffect(() => {
    if (isPassing) return;
    if (wanted.current === key && document.activeElement === box.current) toFirst();
    wanted.current = null;
  }, [found, isPassing, key]);
  /** For changes by elements that disappear with the change. */
  const changeFromResults = (part: Partial<Criteria>) => {
    change(part);
    section.current?.focus({ preventScroll: true });
  };
  const suggestions = useSuggestions(
    criteria.query,
    (part) => {
      change(part);
      requestAnimationFrame(() => section.current?.focus({ preventScroll: true }));
    },
    toResults,
  );
  const step = stepNow();
  useEffect(() => keep('filters', showsFilters), [showsFilters, step]);
  const isEmpty = title === '';
  const isIdle = isEmpty && !isFiltered(criteria);
  // Avoids rerendering with every key: results change with answers, filters when typing pauses.
  const filterKey = linkOf({ ...criteria, query: '' });
  const resultList = useMemo(
    () =>
      found !== null && (
        <ResultList
          found={found}
          busy={busy}
          moreError={moreError}
          criteria={criteria}
          toBox={focusBox}
          more={more}
          again={again}
          change={changeFromResults}
          narrow={change}
        />
      ),
    [found, busy, moreError, filterKey],
  );
  const filterPanel = useMemo(
    () => (
      <FilterPanel
        criteria={criteria}
        counted={counted}
        isOld={countsLast && counted.results.length > 0}
        change={change}
        isOpen={showsFilters}
      />
    ),
    [counted, filterKey, showsFilters, countsLast],
  );
  return (
    <div class={isIdle ? 'search search-idle' : 'search'}>
      <h1 class="hidden">Search</h1>
      <div class="search-top">
        <search>
          <form
            class="search-box"
            onSubmit={(event) => {
              event.preventDefault();
              suggestions.close();
              if (finish()) {
                wanted.current = key;
                return;
              }
              toResults();
              if (busy || (error === undefined && found?.results.length !== 0)) return;
              wanted.current = key;
              again();
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
              maxLength={maxLetters}
              enterkeyhint="search"
              value={criteria.query}
              {...suggestions.attributes}
              onInput={({ currentTarget }) => {
                type(currentTarget.value);
                suggestions.type(currentTarget.value);
                change({ query: currentTarget.value, spelling: null }, { passing: true });
              }}
              onBlur={() => {
                settle();
                suggestions.close();
              }}
              onKeyDown={(event) => {
                if (suggestions.press(event) || event.key !== 'ArrowDown' || event.isComposing) return;
                event.preventDefault();
                toResults();
              }}
            />
            {!isEmpty && (
              <button
                type="button"
                class="icon-button"
                aria-label="Clear search"
                onClick={() => {
                  change({ query: '', spelling: null });
                  focusBox();
                }}
              >
                <Icon name="x" />
              </button>
            )}
            <span class="search-key" aria-hidden="true">
              /
            </span>
            {suggestions.list}
          </form>
        </search>
        {!isIdle && (
          <div class="search-line">
            <p class="search-status" role="status">
              {statusOf({
                found,
                busy,
                looksStale,
                counted: isCounted ? counted : nothingCounted,
                hasFailed: error !== undefined,
                isAway: connection.value === 'lost',
              })}
            </p>
            <div class="search-chips">
              <FilterChips
                criteria={criteria}
                total={isCounted ? (counted.facets?.total ?? null) : null}
                change={(part) =>
                  isFiltered({ ...criteria, ...part }) || isEmpty ? change(part) : changeFromResults(part)
                }
              />
            </div>
            <label class="select">
              <span class="hidden">Sort by</span>
              <select
                value={criteria.sort ?? 'relevance'}
                onChange={({ currentTarget: { value } }) =>
                  change({ sort: value === 'relevance' ? null : (value as Criteria['sort']) })
                }
              >
                {Object.entries(sortNames).map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
            <SaveButton criteria={{ ...criteria, query: title }} />
            <a class="quiet-link" href={linkOf({ ...criteria, query: title }, 'map')}>
              On the map
              <Icon name="chevron" />
            </a>
            <button
              type="button"
              class="button button-small filter-button"
              aria-expanded={showsFilters}
              aria-controls="filters"
              onClick={() => {
                setShowsFilters(!showsFilters);
                // Filters are above the results but later in the page.
                if (!showsFilters) requestAnimationFrame(() => document.getElementById('filters')?.focus());
              }}
            >
              <Icon name="filter" />
              Filters
            </button>
          </div>
        )}
      </div>
      {isIdle ? (
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
            {found !== null && !hasFailed && <BestSentence found={found} isCurrent={!isPassing} criteria={criteria} />}
            {hasFailed ? null : resultList}
          </section>
          {filterPanel}
        </div>
      )}
    </div>
  );
}

/** Whether `is` has been true for `ms`. */
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

interface Told {
  found: Found | null;
  busy: boolean;
  looksStale: boolean;
  counted: Counted;
  hasFailed: boolean;
  isAway: boolean;
}

function statusOf({ found, busy, looksStale, counted, hasFailed, isAway }: Told): string {
  if (isAway) return 'Waiting for the service';
  if (busy && (found === null || looksStale)) return 'Searching…';
  if (found === null || hasFailed) return '';
  const best = counted.results.length > found.results.length ? counted : found;
  const all = best.results.length;
  if (all === 0) return 'No results';
  const total = counted.facets?.total ?? 0;
  const more = total > all ? many(total, 'page') : `More than ${count(all)} pages`;
  const pages = best.has_more ? more : many(all, 'page');
  const mended = found.corrected_query === null ? '' : ', spelling corrected';
  return `${pages} in ${duration(found.tookMs / 1000)}${mended}`;
}
