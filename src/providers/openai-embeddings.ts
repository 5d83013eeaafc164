/**
 * Embeddings as OpenAI's API defines them and most servers of open models speak them: `POST <base>/embeddings`. Vectors are asked
 * for as base64: 32 rows of 1,024 numbers are then 175 KB read in 0.5 ms, and 413 KB in 1.6 ms as lists. A server that sends
 * lists all the same is understood.
 */
import { z } from 'zod';
import type { EmbeddingWire } from './embedder.ts';
import { prefixesOf } from './model-prefixes.ts';

export interface OpenAiEmbeddingOptions {
  model: string;
  dim: number;
  /** Tokens that the model reads at most: some servers cut longer texts, some refuse them. */
  maxInputTokens: number;
}

/** What Text Embeddings Inference takes in one request unless told otherwise, and what a CPU can do within a minute. */
const maxTexts = 32;
/** A third of OpenAI's 300,000. */
const maxTokens = 100_000;

/** Models that can shorten their vectors; others answer 400 to the field. */
const shortens = /text-embedding-3|gemini-embedding|jina-embeddings-v[3-9]/i;

const answerShape = z.object({ data: z.array(z.object({ index: z.int().optional(), embedding: z.unknown() })) });

export function openAiEmbeddings({ model, dim, maxInputTokens }: OpenAiEmbeddingOptions): EmbeddingWire {
  const prefixes = prefixesOf(model);
  return {
    path: '/embeddings',
    maxTexts,
    maxTokens,
    maxInputTokens,
    prepare: (text, kind) => prefixes[kind] + text,
    body: (texts) => ({
      model,
      input: texts,
      encoding_format: 'base64',
      ...(shortens.test(model) ? { dimensions: dim } : {}),
    }),
    rows: rowsByIndex,
  };
}

/** The rows of `{data: [{index, embedding}]}` by index; without indexes, as they come. */
export function rowsByIndex(answer: unknown): readonly unknown[] | null {
  const { data } = answerShape.safeParse(answer);
  if (data === undefined) return null;
  const rows = new Map(data.data.map(({ index, embedding }, place) => [index ?? place, embedding]));
  const ordered = Array.from({ length: rows.size }, (_, at) => rows.get(at));
  return rows.size === data.data.length && ordered.every((row) => row !== undefined) ? ordered : null;
}
