/**
 * What both sides find for the judged queries of ../shared/data/ir, in process: words by the engine's BM25F, vectors by an exact scan. Each
 * document is one chunk. Vectors are kept in a folder: NAME.docs.f32 and NAME.queries.f32, rows of `DIM` floats in the order of
 * NAME.ids.json; the encoder makes those that are missing, about ten passages a second.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embeddingText } from '../../src/compute/embedding/embedding-text.ts';
import type { BothSides, ScoredHits } from '../../src/compute/ranking/fuse-scores.ts';
import { planQuery } from '../../src/engine/words/corpus.ts';
import { byNeighbours, readRun } from '../../src/engine/words/neighbours.ts';
import { coverageOf, createScratch, searchSegments } from '../../src/engine/words/search-segments.ts';
import { type KnownWords, wordsIn } from '../../src/engine/words/spelling.ts';
import { openBenchEncoder } from '../bench-encoder.ts';
import type { JudgedQuery, PreparedCollection, QueryTools } from './collections.ts';

export const DIM = 384;
/** Cosine of unrelated texts, by the encoder's manifest. */
export const FLOOR = 0.75;
/** The contract's default of `candidates`. */
const CANDIDATES = 100;
const scratch = createScratch();

export interface Lists extends BothSides {
  /** Of the sparse hits, aligned: share of the query's weight that each has. */
  shares: Float64Array;
  analyseMs: number;
}

export interface Vectors {
  documents: Float32Array;
  /** By id of the query. */
  ofQuery: ReadonlyMap<string, Float32Array>;
}

/** Of a collection in `data`. Errors: throws where a file has not one row for each id. */
export async function vectorsOf(data: string, folder: string, name: string): Promise<Vectors> {
  if (!existsSync(join(folder, `${name}.ids.json`))) await makeVectors(data, folder, name);
  const read = (file: string) => {
    const bytes = readFileSync(join(folder, file));
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  };
  const ids: { docs: string[]; queries: string[] } = JSON.parse(readFileSync(join(folder, `${name}.ids.json`), 'utf8'));
  const [documents, queries] = [read(`${name}.docs.f32`), read(`${name}.queries.f32`)];
  if (documents.length !== ids.docs.length * DIM || queries.length !== ids.queries.length * DIM)
    throw new Error(`${name}: not one row of ${DIM} numbers for each id`);
  return {
    documents,
    ofQuery: new Map(ids.queries.map((id, at) => [id, queries.subarray(at * DIM, (at + 1) * DIM)])),
  };
}

/** Texts encoded between two reports of progress. */
const encodedAtOnce = 64;

async function makeVectors(data: string, folder: string, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const read = (file: string): { _id: string; title?: string; text: string }[] =>
    readFileSync(join(data, name, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const encoder = openBenchEncoder();
  const write = async (file: string, texts: string[], kind: 'passage' | 'query') => {
    const rows: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += encodedAtOnce) {
      rows.push((await encoder.encode(texts.slice(at, at + encodedAtOnce), kind)).rows);
      process.stderr.write(`\r${name} ${file}: ${Math.min(texts.length, at + encodedAtOnce)} of ${texts.length}`);
    }
    process.stderr.write('\n');
    writeFileSync(join(folder, `${name}.${file}.f32`), Buffer.concat(rows.map((each) => Buffer.from(each.buffer))));
  };
  try {
    const [documents, queries] = [read('corpus.jsonl'), read('queries.jsonl')];
    const passages = documents.map(({ title, text }) => embeddingText(title ?? null, null, text));
    await write('docs', passages, 'passage');
    await write(
      'queries',
      queries.map(({ text }) => text),
      'query',
    );
    const idsOf = (list: { _id: string }[]) => list.map(({ _id }) => _id);
    const ids = { docs: idsOf(documents), queries: idsOf(queries) };
    writeFileSync(join(folder, `${name}.ids.json`), JSON.stringify(ids));
  } finally {
    await encoder.close();
  }
}

/** By words alone. `knownOf`: what is used of what the corpus knows of words. */
export function askWords(
  { corpus }: PreparedCollection,
  text: string,
  tools: QueryTools,
  knownOf = (all: KnownWords) => all,
) {
  const began = performance.now();
  const { forms, language, corrected } = tools.analyze({ query: text }, knownOf(wordsIn(corpus)));
  const analyseMs = performance.now() - began;
  const plan = planQuery(corpus, forms);
  const hits = searchSegments(corpus, plan, CANDIDATES, scratch);
  const covered = coverageOf(corpus, plan, hits.labels);
  const sparse = byNeighbours(corpus, { ...hits, covered }, readRun(text, language, corrected));
  return { analyseMs, sparse };
}

/** `vector`: of the query; `documents`: a row for each label of the collection. */
export function askBoth(
  collection: PreparedCollection,
  { text }: Pick<JudgedQuery, 'text'>,
  vector: Float32Array,
  documents: Float32Array,
  tools: QueryTools,
): Lists {
  const { sparse, analyseMs } = askWords(collection, text, tools);
  const all = Float32Array.from({ length: documents.length / DIM }, (_, row) => dot(vector, documents, row));
  const cosines = Float32Array.from(sparse.labels, (label) => all[label]);
  const { covered: shares } = sparse;
  return { sparse, dense: nearest(all), cosines, shares, covered: Math.max(0, ...shares), analyseMs };
}

function nearest(cosines: Float32Array): ScoredHits {
  const above = Array.from(cosines.keys()).filter((label) => cosines[label] >= FLOOR);
  const labels = Uint32Array.from(above.sort((a, b) => cosines[b] - cosines[a] || a - b).slice(0, CANDIDATES));
  return { labels, scores: Float32Array.from(labels, (label) => cosines[label]) };
}

function dot(vector: Float32Array, rows: Float32Array, row: number): number {
  let sum = 0;
  for (let k = 0, at = row * DIM; k < DIM; k++, at++) sum += vector[k] * rows[at];
  return sum;
}
