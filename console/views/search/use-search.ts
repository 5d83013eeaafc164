/**
 * The search while somebody types. A passing request for each pause, those for an older query aborted: the last word is taken as unfinished, nothing is reranked,
 * and nothing comes to the query log. Once typing rests, or the person goes on to the results, the query is searched in full as it stands, as it is by who
 * comes by its address, and only this is logged; then come the counts of the filters. Only answers to what is in the box are shown, and what was shown
 * stays until then, so that nothing flickers.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PageResult, SearchResponse } from '../../../src/domain/search.ts';
import { ApiError, call, epoch, isAbort } from '../../api/client.ts';
import { dropKept, keep, kept } from '../../app/router.ts';
import { type Criteria, filtersOf, isFiltered, linkOf } from './criteria.ts';

/** A pause between keys, ms. */
const pauseMs = 60;
/** Typing rests, ms after the last key: longer than between two keys of a slow typist. */
const restMs = 500;
const pageSize = 10;
/** The service gives no more at once. */
export const mostCounted = 100;

const full = { k: pageSize, chunks_per_page: 3 };
/** What is asked for while somebody types: the results that fit a window, and no more. */
const passing = { ...full, k: 5, suggest: 0, rerank: false, log: false, prefix: true };
/** Filters alone ask for the newest pages that pass them: the service is asked for words or operators. */
const anyPage = 'after:1970-01-01';
const counts = { k: mostCounted, chunks_per_page: 0, suggest: 0, log: false };
/** Of a filter by a name that nobody bears. */
const nothing: SearchResponse = {
  query_id: '',
  results: [],
  corrected: [],
  offset: 0,
  has_more: false,
  suggestions: [],
  timing_ms: {},
};

export interface Found extends SearchResponse {
  /** What these are the results of. */
  query: string;
  /** All of what was asked, as a key. */
  key: string;
  /** Whether the full search is still to come: there is no log entry yet that a judgement could be of. */
  isPassing: boolean;
  tookMs: number;
}

/** The best of a search, for the counts of the filters. */
export interface Counted {
  results: readonly PageResult[];
  /** Whether there are more than were counted. */
  has_more: boolean;
  /** What they are of, as a key, and the same but for the period. */
  key: string;
  of: string;
}
export const nothingCounted: Counted = { results: [], has_more: false, key: '', of: '' };

interface Search {
  found: Found | null;
  /** Whether they are results of something else than what is asked for now. */
  isStale: boolean;
  /** All of what is asked for now, as a key. */
  key: string;
  error: unknown;
  /** What went wrong with more of them. */
  moreError: unknown;
  /** Until the full search is answered. */
  busy: boolean;
  /** Of the latest search that rested, which is not the one shown while `isCounted` is false. */
  counted: Counted;
  isCounted: boolean;
  more: () => void;
  /** Ask for the same anew. */
  again: () => void;
  /** What the box holds now was typed: what a link or a filter asks for is searched in full at once. */
  type: (query: string) => void;
  /** Typing rests now. */
  rest: () => void;
}

/** The words of a search in a request; of filters alone none that is told to the log. */
export const wordsOf = (asked: string) =>
  asked === '' ? { query: anyPage, log: false, suggest: 0 } : { query: asked };

/** What is kept of a search for who comes back to it. */
interface Kept {
  key: string;
  found: Found;
  /** Null where they had not come yet. */
  counted: Counted | null;
}
const keptName = 'search';

/** Other tabs are told when results are out of date, and ask for all that they show anew. */
const otherTabs = new BroadcastChannel('readback results');
let isOutOfDate = false;
const askAnew = () => {
  if (document.hidden || !isOutOfDate) return; // nobody looks at it
  isOutOfDate = false;
  epoch.value++;
};
otherTabs.onmessage = () => {
  dropKept(keptName);
  isOutOfDate = true;
  askAnew();
};
addEventListener('visibilitychange', askAnew);

/** Pages were forgotten, or names merged: results are asked for anew by who comes back to them. */
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
  /** Raised to ask for the same anew. */
  const [turn, setTurn] = useState(0);
  const askedBefore = useRef('');
  const typed = useRef<string | null>(null);
  const running = useRef<AbortController | null>(null);
  const rest = useRef(() => {});
  const { query, ...filters } = criteria;
  const asked = query.trim();
  const isIdle = asked === '' && !isFiltered(criteria);
  const filterKey = JSON.stringify(filters);
  const key = JSON.stringify([asked, filterKey]);

  // Before the next key can come, so that Enter is always of what is in the box.
  useLayoutEffect(() => {
    const isTyping = asked !== askedBefore.current && asked === typed.current;
    askedBefore.current = asked;
    typed.current = null;
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
    /** What passes may be answered after it. */
    let fullSearch: 'awaited' | 'shown' | 'failed' = 'awaited';
    /** Errors: none; what goes wrong is shown, an abort is nothing. */
    const search = async (
      fields: typeof passing | typeof full | typeof counts,
      show: (answer: SearchResponse) => void,
    ) => {
      try {
        const words = wordsOf(asked);
        const body = { ...words, filters: filtersOf(criteria), operators: true, ...fields };
        const answer = await call<SearchResponse>('POST', '/v1/search', { body, signal });
        if (!signal.aborted) show(answer);
      } catch (reason) {
        if (isAbort(reason) || signal.aborted) return;
        if (reason instanceof ApiError && reason.status === 404) return show(nothing);
        // The full search tells of what is wrong; counts that are missing are only left out.
        if (fields === counts) setCounted(nothingCounted);
        else if (fields === full) {
          fullSearch = 'failed';
          setError(reason);
          setBusy(false);
          // Results of the same that are shown keep their counts.
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
    const count = () => search(counts, ({ results, has_more }) => showCounted({ results, has_more, key, of }));
    // Also when the service was away meanwhile: nobody is to lose where they are in the results. What is typed again is asked again.
    const before = kept<Kept | null>(keptName);
    if (before?.key === key && !isTyping) {
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
      setFound({ ...answer, key, query: asked, isPassing, tookMs });
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
    // The address may be ahead of what is shown, and what is asked for anew is out of date.
    if (found === null || isStale || found.isPassing || busy || error !== undefined) return;
    keep(keptName, { key, found, counted: isCounted ? counted : null } satisfies Kept);
  }, [found, counted, isCounted, busy]);
  const more = () => {
    const { current: controller } = running;
    if (found === null || isStale || busy || controller === null) return;
    setBusy(true);
    const body = {
      ...wordsOf(found.query),
      filters: filtersOf(criteria),
      operators: true,
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
    again: () => {
      keep(keptName, null);
      setTurn(turn + 1);
    },
    type: (text) => {
      typed.current = text.trim();
    },
    rest: () => rest.current(),
  };
}
