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
import { gaussianRows, unit } from './gaussian-rows.ts';
import type { OracleServer } from './oracle-server.ts';

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
export const SERVED_DIM = 48;
/** How far an oracle's query vectors are from the mean of what is relevant: the length of the error beside a length of 1. */
const ORACLES: Readonly<Record<string, number>> = { 'oracle-good': 0.9, 'oracle-fair': 1.4, 'oracle-poor': 2.2 };
/** Models of the server: the oracles, and one that knows nothing. */
export const SERVED = [...Object.keys(ORACLES), 'random'];

export interface NamedModel {
  dim: number;
  floor: number;
  vectors: Float32Array;
  /** `at`: its place among the queries. */
  embed(query: { made: Float32Array | null; at: number }): Float32Array | null;
}

interface AskedQuery {
  text: string;
  grades: ReadonlyMap<string, number>;
  /** Another for each query: what its oracle's error is made of. */
  no: number;
}

export async function listCollection(
  collection: PreparedCollection,
  root: string,
  tools: QueryTools,
  pseudoQueries: number,
  seed: number,
  { server, floors }: { server: OracleServer; floors: Readonly<Record<string, number>> },
): Promise<ListedCollection> {
  const { corpus, documentOf, chunks, name } = collection;
  const judged = collection.queries.map(({ text, grades }, no): AskedQuery => ({ text, grades, no }));
  const asked = [...judged, ...pseudoQueriesOf(collection, root, pseudoQueries, seed)];
  const models = {
    ...embeddedModels(collection, tools),
    ...(await servedModels(collection, asked, seed, server, floors)),
  };
  const listed = asked.map(({ text, grades }, at): ListedQuery => {
    const analyzed = tools.analyze(
      { query: text, dim: tools.embedder.dim, prefix: false },
      wordsIn(corpus, tools.wordVectors),
    );
    const plan = planQuery(corpus, analyzed.forms);
    const found = searchSegments(corpus, plan, CANDIDATES, tools.scratch);
    const sparse = { labels: found.labels.slice(), scores: Float64Array.from(found.scores) };
    const dense = Object.fromEntries(
      Object.entries(models).map(([model, { dim, floor, vectors, embed }]) => {
        const vector = embed({ made: analyzed.vector, at });
        return [
          model,
          vector === null
            ? { labels: new Uint32Array(0), scores: new Float64Array(0) }
            : nearest(vectors, dim, chunks, vector, floor),
        ];
      }),
    );
    return { text, language: analyzed.language, grades, sparse, dense };
  });
  return { name, documentOf, judged: listed.slice(0, judged.length), pseudo: listed.slice(judged.length) };
}

function pseudoQueriesOf({ name, documentOf }: PreparedCollection, root: string, count: number, seed: number) {
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
  const pseudo: AskedQuery[] = [];
  for (let tries = 0; pseudo.length < count && tries < 4 * count; tries++) {
    const id = ids[Math.floor(random() * ids.length)];
    const passage = documents.get(id);
    const text = passage === undefined ? null : pseudoQuery(passage, random);
    if (text !== null) pseudo.push({ text, grades: new Map([[id, 1]]), no: 1_000_000 + tries });
  }
  return pseudo;
}

/** The embedded model, whole and in its parts. */
function embeddedModels({ vectors, chunks }: PreparedCollection, tools: QueryTools): Record<string, NamedModel> {
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
  };
}

/** Vectors of passages and queries as the server's models answer them over HTTP. */
async function servedModels(
  collection: PreparedCollection,
  asked: readonly AskedQuery[],
  seed: number,
  server: OracleServer,
  floors: Readonly<Record<string, number>>,
): Promise<Record<string, NamedModel>> {
  const { chunks, documentOf } = collection;
  const dim = SERVED_DIM;
  const documents = [...new Set(documentOf)];
  const own = gaussianRows(documents.length, dim, seed, 2);
  const rowOf = new Map(documents.map((id, at) => [id, own.subarray(at * dim, (at + 1) * dim)]));
  const chunkNoise = gaussianRows(chunks, dim, seed, 3);
  const passageOf = (chunk: number): Float32Array => {
    const row = (rowOf.get(documentOf[chunk]) ?? new Float32Array(dim)).slice();
    for (let k = 0; k < dim; k++) row[k] += 0.3 * chunkNoise[chunk * dim + k];
    return unit(row);
  };
  const queryOf = ({ grades, no }: AskedQuery, error: number): Float32Array => {
    const sum = new Float32Array(dim);
    for (const id of grades.keys()) {
      const row = rowOf.get(id);
      for (let k = 0; row !== undefined && k < dim; k++) sum[k] += row[k];
    }
    unit(sum);
    const noise = gaussianRows(1, dim, seed + no, 4);
    for (let k = 0; k < dim; k++) sum[k] += error * noise[k];
    return unit(sum);
  };
  const texts = collection.texts();
  const passages = texts.map((text, chunk) => [text, passageOf(chunk)] as const);
  const models: Record<string, NamedModel> = {};
  for (const name of SERVED) {
    const error = ORACLES[name];
    if (error !== undefined)
      server.teach(name, new Map([...passages, ...asked.map((query) => [query.text, queryOf(query, error)] as const)]));
    const embedder = server.embedder(name);
    const vectors = await embedder.embed(texts, 'document');
    const queries = await embedder.embed(
      asked.map(({ text }) => text),
      'query',
    );
    const embed: NamedModel['embed'] = ({ at }) => queries.subarray(at * dim, (at + 1) * dim);
    models[name] = { dim, floor: floors[name], vectors, embed };
  }
  return models;
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
