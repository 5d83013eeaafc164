/**
 * The formula of relevance (src/engine/relevance.ts), measured on the collections of ../shared/data/ir and with --fit fitted on some of them, as JSON.
 * A collection's own questions that have a judged document among their first three results stand against questions of the others, which are
 * off its topic; the collections of one name before the first dash (translations of each other) ask each other nothing off the topic. Questions
 * over translations of their documents are reported apart (`across`).
 *
 *   auc             of the most relevant of the first ten results, own against off-topic
 *   own_kept        own questions that have a judged document of their first three at .5 or more
 *   off_topic_shown off-topic questions that have a result at .5 or more
 *   left_out        off-topic questions of which the default threshold leaves no result
 *   lost            own questions whose judged documents among the first three are all below the threshold
 *
 * Usage: npm run bench -- relevance [--vectors folder, where they are kept] [--data folder] [--fit]
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fuseScores } from '../src/compute/ranking/fuse-scores.ts';
import { defaultMinRelevance } from '../src/domain/search.ts';
import { type Evidence, nearnessOf, RELEVANCE, type RelevanceWeights, relevance } from '../src/engine/relevance.ts';
import { describeMachine } from './machine.ts';
import { collectionNames, createQueryTools, type JudgedQuery, prepareCollection } from './quality/collections.ts';
import { askBoth, FLOOR, vectorsOf } from './quality/judged-lists.ts';
import { type Example, fitLogistic } from './quality/logistic.ts';

/** Of each collection, and of all others together that each is asked. */
const MAX_QUERIES = 300;
const likely = 0.5;
/** Fitted on; the others report. */
const FITTED_ON = ['boolq-valtest', 'cranfield', 'medline', 'xquad-de', 'xquad-hi'];

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(import.meta.dirname, '../../shared/data/ir') },
    vectors: { type: 'string' },
    fit: { type: 'boolean', default: false },
  },
});
const { data } = values;
const folder = values.vectors ?? join(tmpdir(), 'readback-vectors');
const tools = createQueryTools();

type Result = { evidence: Evidence; isJudged: boolean };
/** The first ten results of a question. */
type Asked = Result[];
interface Measured {
  name: string;
  own: Asked[];
  /** Questions in another language than the documents. */
  across: Asked[];
  offTopic: Asked[];
}

async function prepare(name: string) {
  return {
    ...prepareCollection(data, name, MAX_QUERIES, tools),
    vectors: await vectorsOf(data, folder, name),
  };
}
type Prepared = Awaited<ReturnType<typeof prepare>>;

const prepared: Prepared[] = [];
for (const name of collectionNames(data)) prepared.push(await prepare(name));

const measured = prepared.map((collection): Measured => {
  const others = prepared.filter((other) => familyOf(other) !== familyOf(collection));
  const peers = prepared.filter((other) => other !== collection && familyOf(other) === familyOf(collection));
  const each = Math.ceil(MAX_QUERIES / others.length);
  const eachPeer = Math.ceil(MAX_QUERIES / Math.max(1, peers.length));
  const hits = (asked: Asked[]) => asked.filter((results) => results.slice(0, 3).some(({ isJudged }) => isJudged));
  const own = hits(collection.queries.map((query) => ask(collection, collection, query)));
  const across = hits(
    peers.flatMap((peer) => spread(peer.queries, eachPeer).map((query) => ask(collection, peer, query))),
  );
  const offTopic = others.flatMap((other) =>
    spread(other.queries, each).map((query) => ask(collection, other, { ...query, grades: new Map() })),
  );
  return { name: collection.name, own, across, offTopic };
});

const fitted = values.fit ? fit(measured.filter(({ name }) => FITTED_ON.includes(name))) : RELEVANCE;
console.log(
  JSON.stringify(
    {
      ...{ bench: 'relevance', machine: describeMachine(), threshold: defaultMinRelevance, weights: fitted },
      fitted_on: FITTED_ON,
      collections: measured.map((each) => ({ name: each.name, ...measure(each, fitted) })),
    },
    null,
    1,
  ),
);

