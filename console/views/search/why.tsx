/** Why a result stands where it does. */
import type { PageResult } from '../../../src/domain/search.ts';
import { percent } from '../../ui/format.ts';

const exactWords = {
  url: 'Your words are its address. Such pages come first.',
  title: 'Your words are its title. Such pages come first.',
  host: 'Your words are its site.',
  phrase: 'It has your phrase word for word.',
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
        <dt>Reranked</dt>
        <dd>{why.reranked ? 'yes, that set its place' : 'no, both lists together did'}</dd>
      </div>
      {relevance !== null && (
        <div>
          <dt>About your question</dt>
          <dd>{percent(relevance)} likely</dd>
        </div>
      )}
    </dl>
  );
}

const placeOf = (rank: number | null): string => (rank === null ? 'not among the best' : `place ${rank}`);
