/**
 * Ranking quality over the judged collections of ../shared/data/ir, as JSON: nDCG@10 of plain BM25 (quality/plain-bm25.ts), of BM25F alone and of the default order (score fusion), all
 * vectors there or those of every other document; with a paired randomisation test. Queries are split by the lowest bit of the SHA-256 of
 * their ids: on half `a` choices are made, half `b` is reported. `--weights` measures other weights than the default on half `a`.
 * `--peers`: also the queries of each collection over the documents of those with the same name before the last dash, in other languages.
 * Usage: npm run bench -- ranking [--vectors folder, where they are kept] [--data folder] [--queries n] [--weights] [--peers] [collection …]
 */
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DENSE_WEIGHT, fuseScores } from '../src/compute/ranking/fuse-scores.ts';
import { ndcg } from '../src/compute/ranking/score-run.ts';
import { describeMachine } from './machine.ts';
import { collectionNames, createQueryTools, type JudgedQuery, prepareCollection } from './quality/collections.ts';
import { askBoth, FLOOR, type Lists, vectorsOf } from './quality/judged-lists.ts';
import { mean, pairedTest } from './quality/measures.ts';
import { plainBm25 } from './quality/plain-bm25.ts';

const SEED = 42;
const WEIGHTS = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7];

const { values, positionals } = parseArgs({
  options: {
    data: { type: 'string', default: join(import.meta.dirname, '../../shared/data/ir') },
    vectors: { type: 'string' },
    queries: { type: 'string', default: '300' },
    weights: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const { data } = values;
const folder = values.vectors ?? join(tmpdir(), 'readback-vectors');
const names = collectionNames(data).filter((name) => positionals.length === 0 || positionals.includes(name));
const tools = createQueryTools();
const round = (value: number) => Math.round(value * 10_000) / 10_000;

async function prepare(name: string) {
  return {
    ...prepareCollection(data, name, Number(values.queries), tools),
    vectors: await vectorsOf(data, folder, name),
    plain: await plainBm25(join(data, name), /-([a-z]{2})$/.exec(name)?.[1] ?? 'en'),
  };
}

const prepared: Awaited<ReturnType<typeof prepare>>[] = [];
for (const name of names) prepared.push(await prepare(name));

/** nDCG@10 by arm. */
function gainsOf(lists: Lists, documentOf: readonly string[], grades: JudgedQuery['grades']) {
  const gain = (labels: Iterable<number>) =>
    ndcg(Array.from(labels, (label) => documentOf[label]).slice(0, 10), grades, 10);
  const fused = (each: Lists, weight?: number) => gain(fuseScores(each, FLOOR, weight).map(({ label }) => label));
  return {
    bm25: gain(lists.sparse.labels),
    dense: gain(lists.dense.labels),
    fused: fused(lists),
    half_filled: fused(halfFilled(lists)),
    by_weight: values.weights ? WEIGHTS.map((weight) => fused(lists, weight)) : [],
  };
}

/** As if the odd documents had no vectors yet. */
function halfFilled(lists: Lists): Lists {
  const { sparse, dense, cosines } = lists;
  const kept = Array.from(dense.labels.keys()).filter((at) => dense.labels[at] % 2 === 0);
  return {
    ...lists,
    dense: {
      labels: Uint32Array.from(kept, (at) => dense.labels[at]),
      scores: Float32Array.from(kept, (at) => dense.scores[at]),
    },
    cosines: Float32Array.from(sparse.labels, (label, at) =>
      label % 2 === 0 ? (cosines?.[at] ?? Number.NaN) : Number.NaN,
    ),
  };
}

const collections = prepared.map((collection) => {
  const { name, documentOf, vectors } = collection;
  const rows = collection.queries.map((query) => {
    const vector = vectors.ofQuery.get(query.id) ?? new Float32Array();
    const lists = askBoth(collection, query, vector, vectors.documents, tools);
    const plain = ndcg(collection.plain(query.text).slice(0, 10), query.grades, 10);
    return { half: halfOf(query.id), plain, ...gainsOf(lists, documentOf, query.grades) };
  });
  const halves = (['a', 'b'] as const).map((half) => {
    const chosen = rows.filter((row) => row.half === half);
    const of = (arm: 'plain' | 'bm25' | 'dense' | 'fused' | 'half_filled') => chosen.map((row) => row[arm]);
    const bm25 = mean(of('bm25'));
    return [
      half,
      {
        queries: chosen.length,
        ...{
          plain: round(mean(of('plain'))),
          bm25: round(bm25),
          dense: round(mean(of('dense'))),
          fused: round(mean(of('fused'))),
        },
        ...{ half_filled: round(mean(of('half_filled'))), ratio: round(mean(of('fused')) / bm25) },
        ratio_to_plain: round(mean(of('fused')) / mean(of('plain'))),
        p: round(pairedTest(of('bm25'), of('fused'), SEED).p),
        ...(values.weights &&
          half === 'a' && {
            by_weight: WEIGHTS.map((_, at) => round(mean(chosen.map(({ by_weight }) => by_weight[at])) / bm25)),
          }),
      },
    ] as const;
  });
  return { name, ...Object.fromEntries(halves) } as { name: string } & Record<'a' | 'b', (typeof halves)[number][1]>;
});

/** Questions in one language, documents in another, whose ids are the same. */
const across = !values.peers
  ? []
  : prepared.flatMap((asking) =>
      prepared.flatMap((answering) => {
        if (asking === answering || familyOf(asking.name) !== familyOf(answering.name)) return [];
        const gains = asking.queries.map((query) => {
          const vector = asking.vectors.ofQuery.get(query.id) ?? new Float32Array();
          const lists = askBoth(answering, query, vector, answering.vectors.documents, tools);
          return gainsOf(lists, answering.documentOf, query.grades);
        });
        const of = (arm: 'bm25' | 'fused') => round(mean(gains.map((each) => each[arm])));
        return [{ queries_of: asking.name, documents_of: answering.name, bm25: of('bm25'), fused: of('fused') }];
      }),
    );

const meanOf = (half: 'a' | 'b', ratio: 'ratio' | 'ratio_to_plain') =>
  round(mean(collections.map((each) => each[half][ratio])));
console.log(
  JSON.stringify(
    {
      ...{ bench: 'ranking', machine: describeMachine(), weight: DENSE_WEIGHT, floor: FLOOR, weights: WEIGHTS },
      ...{ collections, mean_ratio: { a: meanOf('a', 'ratio'), b: meanOf('b', 'ratio') } },
      mean_ratio_to_plain: { a: meanOf('a', 'ratio_to_plain'), b: meanOf('b', 'ratio_to_plain') },
      below_bm25: collections.filter(({ a, b }) => a.ratio < 1 || b.ratio < 1).map(({ name }) => name),
      across,
    },
    null,
    1,
  ),
);

function familyOf(name: string): string {
  return name.slice(0, name.lastIndexOf('-'));
}

function halfOf(id: string): 'a' | 'b' {
  return (createHash('sha256').update(id).digest()[31] & 1) === 0 ? 'a' : 'b';
}
