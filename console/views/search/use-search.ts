/**
 * Search as you type. Each pause sends a passing request and aborts older ones; these are fused by ranks and not logged. When typing rests,
 * or the user moves to the results, the query is searched in full and logged; then come the filter counts. Until Enter the last word is a
 * prefix, also in the full search. A space after it sends nothing. Results stay until newer ones arrive, so that nothing flickers.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { zoneFor } from '../../../src/compute/ranking/query-operators.ts';
import type { PageResult, SearchFacets, SearchResponse } from '../../../src/domain/search.ts';
import { fairRelevance } from '../../../src/engine/relevance.ts';
import { ApiError, call, epoch, isAbort } from '../../api/client.ts';
import { dropKept, keep, kept } from '../../app/router.ts';
import { type Criteria, filtersOf, isFiltered, linkOf } from './criteria.ts';

/** A pause between keys, ms. */
export const pauseMs = 60;
/** After the last key, ms: longer than a slow typist's pause. */
const restMs = 500;
const pageSize = 10;
/** The service's maximum. */
export const maxCounted = 100;

const full = { k: pageSize, chunks_per_page: 3 };
/** While typing: the results that fit a window. */
const passing = { ...full, k: 5, suggest: 0, rerank: false, log: false };
/** Filters alone need an operator: this matches every page. */
const anyPage = 'after:1970-01-01';
export const counts = { k: maxCounted, chunks_per_page: 0, suggest: 0, log: false, facets: true };
/** The result for an unknown name in a filter. */
const nothing: SearchResponse = {
  query_id: '',
  results: [],
  corrected: [],
  corrected_query: null,
  no_results: { reason: 'excluded', operators: [], filters: ['entity'], pages_waiting: 0 },
  offset: 0,
  has_more: false,
  suggestions: [],
  timing_ms: {},
};

export interface Found extends SearchResponse {
  query: string;
  /** The request as a key. */
  key: string;
  /** The full search is pending, so there is no log entry to judge. */
  isPassing: boolean;
  /** Whether the last word was a prefix. */
  isUnfinished: boolean;
  /** Sorted results are not judged. */
  isByRelevance: boolean;
  /** Pages that earlier answers to this query have shown. */
  seen: readonly string[];
  tookMs: number;
}

export const isBelow = (relevance: number | null): boolean => (relevance ?? 1) < fairRelevance;

/** Shows results up to the last good one, or the last that an earlier answer has shown; all if none is good. */
export function shownOf(
  results: readonly PageResult[],
  { isByRelevance, seen }: Pick<Found, 'isByRelevance' | 'seen'>,
) {
  const isShown = ({ page_id, relevance }: PageResult) => !isBelow(relevance) || seen.includes(page_id);
  const shown = isByRelevance ? results.findLastIndex(isShown) + 1 : 0;
  return shown === 0 ? results.length : shown;
}

/** The first results, for the bars of time, and counts of all pages that match. */
export interface Counted {
  results: readonly PageResult[];
  facets: SearchFacets | null;
  /** Whether there are more than the counted ones. */
  has_more: boolean;
  /** Their request as a key, with and without the period. */
  key: string;
  of: string;
}
export const nothingCounted: Counted = { results: [], facets: null, has_more: false, key: '', of: '' };

interface Search {
  found: Found | null;
  /** Whether the results belong to earlier criteria. */
  isStale: boolean;
  /** The current request as a key. */
  key: string;
  error: unknown;
  /** The error of loading more. */
  moreError: unknown;
  /** Until the full search is answered. */
  busy: boolean;
  /** Counts of the latest full search; of an earlier one while `isCounted` is false. */
  counted: Counted;
  isCounted: boolean;
  more: () => void;
  /** Repeat the search. */
  again: () => void;
  /** The query was typed; links and filters search in full at once. */
  type: (query: string) => void;
  /** Search in full now. */
  rest: () => void;
  /** The query is finished: returns whether it must be searched again without the prefix. */
  finish: () => boolean;
}