function ask(answering: Prepared, asking: Prepared, query: JudgedQuery): Asked {
  const vector = asking.vectors.ofQuery.get(query.id) ?? new Float32Array();
  const lists = askBoth(answering, query, vector, answering.vectors.documents, tools);
  const { sparse, dense, cosines, shares } = lists;
  const cosineOf = new Map(Array.from(dense.labels, (label, at) => [label, dense.scores[at]]));
  const coveredOf = new Map(Array.from(sparse.labels, (label, at) => [label, shares[at]]));
  for (const [at, label] of sparse.labels.entries()) cosineOf.set(label, cosines?.[at] ?? Number.NaN);
  return fuseScores(lists, FLOOR)
    .slice(0, 10)
    .map(({ label }) => ({
      evidence: {
        covered: coveredOf.get(label) ?? 0,
        nearness: nearnessOf(cosineOf.get(label) ?? Number.NaN, FLOOR),
      },
      isJudged: query.grades.has(answering.documentOf[label]),
    }));
}

/** Of own questions the judged of the first three results, of off-topic ones the one of most relevance so far; in a few rounds. */
function fit(collections: readonly Measured[]): RelevanceWeights {
  let weights = RELEVANCE;
  for (let round = 0; round < 8; round++) {
    const examples: Example[] = [];
    for (const { own, offTopic } of collections) {
      const positive = own.map((results) => results.slice(0, 3).filter(({ isJudged }) => isJudged));
      const add = (asked: readonly Asked[], label: number) => {
        for (const results of asked) {
          const best = strongest(results, weights);
          if (best !== null) examples.push({ features: featuresOf(best.evidence), label, weight: 1 / asked.length });
        }
      };
      add(positive, 1);
      add(offTopic, 0);
    }
    const [bias, covered, nearness] = fitLogistic(examples);
    weights = { bias, covered, nearness };
  }
  return weights;
}

function strongest(results: Asked, weights: RelevanceWeights): Result | null {
  return results.reduce(
    (best: Result | null, each) =>
      best === null || relevance(each.evidence, weights) > relevance(best.evidence, weights) ? each : best,
    null,
  );
}

function featuresOf({ covered, nearness }: Evidence): number[] {
  return [covered, nearness];
}

function measure({ own, across, offTopic }: Measured, weights: RelevanceWeights) {
  const best = (results: Asked) => Math.max(0, ...results.map(({ evidence }) => relevance(evidence, weights)));
  const answer = (results: Asked) => best(results.slice(0, 3).filter(({ isJudged }) => isJudged));
  const share = (of: readonly number[], isCounted: (value: number) => boolean) =>
    round(of.filter(isCounted).length / of.length);
  const off = offTopic.map(best);
  const answers = own.map(answer);
  return {
    own: own.length,
    off_topic: off.length,
    auc: round(auc(own.map(best), off)),
    own_kept: share(answers, (value) => value >= likely),
    off_topic_shown: share(off, (value) => value >= likely),
    left_out: share(off, (value) => value < defaultMinRelevance),
    lost: share(answers, (value) => value < defaultMinRelevance),
    ...(across.length > 0 && {
      across: {
        own: across.length,
        auc: round(auc(across.map(best), off)),
        own_kept: share(across.map(answer), (value) => value >= likely),
        lost: share(across.map(answer), (value) => value < defaultMinRelevance),
      },
    }),
  };
}

function auc(above: readonly number[], below: readonly number[]): number {
  let won = 0;
  for (const a of above) for (const b of below) won += a > b ? 1 : a === b ? 0.5 : 0;
  return won / (above.length * below.length);
}

/** So many of a list, evenly spread. */
function spread<Item>(list: readonly Item[], count: number): Item[] {
  if (list.length <= count) return [...list];
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)]);
}

function familyOf({ name }: { name: string }): string {
  return name.split('-', 1)[0];
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
