/**
 * The formula of relevance (src/engine/relevance.ts), fitted on the collections of ../shared/data/ir and measured on the one left out, as JSON. A
 * collection's own queries that have a judged document among their first three results stand against queries of the others, which are
 * about something else; the collections of one name before the first dash (translations of each other) ask each other nothing.
 *
 *   auc            of the first result's relevance, own against foreign
 *   foreign_likely foreign queries whose first result has .5 or more
 *   own_kept       own queries that keep a judged document of their first three at .5
 *   calibration    expected calibration error of the first results, ten bins, own and foreign weighing the same
 *   floor          what the default floor leaves: nDCG@10 against the ranking without it, foreign queries left without a result
 *
 * `fixed` are the numbers in the source, on all; `left_out` those fitted without the collection.
 * Usage: npm run bench:relevance [-- collection …]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openWordVectors } from '../src/compute/embedding/word-vectors.ts';
import { ndcg } from '../src/compute/measures/ranking-measures.ts';
import { defaultMinRelevance } from '../src/domain/search.ts';
import { loadWordVectors } from '../src/engine/load-word-vectors.ts';
import { type Evidence, FOREIGN_RELEVANCE, RELEVANCE, relevance } from '../src/engine/relevance.ts';
import { describeMachine } from './machine.ts';
import { collectionNames, type JudgedQuery, prepareCollections } from './quality/collections.ts';
import { type Example, fitLogistic, probability } from './quality/logistic.ts';
import { mean } from './quality/measures.ts';
import { createQueryTools, runQuery } from './quality/run-query.ts';

const MAX_QUERIES = 300;
/** Queries of all other collections together that each is asked. */
const FOREIGN_QUERIES = 300;
const DIM = 1024;
/** Results of a query that the formula is fitted on: its judged ones among the first three, or the first of a foreign query. */
const FIRST = 3;

const root = join(import.meta.dirname, '../../shared/data/ir');
const { positionals } = parseArgs({ allowPositionals: true });
const names = collectionNames(root).filter((name) => positionals.length === 0 || positionals.includes(name));
const tools = createQueryTools(openWordVectors(loadWordVectors()), DIM);

interface Result {
  document: string;
  evidence: Evidence;
  isForeign: boolean;
  /** 0 where it was not judged relevant. */
  grade: number;
}
interface Asked {
  query: JudgedQuery;
  /** The first ten. */
  results: Result[];
}
type Judge = (result: Result) => number;

const collections = [...prepareCollections(root, names, MAX_QUERIES, false, tools)];
const measured = collections.map((collection) => {
  const family = collection.name.split('-', 1)[0];
  const others = collections.filter(({ name }) => name.split('-', 1)[0] !== family);
  const each = Math.ceil(FOREIGN_QUERIES / Math.max(1, others.length));
  const ask = (query: JudgedQuery, isOwn: boolean): Asked => {
    const { evidence, isForeign } = runQuery(collection, query.text, tools);
    const results = [...evidence].slice(0, 10).map(([document, known]) => {
      return { document, evidence: known, isForeign, grade: isOwn ? (query.grades.get(document) ?? 0) : 0 };
    });
    return { query, results };
  };
  const own = collection.queries.map((query) => ask(query, true));
  const foreign = others.flatMap(({ queries }) => spread(queries, each).map((query) => ask(query, false)));
  return { name: collection.name, own, foreign };
});
type Measured = (typeof measured)[number];

const fixed: Judge = ({ evidence, isForeign }) => relevance(evidence, isForeign ? FOREIGN_RELEVANCE : RELEVANCE);
const folds = measured.map((collection) => {
  const judge = fitted(measured.filter((other) => other !== collection)).judge;
  return { name: collection.name, judge, collection };
});
console.log(
  JSON.stringify(
    {
      bench: 'relevance',
      machine: describeMachine(),
      floor: defaultMinRelevance,
      fitted_on_all: fitted(measured).weights,
      left_out: folds.map(({ name, judge, collection }) => ({ name, ...measure(collection, judge) })),
      left_out_curve: curve(folds.flatMap(({ collection, judge }) => firstResults(collection, judge))),
      fixed: measured.map((collection) => ({ name: collection.name, ...measure(collection, fixed) })),
    },
    null,
    1,
  ),
);

/** So many of a list, evenly spread. */
function spread<Item>(list: readonly Item[], count: number): Item[] {
  if (list.length <= count) return [...list];
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)]);
}

