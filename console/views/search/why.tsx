/** Explains a result's rank. */
import type { PageResult } from '../../../src/domain/search.ts';
import { percent } from '../../ui/format.ts';

const exactWords = {
  url: 'The query is its address. Such pages come first.',
  title: 'The query is its title. Such pages come first.',
  host: 'The query is its site.',
  phrase: 'It contains the exact phrase.',
};

export function Why({ result: { why, relevance } }: { result: PageResult }) {
  return (
    <dl class="why">
      {why.exact !== null && (
        <div class="why-wide">
          <dt>Exact</dt>
          <dd>{exactWords[why.exact]}</dd>
        </div>
      )}
      <div>
        <dt>By words</dt>
        <dd>{placeOf(why.keyword_rank)}</dd>
      </div>
      <div>
        <dt>By meaning</dt>
        <dd>{placeOf(why.vector_rank)}</dd>
      </div>
      <div>
        <dt>Order</dt>
        <dd>{why.reranked ? 'by words and meaning, or a reranker if one is set' : 'by its ranks in both lists'}</dd>
      </div>
      {relevance !== null && (
        <div>
          <dt>Relevance</dt>
          <dd>{percent(relevance)} likely</dd>
        </div>
      )}
    </dl>
  );
}

const placeOf = (rank: number | null): string => (rank === null ? 'not among the best' : `rank ${rank}`);
