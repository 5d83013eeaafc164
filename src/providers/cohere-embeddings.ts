/** Embeddings of Cohere's API, version 2: `POST <base>/embed`. */
import { z } from 'zod';
import type { EmbeddingWire } from './embedder.ts';

/** The provider takes 96; vectors come as lists of numbers, and 32 of 1,024 are read in 1.6 ms of the main thread's time. */
const maxTexts = 32;
/** 96 texts of its 512 recommended tokens, with room. */
const maxTokens = 100_000;

/** Models whose vectors can have different lengths. */
const shortens = /embed-v[4-9]/i;

const answerShape = z.object({ embeddings: z.object({ float: z.array(z.unknown()) }) });

export function cohereEmbeddings({ model, dim }: { model: string; dim: number }): EmbeddingWire {
  return {
    path: '/embed',
    maxTexts,
    maxTokens,
    maxInputTokens: null,
    prepare: (text) => text,
    body: (texts, kind) => ({
      model,
      texts,
      input_type: kind === 'query' ? 'search_query' : 'search_document',
      embedding_types: ['float'],
      truncate: 'END',
      ...(shortens.test(model) ? { output_dimension: dim } : {}),
    }),
    rows: (answer) => answerShape.safeParse(answer).data?.embeddings.float ?? null,
  };
}
