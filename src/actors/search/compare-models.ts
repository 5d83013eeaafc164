/** Compares embedding models on one query. Each ranks in turn, logged as an arm; rankings are compared in pairs. */
import { agreementAtK } from '../../compute/ranking/agree.ts';
import type { CompareAgreement, CompareRequest, CompareResponse } from '../../domain/compare.ts';
import { DomainError } from '../../domain/errors.ts';
import { searchRequest } from '../../domain/search.ts';
import { idOf } from '../../domain/values.ts';
import type { LibraryParts } from '../system/service.ts';
import type { QueryLogQueue } from './query-log-queue.ts';
import type { OrderedPage, RankQuery } from './rank-query.ts';

interface CompareDependencies extends Pick<LibraryParts, 'reader' | 'now' | 'monotonic'> {
  rank: RankQuery;
  queue: QueryLogQueue;
  newQueryId: () => string;
  newCompareId: () => string;
}

/** Errors: DomainError `invalid` for a model that is unknown, not ready or repeated. */
export function modelComparer({ reader, rank, queue, ...dependencies }: CompareDependencies) {
  const { newQueryId, newCompareId, now, monotonic } = dependencies;

  const checkModels = (models: readonly string[]) => {
    for (const [place, id] of models.entries()) {
      const status = reader.models.get(id)?.status;
      const shown = JSON.stringify(id.slice(0, 64));
      if (status === undefined) throw new DomainError('invalid', `models: ${shown} is unknown`);
      if (status !== 'ready') throw new DomainError('invalid', `models: ${shown} is ${status}, not ready`);
      if (models.indexOf(id) !== place) throw new DomainError('invalid', `models: ${shown} is named twice`);
    }
  };

  return async (request: CompareRequest, signal: AbortSignal | undefined): Promise<CompareResponse> => {
    checkModels(request.models);
    const { query, models, k, candidates, rerank } = request;
    const compare_id = newCompareId();
    const arms: { model: string; pages: OrderedPage[] }[] = [];
    for (const model of models) {
      const began = monotonic();
      const ranking = await rank(searchRequest.parse({ query, k, candidates, rerank }), { model, signal });
      const pages = ranking.pages.slice(0, k);
      arms.push({ model, pages });
      queue.offer({
        query_id: newQueryId(),
        ts: now(),
        kind: 'compare_arm',
        compare_id,
        query_text: query,
        params: { k, candidates, rerank, model },
        active_model: model,
        reranker_model: ranking.reranker,
        timing_ms: { ...ranking.timing_ms, total: monotonic() - began },
        retrieved: ranking.retrieved,
        fused: ranking.fused,
        pages,
        offset: 0,
      });
    }
    const agreement: CompareAgreement[] = arms.flatMap((a, place) =>
      arms.slice(place + 1).map((b) => ({
        model_a: a.model,
        model_b: b.model,
        ...agreementAtK(
          a.pages.map(({ page_no }) => page_no),
          b.pages.map(({ page_no }) => page_no),
          k,
        ),
      })),
    );
    const runs = arms.map(({ model, pages }) => ({
      model,
      results: pages.flatMap(({ page_no, score, exact }) => {
        const page = reader.pages.head(page_no);
        if (page === undefined) return [];
        return [{ page_id: idOf('page', page_no), canonical_url: page.canonical_url, title: page.title, score, exact }];
      }),
    }));
    return { compare_id, query, runs, agreement };
  };
}
