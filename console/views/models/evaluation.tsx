/** Search quality by judgements: of logged searches, and of replays by two methods. */
import type { ScoreReport } from '../../../src/domain/evaluation.ts';
import type { ModelInfo } from '../../../src/domain/model.ts';
import { call } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { count, decimal, many } from '../../ui/format.ts';
import { Fault, Table } from '../../ui/parts.tsx';
import { judgements } from '../search/judge.tsx';
import { Replays } from './replays.tsx';

const numbers = ['Searches', 'nDCG', 'Reciprocal rank', 'Recall', 'Gain over rank fusion'];

export function Evaluation({ models }: { models: readonly ModelInfo[] }) {
  const { data, error, reload } = useLoad(
    (signal) => call<ScoreReport>('POST', '/v1/admin/eval/score', { body: {}, signal }),
    [],
    [judgements.value],
  );
  return (
    <>
      <section class="block" aria-labelledby="evaluation">
        <h2 id="evaluation">Search quality</h2>
        <Fault error={error} retry={reload} />
        {data !== undefined && <Scores report={data} />}
      </section>
      {data !== undefined && <Replays models={models} judged={data.scored} />}
    </>
  );
}

function Scores({ report: { models, labeled, logged, scored, k } }: { report: ScoreReport }) {
  return (
    <>
      <p class="quiet">
        You judged {count(labeled)} of {many(logged, 'search', 'searches')}, {count(scored)} with a good result. Only
        the first {count(k)} results count.
      </p>
      {models.length > 0 && (
        <Table label="Measures by model" columns={['Model', ...numbers]} numbers={numbers}>
          <tbody>
            {models.map((each) => (
              <tr key={each.model}>
                <th scope="row">
                  <bdi>{each.model}</bdi>
                </th>
                <td class="number">{count(each.queries)}</td>
                <td class="number">{decimal(each.ndcg)}</td>
                <td class="number">{decimal(each.reciprocal_rank)}</td>
                <td class="number">{decimal(each.recall)}</td>
                <td class="number">{each.rerank_lift === null ? '–' : decimal(each.rerank_lift)}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </>
  );
}
