/** What both sides find for the judged queries of a collection, and for pseudo-queries of its own, with vectors of several models. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { localFloor } from '../../src/compute/embedding/calibrate-floor.ts';
import { pseudoQuery } from '../../src/compute/ranking/pseudo-queries.ts';
import { planQuery } from '../../src/engine/words/corpus.ts';
import { searchSegments } from '../../src/engine/words/search-segments.ts';
import { wordsIn } from '../../src/engine/words/spelling.ts';
import type { PreparedCollection } from '../quality/collections.ts';
import type { QueryTools } from '../quality/run-query.ts';
import { randomStream } from '../workload.ts';

export interface SideHits {
  labels: Uint32Array;
  scores: Float64Array;
}

export interface ListedQuery {
  text: string;
  language: string;
  /** Grades above 0 by document. */
  grades: ReadonlyMap<string, number>;
  sparse: SideHits;
  /** By model. */
  dense: Readonly<Record<string, SideHits>>;
}

export interface ListedCollection {
  name: string;
  documentOf: string[];
  judged: ListedQuery[];
  pseudo: ListedQuery[];
}

const CANDIDATES = 100;
const ORACLE_DIM = 48;
/** How far an oracle's query vectors are from the mean of what is relevant: the length of the error beside a length of 1. */
export const ORACLES: Readonly<Record<string, number>> = { 'oracle-good': 0.9, 'oracle-fair': 1.4, 'oracle-poor': 2.2 };

export interface NamedModel {
  dim: number;
  floor: number;
  vectors: Float32Array;
  embed(query: {
    text: string;
    made: Float32Array | null;
    grades: ReadonlyMap<string, number>;
    no: number;
  }): Float32Array | null;
}

export function listCollection(
  collection: PreparedCollection,
  root: string,
  tools: QueryTools,
  pseudoQueries: number,
  seed: number,
): ListedCollection {
  const { corpus, documentOf, chunks, name } = collection;
  const models = modelsOf(collection, tools, seed);
  const find = (text: string, grades: ReadonlyMap<string, number>, no: number): ListedQuery => {
    const analyzed = tools.analyze(
      { query: text, dim: tools.embedder.dim, prefix: false },
      wordsIn(corpus, tools.wordVectors),
    );
    const plan = planQuery(corpus, analyzed.forms);
    const found = searchSegments(corpus, plan, CANDIDATES, tools.scratch);
    const sparse = { labels: found.labels.slice(), scores: Float64Array.from(found.scores) };
    const dense = Object.fromEntries(
      Object.entries(models).map(([model, { dim, floor, vectors, embed }]) => {
        const vector = embed({ text, made: analyzed.vector, grades, no });
        return [
          model,
          vector === null
            ? { labels: new Uint32Array(0), scores: new Float64Array(0) }
            : nearest(vectors, dim, chunks, vector, floor),
        ];
      }),
    );
    return { text, language: analyzed.language, grades, sparse, dense };
  };
  const judged = collection.queries.map(({ text, grades }, no) => find(text, grades, no));
  const documents = new Map(
    readFileSync(join(root, name, 'corpus.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => {
        const { _id, title, text }: { _id: string; title?: string; text: string } = JSON.parse(line);
        return [`${name}/${_id}`, { title: title || null, section: null, text }] as const;
      }),
  );
  const random = randomStream(seed, 7, 0);
  const ids = [...documents.keys()].filter((id) => documentOf.includes(id));
  const pseudo: ListedQuery[] = [];
  for (let tries = 0; pseudo.length < pseudoQueries && tries < 4 * pseudoQueries; tries++) {
    const id = ids[Math.floor(random() * ids.length)];
    const passage = documents.get(id);
    const text = passage === undefined ? null : pseudoQuery(passage, random);
    if (text !== null) pseudo.push(find(text, new Map([[id, 1]]), 1_000_000 + tries));
  }
  return { name, documentOf, judged, pseudo };
}

