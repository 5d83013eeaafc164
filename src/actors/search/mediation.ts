/** Suggests pages to read next, and pages similar to one: by vectors, shared clusters, or shared entities. */
import { passesFilters } from '../../compute/ranking/passes-filters.ts';
import * as reasons from '../../compute/ranking/reasons.ts';
import { required } from '../../domain/errors.ts';
import type { SearchRequest, SimilarQuery, SimilarResponse, Suggestion } from '../../domain/search.ts';
import { idOf } from '../../domain/values.ts';
import { likelyRelevant } from '../../engine/relevance.ts';
import type { StoreReader } from '../../store/store.ts';
import { namesSharedWith, pagesSharing } from '../entities/shared-entities.ts';
import { pageDetailsOf } from '../system/list-pages.ts';
import type { LibraryParts, NearPagesRequest } from '../system/service.ts';
import { type OrderedPage, pageFiltersOf } from './rank-query.ts';

/** Suggestions are based on this many first results, as these are likely relevant. */
const topResults = 2;
const namesInReason = 2;

type MediationDependencies = Pick<LibraryParts, 'ask' | 'reader'>;

type Mediation = SearchRequest['mediation'];
type SimilarResult = SimilarResponse['results'][number];
/** `model` and first pages of the results, and pages to exclude. */
type SuggestionQuery = Pick<NearPagesRequest, 'model' | 'page_nos' | 'k' | 'except' | 'filters'>;

interface Mediator {
  suggest(query: SuggestionQuery, signal: AbortSignal | undefined): Promise<Suggestion[]>;
  similar(pageNo: number, k: number, signal: AbortSignal | undefined): Promise<SimilarResult[]>;
}

export function mediation(dependencies: MediationDependencies) {
  const { reader } = dependencies;
  const mediators: Record<Mediation, Mediator> = {
    vector: byVectors(dependencies),
    cluster: byTopics(dependencies),
    entity: byNames(dependencies),
  };

  /** Suggestions by the results' model; `ranked`: pages shown so far, best first. */
  const suggest = async (
    { suggest: k, mediation, filters }: Pick<SearchRequest, 'suggest' | 'mediation' | 'filters'>,
    model: string,
    ranked: readonly Pick<OrderedPage, 'page_no' | 'relevance' | 'duplicates'>[],
    signal?: AbortSignal | undefined,
  ): Promise<Suggestion[]> => {
    const relevant = ranked.filter(({ relevance }) => (relevance ?? 1) >= likelyRelevant).slice(0, topResults);
    if (k === 0 || relevant.length === 0) return [];
    const except = ranked.flatMap(({ page_no, duplicates = [] }) => [page_no, ...duplicates]);
    const page_nos = relevant.map(({ page_no }) => page_no);
    const query = { model, page_nos, k, except, filters: pageFiltersOf(filters, reader) };
    return mediators[mediation].suggest(query, signal);
  };

  /** Errors: DomainError `not_found` for an unknown page. A page that is not indexed has no similar pages. */
  const similar = async (
    { page_id, mediation, k }: SimilarQuery & { page_id: string },
    signal?: AbortSignal | undefined,
  ): Promise<SimilarResponse> => {
    const no = reader.pages.numberOfId(page_id);
    const page = required(no === null ? null : reader.pages.head(no), 'page', page_id);
    if (page.status !== 'indexed') return { page_id, mediation, results: [] };
    return { page_id, mediation, results: await mediators[mediation].similar(page.no, k, signal) };
  };

  return { suggest, similar };
}