/** The query of a request; filters alone send no words. */
export const askedBy = (criteria: Criteria, isUnfinished = false) => {
  const query = criteria.query.trim();
  const shared = { filters: filtersOf(criteria), operators: true, sort: criteria.sort ?? 'relevance' };
  if (query === '') return { ...shared, query: anyPage, log: false, suggest: 0 };
  const spelling = criteria.spelling === null;
  return { ...shared, ...zoneFor(query), query, prefix: isUnfinished && spelling, spelling };
};

/** State kept for returns. */
interface Kept {
  key: string;
  found: Found;
  /** Null if pending. */
  counted: Counted | null;
}
const keptName = 'search';

/** Makes other tabs reload stale results. */
const otherTabs = new BroadcastChannel('readback results');
let isOutOfDate = false;
const askAnew = () => {
  if (document.hidden || !isOutOfDate) return; // the tab is hidden or up to date
  isOutOfDate = false;
  epoch.value++;
};
otherTabs.onmessage = () => {
  dropKept(keptName);
  isOutOfDate = true;
  askAnew();
};
addEventListener('visibilitychange', askAnew);

/** Pages were deleted or names merged: kept results are stale. */
export function dropKeptSearches(): void {
  dropKept(keptName);
  otherTabs.postMessage(null);
}

