/**
 * Makes the data of one size (bench/workload.ts) and the references' answers to the queries. The references' work grows with
 * chunks × dimensions × queries, so at large sizes fewer queries are judged; all are timed.
 */
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { openEnlargedVectors } from '../enlarged-vectors.ts';
import { openWorkload } from '../workload.ts';
import { bucketOf, bucketsOf, SHARES } from './allowed.ts';
import { type BenchData, type BenchQuery, isDeleted, TOP, type Truth } from './data-folder.ts';
import { ExactBm25 } from './exact-bm25f.ts';
import { ExactNearest } from './exact-nearest.ts';

const QUERIES = 300;
const WORDS_PER_CHUNK = 200;
const BATCH = 1000;
/** Products of components that the exact scan may take: about five seconds. */
const SCAN_PRODUCTS = 3e9;

export async function prepareData(data: BenchData): Promise<void> {
  const { dir, chunks, dim, seed } = data;
  const workload = openWorkload({ seed, dim, wordsPerChunk: WORDS_PER_CHUNK });
  const { chunkVector, queryVector } =
    data.vectors === null ? workload : openEnlargedVectors(data.vectors, { dim, queries: QUERIES, seed });
  const queries: BenchQuery[] = Array.from({ length: QUERIES }, (_, number) => {
    const { words } = workload.query(number);
    return { text: words.join(' '), words, vector: [...queryVector(number)] };
  });
  const judged = queries.slice(0, Math.max(20, Math.min(QUERIES, Math.floor(SCAN_PRODUCTS / (chunks * dim)))));
  const bm25 = new ExactBm25(judged.flatMap(({ words }) => words));
  const allowed = SHARES.map((share) => (chunk: number) => bucketOf(chunk) < bucketsOf(share));
  const all = () => true;
  const nearest = new ExactNearest(
    judged.map(({ vector }) => Float32Array.from(vector)),
    TOP,
    [all, ...allowed],
  );

  const texts = createWriteStream(join(dir, 'texts.txt'));
  const vectors = createWriteStream(join(dir, 'vectors.f32'));
  for (let first = 0; first < chunks; first += BATCH) {
    const count = Math.min(BATCH, chunks - first);
    const rows = new Float32Array(count * dim);
    let lines = '';
    for (let i = 0; i < count; i++) {
      const words = workload.chunkWords(first + i);
      bm25.add(words);
      lines += `${words.join(' ')}\n`;
      rows.set(chunkVector(first + i), i * dim);
    }
    nearest.add(first, rows);
    if (!texts.write(lines)) await new Promise<void>((resolve) => texts.once('drain', resolve));
    if (!vectors.write(new Uint8Array(rows.buffer)))
      await new Promise<void>((resolve) => vectors.once('drain', resolve));
  }
  texts.end();
  vectors.end();
  await Promise.all([finished(texts), finished(vectors)]);

  const words = judged.map((query) => query.words);
  const [dense, ...denseFiltered] = nearest.results();
  const truth: Truth = {
    dense,
    sparse: bm25.search(words, TOP, all, all),
    sparseAfterDeletion: bm25.search(words, TOP, (chunk) => !isDeleted(chunk), all),
    filtered: SHARES.map((share, i) => ({
      share,
      dense: denseFiltered[i],
      sparse: bm25.search(words, TOP, all, allowed[i]),
    })),
  };
  await writeFile(join(dir, 'queries.json'), JSON.stringify(queries));
  await writeFile(join(dir, 'truth.json'), JSON.stringify(truth));
  await writeFile(join(dir, 'meta.json'), JSON.stringify(data));
}
