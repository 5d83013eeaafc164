/**
 * What fusion makes of models that are worth more and less than the words, as JSON: nDCG@10 of the judged queries of ../shared/data/ir by
 * BM25F alone, by each model alone, by reciprocal ranks (k 60), and by scores with the weight learned from 300 pseudo-queries of the
 * collection itself. Models: the embedded one, its sketch or its word vectors alone, and, behind a server on loopback that speaks OpenAI's protocol,
 * random vectors and oracles that know the judgements, with more or less error. Deterministic.
 * Usage: npm run bench:fusion [-- --data folder --seed 42 --pseudo 300] [collection …]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { localFloor } from '../src/compute/embedding/calibrate-floor.ts';
import { openWordVectors } from '../src/compute/embedding/word-vectors.ts';
import { ndcg } from '../src/compute/measures/ranking-measures.ts';
import { type FusedHit, fuseRrf } from '../src/compute/ranking/fuse-rrf.ts';
import { fuseScores, learnWeight } from '../src/compute/ranking/fuse-scores.ts';
import { loadWordVectors } from '../src/engine/load-word-vectors.ts';
import { type ListedQuery, listCollection, SERVED, SERVED_DIM } from './fusion/lists.ts';
import { OracleServer } from './fusion/oracle-server.ts';
import { describeMachine } from './machine.ts';
import { collectionNames, prepareCollections } from './quality/collections.ts';
import { mean } from './quality/measures.ts';
import { createQueryTools } from './quality/run-query.ts';

const MAX_QUERIES = 300;
const DIM = 1024;

const { values, positionals } = parseArgs({
  options: {
    data: { type: 'string', default: join(import.meta.dirname, '../../shared/data/ir') },
    seed: { type: 'string', default: '42' },
    pseudo: { type: 'string', default: '300' },
  },
  allowPositionals: true,
});
const root = values.data;
const seed = Number(values.seed);
const pseudoQueries = Number(values.pseudo);
const names = collectionNames(root).filter((name) => positionals.length === 0 || positionals.includes(name));
const tools = createQueryTools(openWordVectors(loadWordVectors()), DIM);
const server = new OracleServer(SERVED_DIM, seed);
await server.listen();
const floors: Record<string, number> = {
  embedded: tools.floor,
  'embedded-100': localFloor(tools.wordVectors.dim),
  sketch: tools.floor,
};
for (const name of SERVED) floors[name] = await server.floorOf(name);

const rows = [];
for (const prepared of prepareCollections(root, names, MAX_QUERIES, false, tools)) {
  const served = { server, floors };
  const { name, documentOf, judged, pseudo } = await listCollection(prepared, root, tools, pseudoQueries, seed, served);
  const numbers = new Map([...new Set(documentOf)].map((id, at) => [id, at + 1]));
  const pageOf = (label: number) => numbers.get(documentOf[label]) ?? 0;
  const quality = (order: (query: ListedQuery) => Iterable<number>) =>
    mean(judged.map((query) => ndcg(firstDocuments(order(query), documentOf), query.grades, 10)));
  const labels = (hits: readonly FusedHit[]) => hits.map(({ label }) => label);
  const bm25 = quality(({ sparse }) => sparse.labels);
  for (const [model, floor] of Object.entries(floors)) {
    const byLanguage = new Map<string, ListedQuery[]>();
    for (const query of pseudo) byLanguage.set(query.language, [...(byLanguage.get(query.language) ?? []), query]);
    const weights = new Map(
      [...byLanguage].map(([language, queries]) => {
        const items = queries.map(({ sparse, dense, grades }) => ({
          sparse,
          dense: dense[model],
          pageOf,
          page: numbers.get([...grades.keys()][0]) ?? 0,
        }));
        return [language, learnWeight(items, floor)];
      }),
    );
    const learned = quality(({ sparse, dense, language }) =>
      labels(fuseScores(sparse, dense[model], { weight: weights.get(language) ?? 0, floor })),
    );
    rows.push({
      collection: name,
      model,
      weights: Object.fromEntries(weights),
      bm25: round(bm25),
      dense: round(quality(({ dense }) => dense[model].labels)),
      rrf: round(quality(({ sparse, dense }) => labels(fuseRrf([sparse.labels, dense[model].labels], 60)))),
      learned: round(learned),
      difference: round(learned - bm25),
    });
  }
}
await server.close();
const below = rows.filter(({ difference }) => difference < -0.0005);
console.log(JSON.stringify({ bench: 'fusion', machine: describeMachine(), seed, rows, below_bm25: below }, null, 1));

function firstDocuments(labels: Iterable<number>, documentOf: readonly string[]): string[] {
  const found = new Set<string>();
  for (const label of labels) {
    found.add(documentOf[label]);
    if (found.size === 10) break;
  }
  return [...found];
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