function modelsOf(collection: PreparedCollection, tools: QueryTools, seed: number): Record<string, NamedModel> {
  const { vectors, chunks, documentOf } = collection;
  const { dim } = tools.embedder;
  const wordDim = tools.wordVectors.dim;
  const sketch = vectors.slice();
  for (let chunk = 0; chunk < chunks; chunk++) {
    sketch.fill(0, chunk * dim, chunk * dim + wordDim);
    unit(sketch.subarray(chunk * dim, (chunk + 1) * dim));
  }
  const wordRows = new Float32Array(chunks * wordDim);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const row = wordRows.subarray(chunk * wordDim, (chunk + 1) * wordDim);
    row.set(vectors.subarray(chunk * dim, chunk * dim + wordDim));
    unit(row);
  }
  const random = gaussianRows(chunks, 64, seed, 1);
  const documents = [...new Set(documentOf)];
  const own = gaussianRows(documents.length, ORACLE_DIM, seed, 2);
  const rowOf = new Map(documents.map((id, at) => [id, own.subarray(at * ORACLE_DIM, (at + 1) * ORACLE_DIM)]));
  const oracleRows = new Float32Array(chunks * ORACLE_DIM);
  const chunkNoise = gaussianRows(chunks, ORACLE_DIM, seed, 3);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const row = oracleRows.subarray(chunk * ORACLE_DIM, (chunk + 1) * ORACLE_DIM);
    row.set(rowOf.get(documentOf[chunk]) ?? row);
    for (let k = 0; k < ORACLE_DIM; k++) row[k] += 0.3 * chunkNoise[chunk * ORACLE_DIM + k];
    unit(row);
  }
  const oracle = (error: number): NamedModel => ({
    dim: ORACLE_DIM,
    floor: 0.24,
    vectors: oracleRows,
    embed: ({ grades, no }) => {
      const sum = new Float32Array(ORACLE_DIM);
      for (const id of grades.keys()) {
        const row = rowOf.get(id);
        for (let k = 0; row !== undefined && k < ORACLE_DIM; k++) sum[k] += row[k];
      }
      unit(sum);
      const noise = gaussianRows(1, ORACLE_DIM, seed + no, 4);
      for (let k = 0; k < ORACLE_DIM; k++) sum[k] += error * noise[k];
      return unit(sum);
    },
  });
  return {
    embedded: { dim, floor: tools.floor, vectors, embed: ({ made }) => made },
    sketch: {
      dim,
      floor: tools.floor,
      vectors: sketch,
      embed: ({ made }) => (made === null ? null : unit(made.slice().fill(0, 0, wordDim))),
    },
    'embedded-100': {
      dim: wordDim,
      floor: localFloor(wordDim),
      vectors: wordRows,
      embed: ({ made }) => (made === null ? null : unit(made.slice(0, wordDim))),
    },
    random: { dim: 64, floor: 0.2, vectors: random, embed: ({ no }) => gaussianRows(1, 64, seed + no, 5) },
    ...Object.fromEntries(Object.entries(ORACLES).map(([name, error]) => [name, oracle(error)])),
  };
}

/** Shape: rows × dim, unit length. */
function gaussianRows(rows: number, dim: number, seed: number, kind: number): Float32Array {
  const random = randomStream(seed, kind, rows);
  const out = new Float32Array(rows * dim);
  for (let at = 0; at < out.length; at++)
    out[at] = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  for (let row = 0; row < rows; row++) unit(out.subarray(row * dim, (row + 1) * dim));
  return out;
}

function unit(row: Float32Array): Float32Array {
  const length = Math.hypot(...row);
  if (length > 0) for (let k = 0; k < row.length; k++) row[k] /= length;
  return row;
}

function nearest(vectors: Float32Array, dim: number, rows: number, vector: Float32Array, floor: number): SideHits {
  const scores = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let k = 0, at = row * dim; k < dim; k++, at++) sum += vector[k] * vectors[at];
    scores[row] = sum;
  }
  const above = Array.from(scores.keys())
    .filter((row) => scores[row] >= floor)
    .sort((a, b) => scores[b] - scores[a] || a - b)
    .slice(0, CANDIDATES);
  return { labels: Uint32Array.from(above), scores: Float64Array.from(above, (row) => scores[row]) };
}