/** By page vectors. Long pages are near everything, so a suggestion and a result must be mutual near neighbours. */
function byVectors({ ask, reader }: MediationDependencies): Mediator {
  /** Graphs of mutual neighbours stay connected if k grows with the logarithm of the pages (Brito et al. 1997). */
  const fewNearest = () => Math.max(2, Math.floor(Math.log2(Math.max(1, reader.pages.count()))) - 2);
  const titleOf = (no: number) => {
    const page = reader.pages.head(no);
    return page?.title ?? page?.canonical_url ?? '';
  };
  return {
    async suggest({ page_nos, k, model, except, filters }, signal) {
      const related = await ask(
        'index.relatedPages',
        { model, page_nos, k, few: fewNearest(), except, filters },
        { signal },
      );
      const sharedWith = new Map(related.map(({ to }) => [to, namesSharedWith(reader.entities, to)]));
      return related.flatMap(({ page_no, to }) => {
        const names = sharedWith.get(to)?.(page_no, namesInReason) ?? [];
        return suggestion(reader, page_no, reasons.nearResultReason(titleOf(to), names));
      });
    },
    async similar(pageNo, k, signal) {
      const request = { model: null, page_nos: [pageNo], k, except: [], filters: pageFiltersOf(null, reader) };
      const near = await ask('index.nearPages', request, { signal });
      return near.flatMap(({ page_no, score }) => similarResult(reader, page_no, score, reasons.nearnessReason(score)));
    },
  };
}

/** By shared cluster, nearest first. */
function byTopics({ ask, reader }: MediationDependencies): Mediator {
  /** Distinct topics, in the order of the pages. */
  const topicsOf = (pageNos: readonly number[]) => {
    const topics = new Map<number, string | null>();
    for (const no of pageNos) {
      const cluster = reader.clusters.ofPage(no)?.cluster;
      if (cluster !== undefined) topics.set(cluster.no, cluster.label);
    }
    return topics;
  };
  /** Any distance; filters narrow further. */
  const nearIn = async (
    topics: ReadonlyMap<number, string | null>,
    { filters, ...request }: SuggestionQuery,
    signal: AbortSignal | undefined,
  ) => {
    const members = [...topics.keys()].flatMap((no) => reader.clusters.pagesOf(no));
    const pages = new Set(members.filter((no) => filters.pages === null || filters.pages.has(no)));
    return pages.size === 0
      ? []
      : ask('index.nearPages', { ...request, filters: { ...filters, pages }, anyScore: true }, { signal });
  };
  return {
    async suggest(query, signal) {
      const near = await nearIn(topicsOf(query.page_nos), query, signal);
      return near.flatMap(({ page_no }) => {
        const cluster = reader.clusters.ofPage(page_no)?.cluster;
        return cluster === undefined ? [] : suggestion(reader, page_no, reasons.topicReason(cluster.label));
      });
    },
    async similar(pageNo, k, signal) {
      const topics = topicsOf([pageNo]);
      const filters = pageFiltersOf(null, reader);
      const near = await nearIn(topics, { model: null, page_nos: [pageNo], k, except: [], filters }, signal);
      const [label = null] = topics.values();
      return near.flatMap(({ page_no, score }) =>
        similarResult(reader, page_no, score, `${reasons.topicReason(label)}; ${reasons.nearnessReason(score)}`),
      );
    },
  };
}

function byNames({ reader }: MediationDependencies): Mediator {
  return {
    async suggest({ page_nos, except, k, filters }) {
      const ranked = new Set(except);
      const passes = (no: number) => {
        const page = ranked.has(no) ? undefined : reader.pages.head(no);
        return page?.status === 'indexed' && passesFilters(page, () => reader.pages.byline(page), filters);
      };
      return pagesSharing(reader.entities, page_nos, { k, passes }).flatMap(({ page_no, shared }) =>
        suggestion(reader, page_no, reasons.sharedResultsReason(shared)),
      );
    },
    async similar(pageNo, k) {
      const passes = (no: number) => reader.pages.head(no)?.status === 'indexed';
      return pagesSharing(reader.entities, [pageNo], { k, passes }).flatMap(({ page_no, score, shared }) =>
        similarResult(reader, page_no, score, reasons.sharedReason(shared)),
      );
    },
  };
}

function suggestion(reader: StoreReader, pageNo: number, reason: string): Suggestion[] {
  const page = reader.pages.head(pageNo);
  return page === undefined ? [] : [{ page_id: idOf('page', pageNo), title: page.title, reason }];
}

function similarResult(reader: StoreReader, pageNo: number, score: number, reason: string): SimilarResult[] {
  const page = reader.pages.head(pageNo);
  if (page === undefined) return [];
  const { canonical_url, title } = page;
  return [{ page_id: idOf('page', pageNo), canonical_url, title, ...pageDetailsOf(reader, page), score, reason }];
}
