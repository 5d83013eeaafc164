/**
 * Pages that are worth reading next: suggestions beside a search's results, and what is similar to one page. The mediation says
 * by what pages are related; only nearness of vectors relates pages so far, so the others find nothing.
 */
import { nearnessReason, nearResultsReason } from '../compute/reasons.ts';
import { DomainError } from '../domain/errors.ts';
import { idOf, numberOf } from '../domain/ids.ts';
import type { SearchRequest, SimilarQuery, SimilarResponse, Suggestion } from '../domain/search.ts';
import type { StoreReader } from '../store/store.ts';
import { pageFiltersOf } from './rank-query.ts';
import type { SystemAsk } from './system-messages.ts';

/** Suggestions are near to so many of the first results: the mean of more lies between topics. */
const topResults = 3;

export interface MediationDependencies {
  ask: SystemAsk;
  reader: StoreReader;
}

export function mediation({ ask, reader }: MediationDependencies) {
  /** Pages beside the results, by the model that these were found with; `ranked` are those answered or before them, best first. */
  const suggest = async (
    { suggest: k, mediation, filters }: Pick<SearchRequest, 'suggest' | 'mediation' | 'filters'>,
    model: string,
    ranked: readonly { page_no: number }[],
    signal?: AbortSignal | undefined,
  ): Promise<Suggestion[]> => {
    if (k === 0 || mediation !== 'vector' || ranked.length === 0) return [];
    const except = ranked.map(({ page_no }) => page_no);
    const page_nos = except.slice(0, topResults);
    const request = { model, page_nos, k, except, filters: pageFiltersOf(filters) };
    const near = await ask('index.nearPages', request, { signal });
    const names = page_nos.flatMap((no) => {
      const page = reader.pages.get(no);
      return page === undefined ? [] : [page.title ?? page.canonical_url];
    });
    return near.flatMap(({ page_no }) => {
      const page = reader.pages.get(page_no);
      if (page === undefined) return [];
      return [{ page_id: idOf('page', page_no), title: page.title, reason: nearResultsReason(names) }];
    });
  };

  /** Errors: DomainError `not_found` for an unknown page. A page that is not indexed is similar to none. */
  const similar = async (
    { page_id, mediation, k }: SimilarQuery & { page_id: string },
    signal?: AbortSignal | undefined,
  ): Promise<SimilarResponse> => {
    const no = numberOf('page', page_id);
    const page = no === null ? undefined : reader.pages.get(no);
    if (page === undefined) throw new DomainError('not_found', `unknown page id: ${page_id.slice(0, 64)}`);
    if (mediation !== 'vector' || page.status !== 'indexed') return { page_id, mediation, results: [] };
    const request = { model: null, page_nos: [page.no], k, except: [], filters: pageFiltersOf(null) };
    const near = await ask('index.nearPages', request, { signal });
    const results = near.flatMap(({ page_no, score }) => {
      const each = reader.pages.get(page_no);
      if (each === undefined) return [];
      const { canonical_url, title } = each;
      return [{ page_id: idOf('page', page_no), canonical_url, title, score, reason: nearnessReason(score) }];
    });
    return { page_id, mediation, results };
  };

  return { suggest, similar };
}
