/**
 * Ranking quality of the default pipeline and its parts over the collections of ../shared/data/ir, as JSON: nDCG@10, recall@100
 * and time per query of BM25 alone, dense alone, their fusion, and fusion with the local reranker, which is what the service
 * answers with; paired randomisation tests against BM25 alone. In process and exact (no graph), deterministic but for times.
 * With --leave-one-out also: the reranker's four numbers chosen on all collections but one and measured on that one, for each.
 * With --mixed each collection's queries search the passages of all, as in a library of several languages.
 * With --short the queries are cut to their three heaviest terms, as people search who type keywords.
 * Usage: npm run bench:quality [-- --leave-one-out] [--short] [--mixed] [--data folder] [collection …]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openWordVectors } from '../src/compute/embedding/word-vectors.ts';
import { ndcg, recall } from '../src/compute/measures/ranking-measures.ts';
import { loadWordVectors } from '../src/engine/load-word-vectors.ts';
import { type RerankWeights, WEIGHTS } from '../src/engine/rerank/rerank.ts';
import { describeMachine } from './machine.ts';
import { collectionNames, prepareCollections } from './quality/collections.ts';
import { mean, pairedTest, quantile } from './quality/measures.ts';
import { ARMS, type Arm, createQueryTools, type QueryRun, runQuery, shortened } from './quality/run-query.ts';

/** The published references were measured on the first 300 queries of each collection. */
const MAX_QUERIES = 300;
const DIM = 1024;
const SEED = 42;
/** nDCG@10 of BM25 alone as published with the collections: wink stems, stop words off, k1 1.2, b 0.75. */
const REFERENCES: Readonly<Record<string, number>> = {
  cranfield: 0.349,
  cisi: 0.414,
  medline: 0.694,
  time: 0.764,
  'boolq-valtest': 0.826,
  'clapnq-dev': 0.946,
  'multihop-hotpotqa-100': 0.786,
};