export function useSearch(criteria: Criteria): Search {
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<unknown>(undefined);
  const [moreError, setMoreError] = useState<unknown>(undefined);
  const [busy, setBusy] = useState(false);
  const [counted, setCounted] = useState(nothingCounted);
  const [isCounted, setIsCounted] = useState(false);
  /** Increment to repeat the search. */
  const [turn, setTurn] = useState(0);
  const askedBefore = useRef('');
  const turnBefore = useRef(turn);
  const typed = useRef<string | null>(null);
  /** The last typed query, until finished. */
  const unfinished = useRef<string | null>(null);
  const running = useRef<AbortController | null>(null);
  const rest = useRef(() => {});
  const { query, ...filters } = criteria;
  const asked = query.trim();
  const isIdle = asked === '' && !isFiltered(criteria);
  const filterKey = JSON.stringify(filters);
  const key = JSON.stringify([asked, filterKey]);

  // Before the next key, so that Enter applies to the box.
  useLayoutEffect(() => {
    const isTyping = asked !== askedBefore.current && asked === typed.current;
    const isAgain = turn !== turnBefore.current;
    askedBefore.current = asked;
    turnBefore.current = turn;
    typed.current = null;
    if (asked === unfinished.current && /\s$/.test(query)) unfinished.current = null;
    const isUnfinished = asked === unfinished.current;
    rest.current = () => {};
    setMoreError(undefined);
    if (isIdle) {
      setFound(null);
      setError(undefined);
      setBusy(false);
      setCounted(nothingCounted);
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    /** A passing answer may come later. */
    let fullSearch: 'awaited' | 'shown' | 'failed' = 'awaited';
    /** Shows its errors; aborts are ignored. */
    const search = async (
      fields: typeof passing | typeof full | typeof counts,
      show: (answer: SearchResponse) => void,
    ) => {
      try {
        const body = { ...askedBy(criteria, isUnfinished), ...fields };
        const answer = await call<SearchResponse>('POST', '/v1/search', { body, signal });
        if (!signal.aborted) show(answer);
      } catch (reason) {
        if (isAbort(reason) || signal.aborted) return;
        if (reason instanceof ApiError && reason.status === 404) return show(nothing);
        // The full search reports errors; missing counts are omitted.
        if (fields === counts) setCounted(nothingCounted);
        else if (fields === full) {
          fullSearch = 'failed';
          setError(reason);
          setBusy(false);
          // Results of the same request keep their counts.
          setCounted((now) => (now.key === key ? now : nothingCounted));
          setIsCounted(true);
        }
      }
    };
    const showCounted = (best: Counted) => {
      setCounted(best);
      setIsCounted(true);
    };
    const of = linkOf({ ...criteria, from: null, to: null });
    const count = () =>
      search(counts, ({ results, facets = null, has_more }) => showCounted({ results, facets, has_more, key, of }));
    // Also after a lost connection, to keep the scroll position. Typed text is searched again.
    const before = kept<Kept | null>(keptName);
    if (before?.key === key && !isTyping && !isAgain) {
      setFound(before.found);
      setError(undefined);
      setBusy(false);
      if (before.counted !== null) showCounted(before.counted);
      else {
        setIsCounted(false);
        void count();
      }
      return () => controller.abort();
    }
    setBusy(true);
    setIsCounted(false);
    const showFound = (isPassing: boolean, began: number) => (answer: SearchResponse) => {
      if (fullSearch === 'shown') return;
      if (!isPassing) fullSearch = 'shown';
      const tookMs = performance.now() - began;
      const isByRelevance = (criteria.sort ?? 'relevance') === 'relevance';
      setFound((before) => {
        const earlier = before?.key === key ? before : null;
        const seen = earlier?.results.slice(0, shownOf(earlier.results, earlier)).map(({ page_id }) => page_id) ?? [];
        return { ...answer, key, query: asked, isPassing, isUnfinished, isByRelevance, seen, tookMs };
      });
      if (fullSearch !== 'failed') setError(undefined);
      if (isPassing) return;
      setBusy(false);
      void count();
    };
    const searchAll = () => {
      clearTimeout(resting);
      clearTimeout(pausing);
      rest.current = () => {};
      void search(full, showFound(false, performance.now()));
    };
    const searchInPassing = () => void search(passing, showFound(true, performance.now()));
    let pausing: ReturnType<typeof setTimeout> | undefined;
    let resting: ReturnType<typeof setTimeout> | undefined;
    if (isTyping) {
      pausing = setTimeout(searchInPassing, pauseMs);
      resting = setTimeout(searchAll, restMs);
      rest.current = searchAll;
    } else searchAll();
    return () => {
      clearTimeout(pausing);
      clearTimeout(resting);
      controller.abort();
    };
  }, [asked, filterKey, epoch.value, turn]);

  const isStale = found?.key !== key;
  useEffect(() => {
    // The address may be ahead of the results, and a repeat makes them stale.
    if (found === null || isStale || found.isPassing || busy || error !== undefined) return;
    keep(keptName, { key, found, counted: isCounted ? counted : null } satisfies Kept);
  }, [found, counted, isCounted, busy]);
  const more = () => {
    const { current: controller } = running;
    if (found === null || isStale || busy || controller === null) return;
    setBusy(true);
    const body = {
      ...askedBy(criteria, found.isUnfinished),
      ...full,
      suggest: 0,
      log: false, // it is the same search
      offset: found.results.length,
    };
    call<SearchResponse>('POST', '/v1/search', { body, signal: controller.signal }).then(
      ({ results, has_more }) => {
        if (controller.signal.aborted) return;
        const known = new Set(found.results.map(({ page_id }) => page_id));
        const next = results.filter(({ page_id }) => !known.has(page_id));
        setMoreError(undefined);
        setFound((now) => (now === found ? { ...found, results: [...found.results, ...next], has_more } : now));
        setBusy(false);
      },
      (reason) => {
        if (isAbort(reason) || controller.signal.aborted) return;
        setMoreError(reason);
        setBusy(false);
      },
    );
  };
  const again = () => setTurn(turn + 1);
  return {
    found,
    isStale,
    key,
    error,
    moreError,
    busy,
    counted,
    isCounted,
    more,
    again,
    type: (text) => {
      typed.current = text.trim();
      unfinished.current = typed.current;
    },
    rest: () => rest.current(),
    finish: () => {
      if (unfinished.current !== asked) return false;
      unfinished.current = null;
      again();
      return true;
    },
  };
}
