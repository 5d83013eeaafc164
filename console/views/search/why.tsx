/** Explains a result's rank in a sentence. */
import type { PageResult } from '../../../src/domain/search.ts';
import { percent } from '../../ui/format.ts';

const exactWords = {
  url: 'The query is its address: such pages come first. ',
  title: 'The query is its title: such pages come first. ',
  host: 'The query is its site. ',
  phrase: 'It contains the exact phrase. ',
};

export function Why({ result: { why, relevance } }: { result: PageResult }) {
  const ways = [
    ...(why.keyword_rank === null ? [] : [`by its words (rank ${why.keyword_rank})`]),
    ...(why.vector_rank === null ? [] : [`by its meaning (rank ${why.vector_rank})`]),
  ];
  const found = ways.length === 0 ? 'It matches the search' : `Found ${ways.join(' and ')}`;
  return (
    <p class="why">
      {why.exact !== null && exactWords[why.exact]}
      {found}
      {relevance !== null && `, and ${percent(relevance)} likely to be about the query`}.
    </p>
  );
}
