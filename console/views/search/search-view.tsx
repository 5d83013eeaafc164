/** Search: the box, the results, and beside them what narrows them. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { connection } from '../../api/client.ts';
import { isTyping, searchWanted } from '../../app/keys.tsx';
import { go, keep, kept, route, settle, stepNow, useTitle } from '../../app/router.ts';
import { count, duration, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Fault } from '../../ui/parts.tsx';
import { type Criteria, criteriaOf, filterless, isFiltered, linkOf, mostLetters } from './criteria.ts';
import { FilterChips, FilterPanel } from './filters.tsx';
import { Landing } from './landing.tsx';
import { ResultList } from './result-list.tsx';
import { type Counted, type Found, nothingCounted, useSearch } from './use-search.ts';

/** What is looked for becomes something else: a step that one can go back on, but for what is passing while it is typed, or changes the last step `again`. */
function change(part: Partial<Criteria>, { passing = false, again = false } = {}): void {
  go(linkOf({ ...criteriaOf(route.value.params), ...part }), { replace: again, passing });
}

const resultTitle = '[data-result] .result-title';

/** Results of something else than what is asked for now are told apart once that takes a while, ms: with every key they would flicker. */
const staleMs = 400;

export function SearchView() {
  const box = useRef<HTMLInputElement>(null);
  const section = useRef<HTMLElement>(null);
  const [showsFilters, setShowsFilters] = useState(kept<boolean>('filters') ?? false);
  const criteria = criteriaOf(route.value.params);
  const { found, isStale, key, error, moreError, busy, counted, isCounted, more, again, type, rest } =
    useSearch(criteria);
  const focusBox = () => {
    box.current?.focus();
    box.current?.select();
  };
  const [wantedBefore] = useState(searchWanted.value);
  useEffect(() => {
    if (searchWanted.value > wantedBefore) focusBox();
    // Who comes back to a result finds the focus on it.
    else if (!kept('link') && !matchMedia('(hover: none)').matches) box.current?.focus();
  }, [searchWanted.value]);
  const title = criteria.query.trim();
  useTitle(title === '' ? 'Search' : title);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // It is of an input method, or of another field, first.
      if (event.key !== 'Escape' || event.isComposing || document.querySelector('dialog[open]') !== null) return;
      if (event.target === box.current) change({ query: '' });
      else if (!isTyping(event.target)) focusBox();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  const looksStale = useLasting(isStale, staleMs);
  const countsLast = useLasting(!isCounted, staleMs);
  const hasFailed = error !== undefined && isStale;
  /** Whether the results come that stay: what passes is in another order. */
  const isPassing = isStale || (found?.isPassing === true && error === undefined);
  /** The search whose results are gone to once they are there. */
  const wanted = useRef<string | null>(null);
  const toResults = () => {
    rest(); // also where there are none yet to go to
    if (isPassing) wanted.current = key;
    else toFirst();
  };
  const toFirst = () => section.current?.querySelector<HTMLElement>(resultTitle)?.focus();
  useEffect(() => {
    if (isPassing) return;
    if (wanted.current === key && document.activeElement === box.current) toFirst();
    wanted.current = null;
  }, [found, isPassing, key]);
  /** What is changed by something that goes away with it. */
  const changeFromResults = (part: Partial<Criteria>) => {
    change(part);
    section.current?.focus({ preventScroll: true });
  };
  const step = stepNow();
  useEffect(() => keep('filters', showsFilters), [showsFilters, step]);
  const isEmpty = title === '';
  const isIdle = isEmpty && !isFiltered(criteria);
  // Neither is drawn anew with every key: results come with an answer, what the filters show when typing rests.
  const filterKey = linkOf({ ...criteria, query: '' });
  const resultList = useMemo(
    () =>
      found !== null && (
        <ResultList
          found={found}
          busy={busy}
          moreError={moreError}
          isFiltered={isFiltered(criteria)}
          toBox={focusBox}
          more={more}
          clearFilters={() => changeFromResults(filterless)}
          searchFor={(query) => changeFromResults({ query })}
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
              maxLength={mostLetters}
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
                // They are shown above the results, and stand behind them in the page.
                if (!showsFilters) requestAnimationFrame(() => document.getElementById('filters')?.focus());
              }}
            >
              <Icon name="filter" />
              Filters
            </button>
          </div>
        )}
        <FilterChips
          criteria={criteria}
          change={(part) => (isFiltered({ ...criteria, ...part }) || isEmpty ? change(part) : changeFromResults(part))}
        />
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
            {hasFailed ? null : resultList}
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
  if (all === 0) return 'Nothing found';
  const pages = best.has_more ? `More than ${count(all)} pages` : many(all, 'page');
  const mended = found.corrected.some(({ taken }) => taken.length > 0) ? ', spelling corrected' : '';
  return `${pages} in ${duration(found.tookMs / 1000)}${mended}`;
}
