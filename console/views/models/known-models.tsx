/** Recommended models with their makers' figures; nothing is fetched. */
import type { KnownModel, KnownModelsResponse } from '../../../src/domain/known-models.ts';
import { get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { count } from '../../ui/format.ts';
import { Fault, Table } from '../../ui/parts.tsx';
import { Outside, safeUrl } from '../../ui/text.tsx';

const columns = ['Name', 'Providers', 'Vectors', 'Memory', 'Parameters', 'Tokens', 'Languages', 'Licence', 'nDCG@10'];
const numbers = ['Memory', 'Parameters', 'Tokens', 'nDCG@10'];

const vectorsOf = ({ dim, dims }: KnownModel): string =>
  dim === null ? 'reranker' : [dim, ...dims].map((each) => count(each)).join(', ');

export function KnownModels() {
  const { data, error, reload } = useLoad((signal) => get<KnownModelsResponse>('/v1/models/known', {}, signal), []);
  return (
    <section class="block" aria-labelledby="known-models">
      <h2 id="known-models">Recommended models</h2>
      <p class="quiet">
        <code>readback model add NAME</code> registers one. Its vectors are computed while the active model answers.
        nDCG@10 is as published for MTEB or BEIR in English. Memory is for 100,000 passages.
      </p>
      <Fault error={error} retry={reload} />
      {data !== undefined && (
        <Table label="Known models" columns={columns} numbers={numbers}>
          <tbody>
            {data.models.map((model) => (
              <tr key={model.name}>
                <th scope="row">{model.name}</th>
                <td>{Object.keys(model.names).join(', ')}</td>
                <td class="words">{vectorsOf(model)}</td>
                <td class="number">{model.memory_mb !== null && `${count(model.memory_mb)} MB`}</td>
                <td class="number">{model.parameters_millions !== null && `${count(model.parameters_millions)} M`}</td>
                <td class="number">{count(model.max_input_tokens)}</td>
                <td>{model.languages}</td>
                <td>{model.license}</td>
                <td class="number">
                  {model.score !== null && <Outside href={safeUrl(model.score.source)}>{model.score.value}</Outside>}
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </section>
  );
}