const { values, positionals } = parseArgs({
  options: {
    'leave-one-out': { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    mixed: { type: 'boolean', default: false },
    data: { type: 'string', default: join(import.meta.dirname, '../../shared/data/ir') },
  },
  allowPositionals: true,
});
const root = values.data;
const names = collectionNames(root).filter((name) => positionals.length === 0 || positionals.includes(name));
/** What the reranker's weights were chosen from (bench/results/2026-11-reranking-trials.md), and both weights of the support as one. */
const GRIDS: Readonly<Record<string, readonly RerankWeights[]>> = {
  feedback: [1, 1.5, 2, 3].flatMap((steepness) => [0.5, 0.75, 1].map((beta) => ({ ...WEIGHTS, steepness, beta }))),
  support: [0, 0.15, 0.25, 0.4].flatMap((cosine) =>
    [0, 0.15, 0.3, 0.5].map((neighbours) => ({ ...WEIGHTS, cosine, neighbours })),
  ),
  one_weight: [0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5].map((part) => ({ ...WEIGHTS, cosine: part, neighbours: part })),
};
const settings = values['leave-one-out']
  ? Object.entries(GRIDS).flatMap(([grid, weights]) => weights.map((weight) => ({ grid, ...weight })))
  : [];
const wordVectors = openWordVectors(loadWordVectors());
const tools = createQueryTools(wordVectors, DIM);

const measured = [...prepareCollections(root, names, MAX_QUERIES, values.mixed, tools)].map((collection) => {
  const { name } = collection;
  const { starts, wordStems } = collection.forward.index;
  const runs = collection.queries.map(({ text }) =>
    runQuery(collection, values.short ? shortened(collection, text, tools) : text, tools, settings),
  );
  const ndcgs = (arm: Arm) => runs.map(({ ranked }, q) => ndcg(ranked[arm], collection.queries[q].grades, 10));
  const found = (arm: Arm) =>
    runs.map(({ ranked }, q) => recall(ranked[arm].slice(0, 100), collection.queries[q].grades));
  const perQuery = Object.fromEntries(ARMS.map((arm) => [arm, ndcgs(arm)])) as Record<Arm, number[]>;
  return {
    name,
    documents: collection.documents,
    chunks: collection.chunks,
    queries: collection.queries.length,
    perQuery,
    /** Mean nDCG@10 by setting. */
    perSetting: settings.map((_, at) =>
      mean(runs.map(({ rankedBy }, q) => ndcg(rankedBy[at], collection.queries[q].grades, 10))),
    ),
    ndcg_10: { reference: values.short ? undefined : REFERENCES[name], ...byArm((arm) => round(mean(perQuery[arm]))) },
    recall_100: byArm((arm) => round(mean(found(arm)))),
    default_against_bm25: roundAll(pairedTest(perQuery.bm25, perQuery.default, SEED)),
    candidates: round(mean(runs.map(({ candidates }) => candidates))),
    forward_entries_per_chunk: round(starts[collection.chunks] / collection.chunks),
    forward_words: wordStems.length,
    times_ms: times(runs),
  };
});

const pooled = (arm: Arm) => measured.flatMap(({ perQuery }) => perQuery[arm]);
/** The better of the published reference and our own sparse side, by collection. */
const bar = measured.map(({ ndcg_10 }) => Math.max(ndcg_10.reference ?? 0, ndcg_10.bm25));
const meanOf = (arm: Arm) => mean(measured.map(({ ndcg_10 }) => ndcg_10[arm]));
console.log(
  JSON.stringify(
    {
      bench: 'quality',
      machine: describeMachine(),
      seed: SEED,
      collections: measured.map(({ perQuery: _, perSetting: __, ...rest }) => rest),
      mean_ndcg_10: { best_bm25: round(mean(bar)), ...byArm((arm) => round(meanOf(arm))) },
      relative_to_best_bm25: byArm((arm) => round(meanOf(arm) / mean(bar) - 1)),
      relative_to_own_bm25: byArm((arm) => round(meanOf(arm) / meanOf('bm25') - 1)),
      below_best_bm25: measured.filter(({ ndcg_10 }, i) => ndcg_10.default <= bar[i]).map(({ name }) => name),
      all_queries: roundAll(pairedTest(pooled('bm25'), pooled('default'), SEED)),
      ...(settings.length === 0 ? {} : { leave_one_out: leaveOneOut() }),
    },
    null,
    1,
  ),
);

function byArm(value: (arm: Arm) => number): Record<Arm, number> {
  return Object.fromEntries(ARMS.map((arm) => [arm, value(arm)])) as Record<Arm, number>;
}

/** Every setting on all collections, and what choosing carries over: from each grid by itself, and from all of them. */
function leaveOneOut() {
  const means = settings.map((setting, at) => ({
    ...setting,
    mean_ndcg_10: round(mean(measured.map(({ perSetting }) => perSetting[at]))),
  }));
  const places = [...settings.keys()];
  const chosenFrom = Object.keys(GRIDS).map((grid) => [
    grid,
    foldsOf(places.filter((at) => settings[at].grid === grid)),
  ]);
  return { settings: means, chosen_from: { ...Object.fromEntries(chosenFrom), all: foldsOf(places) } };
}

/** What the setting that is best for all other collections gives on each. `places`: the settings to choose from. */
function foldsOf(places: readonly number[]) {
  const folds = measured.map(({ name, perSetting }) => {
    const others = measured.filter((other) => other.name !== name);
    const onOthers = places.map((at) => mean(others.map((other) => other.perSetting[at])));
    const chosen = places[onOthers.indexOf(Math.max(...onOthers))];
    return { name, ...settings[chosen], ndcg_10: round(perSetting[chosen]) };
  });
  const left = mean(folds.map(({ ndcg_10 }) => ndcg_10));
  return {
    folds,
    mean_ndcg_10: round(left),
    relative_to_best_bm25: round(left / mean(bar) - 1),
    relative_to_own_bm25: round(left / meanOf('bm25') - 1),
    below_best_bm25: folds.filter(({ ndcg_10 }, i) => ndcg_10 <= bar[i]).map(({ name }) => name),
  };
}

function times(runs: readonly QueryRun[]) {
  const of = (stage: keyof QueryRun['times_ms']) => {
    const values = runs.map(({ times_ms }) => times_ms[stage]);
    return { p50: round(quantile(values, 0.5)), p95: round(quantile(values, 0.95)) };
  };
  return { analyse: of('analyse'), sparse: of('sparse'), gather: of('gather'), rerank: of('rerank') };
}

function roundAll<Values extends Record<string, number>>(values: Values) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, round(value)]));
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
