/**
 * Embeddings of Jina AI: `POST <base>/embeddings` shaped as OpenAI's, with fields of its own for the format and, from version 3 of its models on, for
 * what a text is.
 */
import type { EmbeddingWire } from './embedder.ts';
import { type OpenAiEmbeddingOptions, openAiEmbeddings } from './openai-embeddings.ts';

/** Models that embed queries and passages differently, and can shorten their vectors and cut their texts. */
const hasTasks = /jina-embeddings-v[3-9]/i;

export function jinaEmbeddings(options: OpenAiEmbeddingOptions): EmbeddingWire {
  const { model, dim } = options;
  return {
    ...openAiEmbeddings(options),
    body: (texts, kind) => ({
      model,
      input: texts,
      embedding_type: 'float',
      ...(hasTasks.test(model)
        ? { task: kind === 'query' ? 'retrieval.query' : 'retrieval.passage', dimensions: dim, truncate: true }
        : {}),
    }),
  };
}
