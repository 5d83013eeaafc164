/**
 * The engine bench's data as files, made once and read by every engine's process in batches, so that no process is charged for
 * memory that holds another's input: `texts.txt` (a chunk a line), `vectors.f32`, `queries.json` and `truth.json`.
 */
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const TOP = 100;
/** RRF's constant: the contract's default. */
export const RRF_K = 60;

export interface BenchQuery {
  text: string;
  words: string[];
  vector: number[];
}

/** Best labels for each of the first queries. */
export interface Truth {
  dense: number[][];
  sparse: number[][];
  /** With every tenth chunk deleted. */
  sparseAfterDeletion: number[][];
  filtered: { share: number; dense: number[][]; sparse: number[][] }[];
}

export interface BenchData {
  dir: string;
  chunks: number;
  dim: number;
  seed: number;
  /** File of real vectors to enlarge; null: invented ones. */
  vectors: string | null;
}

export function isDeleted(chunk: number): boolean {
  return chunk % 10 === 3;
}

export async function readData(dir: string): Promise<BenchData> {
  return JSON.parse(await readFile(join(dir, 'meta.json'), 'utf8')) as BenchData;
}

export async function readQueries({ dir }: BenchData): Promise<BenchQuery[]> {
  return JSON.parse(await readFile(join(dir, 'queries.json'), 'utf8')) as BenchQuery[];
}

export async function readTruth({ dir }: BenchData): Promise<Truth> {
  return JSON.parse(await readFile(join(dir, 'truth.json'), 'utf8')) as Truth;
}

/** The texts in order, up to `size` at a time. */
export async function* textBatches(
  { dir }: BenchData,
  size: number,
): AsyncGenerator<{ first: number; texts: string[] }> {
  const input = createReadStream(join(dir, 'texts.txt'), { encoding: 'utf8', highWaterMark: 2 ** 18 });
  let first = 0;
  let texts: string[] = [];
  for await (const line of createInterface({ input })) {
    texts.push(line);
    if (texts.length < size) continue;
    yield { first, texts };
    first += texts.length;
    texts = [];
  }
  if (texts.length > 0) yield { first, texts };
}

/** The vectors in order, up to `size` at a time, one after the other. */
export async function* vectorBatches(
  { dir, chunks, dim }: BenchData,
  size: number,
): AsyncGenerator<{ first: number; count: number; vectors: Float32Array }> {
  const file = await open(join(dir, 'vectors.f32'));
  try {
    for (let first = 0; first < chunks; first += size) {
      const count = Math.min(size, chunks - first);
      const vectors = new Float32Array(count * dim);
      const { bytesRead } = await file.read(new Uint8Array(vectors.buffer), 0, vectors.byteLength, first * dim * 4);
      if (bytesRead !== vectors.byteLength) throw new Error('vectors.f32 is too short');
      yield { first, count, vectors };
    }
  } finally {
    await file.close();
  }
}

/** Texts with their vectors, for engines that take whole rows. */
export async function* rowBatches(
  data: BenchData,
  size: number,
): AsyncGenerator<{ first: number; texts: string[]; vectors: Float32Array }> {
  const texts = textBatches(data, size);
  for await (const { first, count, vectors } of vectorBatches(data, size)) {
    const batch = (await texts.next()).value;
    if (batch?.texts.length !== count) throw new Error('there are not as many texts as vectors');
    yield { first, texts: batch.texts, vectors };
  }
}
