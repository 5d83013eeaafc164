/** Highlighted pages on the map: results of a search, or pages selected on the map, which replace the search. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SearchResponse } from '../../../src/domain/search.ts';
import { call } from '../../api/client.ts';
import { type Loaded, useLoad } from '../../api/load.ts';
import { go, linkTo } from '../../app/router.ts';
import { type Criteria, isFiltered, linkOf } from '../search/criteria.ts';
import { askedBy, maxCounted } from '../search/use-search.ts';

interface Lit {
  /** Null if nothing is highlighted. */
  ids: readonly string[] | null;
  /** The pages among them that were selected on the map. */
  chosen: readonly string[] | null;
  /** Whether they are search results. */
  isSearch: boolean;
  found: Pick<Loaded<unknown>, 'error' | 'loading' | 'reload'>;
  choose: (ids: readonly string[]) => void;
  /** Change the search, or repeat it. */
  light: (part: Partial<Criteria>) => void;
  clear: () => void;
}

export function useHighlightedPages(criteria: Criteria, chosenBefore: readonly string[] | null): Lit {
  const asked = criteria.query.trim();
  const isIdle = asked === '' && !isFiltered(criteria);
  const place = linkOf({ ...criteria, query: asked }, 'map');
  const [chosen, setChosen] = useState(chosenBefore);
  const found = useLoad(
    async (signal) => {
      if (isIdle) return null;
      const { sort: _, ...request } = askedBy(criteria);
      const body = { ...request, k: maxCounted, chunks_per_page: 0, suggest: 0, log: false, collapse: false };
      const { results } = await call<SearchResponse>('POST', '/v1/search', { body, signal });
      return results.map(({ page_id }) => page_id);
    },
    [place],
  );
  // Opening a search replaces the selection.
  const placeBefore = useRef(place);
  useEffect(() => {
    if (place !== placeBefore.current && !isIdle) setChosen(null);
    placeBefore.current = place;
  }, [place]);
  const end = () => {
    if (!isIdle) go(linkTo('map'));
  };
  return {
    ids: chosen ?? found.data ?? null,
    chosen,
    isSearch: chosen === null && !isIdle,
    found,
    choose: (ids) => {
      setChosen(ids);
      end();
    },
    light: (part) => {
      const next = { ...criteria, query: asked, ...part };
      setChosen(null);
      if (linkOf(next, 'map') === place) found.reload();
      else go(linkOf(next, 'map'));
    },
    clear: () => {
      setChosen(null);
      end();
    },
  };
}
