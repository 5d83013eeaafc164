/**
 * Pages that are worth reading next: suggestions beside a search's results, and what is similar to one page. The mediation says
 * by what pages are related: nearness of vectors, the cluster that they share, or entities that both mention.
 */
import { passesFilters } from '../../compute/ranking/passes-filters.ts';
import {
  nearnessReason,
  nearResultsReason,
  sharedReason,
  sharedResultsReason,
  topicReason,
} from '../../compute/ranking/reasons.ts';
import { unknownId } from '../../domain/errors.ts';
import { idOf, numberOf } from '../../domain/ids.ts';
import type { PageFilters } from '../../domain/page-filters.ts';
import type { SearchRequest, SimilarQuery, SimilarResponse, Suggestion } from '../../domain/search.ts';
import type { StoreReader } from '../../store/store.ts';
import { pagesSharing } from '../entities/shared-entities.ts';
import type { NearPagesRequest, SystemAsk } from '../system/system-messages.ts';
import { onceAsked } from './once-asked.ts';
import { pageFiltersOf } from './rank-query.ts';

/** Suggestions are near to so many of the first results: the mean of more lies between topics. */
const topResults = 3;

export interface MediationDependencies {
  ask: SystemAsk;
  reader: StoreReader;
}

export function mediation({ ask, reader }: MediationDependencies) {
  const suggestSharing = (
    page_nos: readonly number[],
    except: readonly number[],
    k: number,
    filters: PageFilters,
  ): Suggestion[] => {
    const ranked = new Set(except);
    const passes = (no: number) => {
      const page = ranked.has(no) ? undefined : reader.pages.get(no);
      return page?.status === 'indexed' && passesFilters(page, filters);
    };
    return pagesSharing(reader.entities, page_nos, { k, passes }).map(({ page_no, shared }) => ({
      page_id: idOf('page', page_no),
      title: reader.pages.get(page_no)?.title ?? null,
      reason: sharedResultsReason(shared),
    }));
  };

  const similarSharing = (pageNo: number, k: number): SimilarResponse['results'] => {
    const passes = (no: number) => reader.pages.get(no)?.status === 'indexed';
    return pagesSharing(reader.entities, [pageNo], { k, passes }).flatMap(({ page_no, score, shared }) => {
      const each = reader.pages.get(page_no);
      if (each === undefined) return [];
      const { canonical_url, title } = each;
      return [{ page_id: idOf('page', page_no), canonical_url, title, score, reason: sharedReason(shared) }];
    });
  };

  /** The topics of some pages, each once, in their order. */
  const topicsOf = (pageNos: readonly number[]) => {
    const topics = new Map<number, string | null>();
    for (const no of pageNos) {
      const cluster = reader.clusters.ofPage(no)?.cluster;
      if (cluster !== undefined) topics.set(cluster.no, cluster.label);
    }
    return topics;
  };

  /** Pages of the same topics, nearest first, however far they are; a filter narrows them further. */
  const nearInTopics = async (
    topics: ReadonlyMap<number, string | null>,
    { filters, ...request }: Omit<NearPagesRequest, 'anyScore'>,
    signal: AbortSignal | undefined,
  ) => {
    const members = [...topics.keys()].flatMap((no) => reader.clusters.pagesOf(no));
    const pages = new Set(members.filter((no) => filters.pages === null || filters.pages.has(no)));
    return pages.size === 0
      ? []
      : ask('index.nearPages', { ...request, filters: { ...filters, pages }, anyScore: true }, { signal });
  };

  const suggestOfTopics = async (
    page_nos: readonly number[],
    except: readonly number[],
    request: Pick<NearPagesRequest, 'k' | 'model' | 'filters'>,
    signal: AbortSignal | undefined,
  ): Promise<Suggestion[]> => {
    const topics = topicsOf(page_nos);
    const near = await nearInTopics(topics, { ...request, page_nos, except }, signal);
    return near.flatMap(({ page_no }) => {
      const page = reader.pages.get(page_no);
      const cluster = reader.clusters.ofPage(page_no)?.cluster;
      if (page === undefined || cluster === undefined) return [];
      return [{ page_id: idOf('page', page_no), title: page.title, reason: topicReason(cluster.label) }];
    });
  };

  const similarOfTopic = async (
    pageNo: number,
    k: number,
    signal: AbortSignal | undefined,
  ): Promise<SimilarResponse['results']> => {
    const topics = topicsOf([pageNo]);
    const filters = pageFiltersOf(null, reader);
    const near = await nearInTopics(topics, { model: null, page_nos: [pageNo], k, except: [], filters }, signal);
    const [label = null] = topics.values();
    return near.flatMap(({ page_no, score }) => {
      const each = reader.pages.get(page_no);
      if (each === undefined) return [];
      const { canonical_url, title } = each;
      const reason = `${topicReason(label)}; ${nearnessReason(score)}`;
      return [{ page_id: idOf('page', page_no), canonical_url, title, score, reason }];
    });
  };

  const namesOf = (pageNos: readonly number[]): string[] =>
    pageNos.flatMap((no) => {
      const page = reader.pages.get(no);
      return page === undefined ? [] : [page.title ?? page.canonical_url];
    });

  /** Pages beside the results, by the model that these were found with; `ranked` are those answered or before them, best first. */
  const suggest = async (
    { suggest: k, mediation, filters }: Pick<SearchRequest, 'suggest' | 'mediation' | 'filters'>,
    model: string,
    ranked: readonly { page_no: number }[],
    signal?: AbortSignal | undefined,
  ): Promise<Suggestion[]> => {
    if (k === 0 || ranked.length === 0) return [];
    const except = ranked.map(({ page_no }) => page_no);
    const page_nos = except.slice(0, topResults);
    if (mediation === 'entity') return suggestSharing(page_nos, except, k, pageFiltersOf(filters, reader));
    if (mediation === 'cluster')
      return suggestOfTopics(page_nos, except, { k, model, filters: pageFiltersOf(filters, reader) }, signal);
    const request = { model, page_nos, k, except, filters: pageFiltersOf(filters, reader) };
    const [near, names] = await Promise.all([
      ask('index.nearPages', request, { signal }),
      onceAsked(() => namesOf(page_nos)),
    ]);
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
    if (page === undefined) throw unknownId('page', page_id);
    if (page.status !== 'indexed') return { page_id, mediation, results: [] };
    if (mediation === 'entity') return { page_id, mediation, results: similarSharing(page.no, k) };
    if (mediation === 'cluster') return { page_id, mediation, results: await similarOfTopic(page.no, k, signal) };
    const request = { model: null, page_nos: [page.no], k, except: [], filters: pageFiltersOf(null, reader) };
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
