/**
 * The search while somebody types: a request for each pause, the one before aborted, and only the answer to the latest shown. What was
 * shown stays until then, so that nothing flickers.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PageResult, SearchResponse } from '../../../src/domain/search.ts';
import { call, epoch, isAbort } from '../../api/client.ts';
import { type Criteria, filtersOf } from './criteria.ts';

/** A pause in typing that is taken for the end of a thought, ms. */
const typingPauseMs = 60;
/** Counts of filters wait until typing rests. */
const countsPauseMs = 250;
export const pageSize = 10;
const mostCounted = 100;

export interface Found extends SearchResponse {
  /** What these are the results of. */
  query: string;
  /** Whether its last word was taken as unfinished. */
  isUnfinished: boolean;
  tookMs: number;
}

interface Search {
  found: Found | null;
  error: unknown;
  busy: boolean;
  /** The best hundred, for the counts; of the latest search that rested. */
  counted: readonly PageResult[];
  more: () => void;
}

/** `typed` is raised by every key, so that what a link or a filter asks for goes out at once. */
export function useSearch(criteria: Criteria, typed: number): Search {
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<unknown>(undefined);
  const [busy, setBusy] = useState(false);
  const [counted, setCounted] = useState<readonly PageResult[]>([]);
  const turn = useRef(0);
  const typedBefore = useRef(typed);
  const running = useRef<AbortController | null>(null);
  const { query, ...filters } = criteria;
  const asked = query.trim();
  const filterKey = JSON.stringify(filters);

  useEffect(() => {
    const mine = ++turn.current;
    running.current?.abort();
    if (asked === '') {
      setFound(null);
      setError(undefined);
      setBusy(false);
      setCounted([]);
      return;
    }
    const controller = new AbortController();
    running.current = controller;
    const isTyping = typed !== typedBefore.current;
    typedBefore.current = typed;
    setBusy(true);
    const isLatest = () => mine === turn.current && !controller.signal.aborted;
    const ask = (fields: Record<string, unknown>) =>
      call<SearchResponse>('POST', '/v1/search', {
        body: { query: asked, filters: filtersOf(criteria), operators: true, prefix: isTyping, ...fields },
        signal: controller.signal,
      });
    // The counts come second: what is looked for is not kept waiting by them.
    const count = async () => {
      try {
        const { results: all } = await ask({
          k: mostCounted,
          chunks_per_page: 0,
          suggest: 0,
          rerank: false,
          log: false,
        });
        if (isLatest()) setCounted(all);
      } catch (reason) {
        // The results told of what is wrong; counts that are missing are only left out.
        if (!isAbort(reason) && isLatest()) setCounted([]);
      }
    };
    let counts: ReturnType<typeof setTimeout> | undefined;
    const results = setTimeout(
      async () => {
        const began = performance.now();
        try {
          const answer = await ask({ k: pageSize, chunks_per_page: 3 });
          if (!isLatest()) return;
          setFound({ ...answer, query: asked, isUnfinished: isTyping, tookMs: performance.now() - began });
          setError(undefined);
          setBusy(false);
          counts = setTimeout(count, isTyping ? countsPauseMs : 0);
        } catch (reason) {
          if (isAbort(reason) || !isLatest()) return;
          setError(reason);
          setBusy(false);
        }
      },
      isTyping ? typingPauseMs : 0,
    );
    return () => {
      clearTimeout(results);
      clearTimeout(counts);
      controller.abort();
    };
  }, [asked, filterKey, epoch.value]);

  const more = () => {
    const { current: controller } = running;
    if (found === null || controller === null) return;
    const mine = turn.current;
    setBusy(true);
    const body = {
      query: found.query,
      filters: filtersOf(criteria),
      operators: true,
      prefix: found.isUnfinished,
      k: pageSize,
      chunks_per_page: 3,
      suggest: 0,
      offset: found.results.length,
    };
    call<SearchResponse>('POST', '/v1/search', { body, signal: controller.signal }).then(
      ({ results, has_more }) => {
        if (mine !== turn.current) return;
        const known = new Set(found.results.map(({ page_id }) => page_id));
        const next = results.filter(({ page_id }) => !known.has(page_id));
        setFound({ ...found, results: [...found.results, ...next], has_more });
        setBusy(false);
      },
      (reason) => {
        if (isAbort(reason) || mine !== turn.current) return;
        setError(reason);
        setBusy(false);
      },
    );
  };
  return { found, error, busy, counted, more };
}