/** The four features, the same again for queries in other languages, so that one fit gives both formulas. */
function featuresOf({ evidence: { covered, strength, nearness, words }, isForeign }: Result): number[] {
  const foreign = isForeign ? 1 : 0;
  const many = Math.log(Math.max(1, words));
  return [covered, strength, nearness, many, foreign, foreign * covered, foreign * nearness, foreign * many];
}

function fitted(collections: readonly Measured[]) {
  const examples: Example[] = [];
  const add = (results: readonly Result[], label: number) => {
    for (const result of results) examples.push({ features: featuresOf(result), label, weight: 1 / results.length });
  };
  for (const { own, foreign } of collections) {
    add(
      own.flatMap(({ results }) => results.slice(0, FIRST).filter(({ grade }) => grade > 0)),
      1,
    );
    add(
      foreign.flatMap(({ results }) => results.slice(0, 1)),
      0,
    );
  }
  const weights = fitLogistic(examples);
  const [bias, covered, strength, nearness, words, foreign, foreignCovered, foreignNearness, foreignWords] = weights;
  return {
    judge: (result: Result) => probability(weights, featuresOf(result)),
    weights: {
      own: roundAll({ bias, covered, strength, nearness, words }),
      foreign: roundAll({
        bias: bias + foreign,
        covered: covered + foreignCovered,
        strength,
        nearness: nearness + foreignNearness,
        words: words + foreignWords,
      }),
    },
  };
}

function measure({ own, foreign }: Measured, judge: Judge) {
  const hits = own.filter(({ results }) => results.slice(0, FIRST).some(({ grade }) => grade > 0));
  const first = ({ results }: Asked) => (results.length === 0 ? 0 : judge(results[0]));
  const [ownFirst, foreignFirst] = [hits.map(first), foreign.map(first)];
  const kept = hits.filter(({ results }) =>
    results.slice(0, FIRST).some((each) => each.grade > 0 && judge(each) >= 0.5),
  );
  const ndcgs = (floor: number) =>
    mean(
      own.map(({ query, results }) => {
        const left = results.filter((each) => judge(each) >= floor).map(({ document }) => document);
        return ndcg(left, query.grades, 10);
      }),
    );
  return roundAll({
    own: hits.length,
    foreign: foreign.length,
    auc: auc(ownFirst, foreignFirst),
    foreign_likely: foreignFirst.filter((each) => each >= 0.5).length / foreign.length,
    own_kept: kept.length / hits.length,
    calibration: calibrationError(ownFirst, foreignFirst),
    floor_ndcg_change: ndcgs(defaultMinRelevance) / ndcgs(0) - 1,
    floor_foreign_empty:
      foreign.filter(({ results }) => results.every((each) => judge(each) < defaultMinRelevance)).length /
      foreign.length,
  });
}

function auc(above: readonly number[], below: readonly number[]): number {
  let won = 0;
  for (const a of above) for (const b of below) won += a > b ? 1 : a === b ? 0.5 : 0;
  return won / (above.length * below.length);
}

type Told = { told: number; is: number; weight: number };

function firstResults({ own, foreign }: Measured, judge: Judge): Told[] {
  const hits = own.filter(({ results }) => results.slice(0, FIRST).some(({ grade }) => grade > 0));
  const told = (asked: readonly Asked[], is: number) =>
    asked.map(({ results }) => ({ told: results.length === 0 ? 0 : judge(results[0]), is, weight: 1 / asked.length }));
  return [...told(hits, 1), ...told(foreign, 0)];
}

function calibrationError(own: readonly number[], foreign: readonly number[]): number {
  const told = [
    ...own.map((each) => ({ told: each, is: 1, weight: 1 / own.length })),
    ...foreign.map((each) => ({ told: each, is: 0, weight: 1 / foreign.length })),
  ];
  return curve(told).reduce((sum, bin) => sum + bin.share * Math.abs(bin.told - bin.is), 0);
}

/** By tenths of what was told: its mean, how often it was so, and the share of all. */
function curve(all: readonly Told[]) {
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  return Array.from({ length: 10 }, (_, bin) => {
    const within = all.filter(({ told }) => Math.min(9, Math.floor(told * 10)) === bin);
    const weight = within.reduce((sum, each) => sum + each.weight, 0);
    const meanOf = (value: (each: Told) => number) =>
      weight === 0 ? 0 : within.reduce((sum, each) => sum + each.weight * value(each), 0) / weight;
    return roundAll({ told: meanOf(({ told }) => told), is: meanOf(({ is }) => is), share: weight / total });
  });
}

function roundAll<Values extends Record<string, number>>(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Math.round(value * 1000) / 1000]),
  ) as Values;
}
