/** Embeddings of Voyage AI: `POST <base>/embeddings` with an input type; the answer is shaped as OpenAI's. */
import type { EmbeddingWire } from './embedder.ts';
import { rowsByIndex } from './openai-embeddings.ts';

/** The provider takes more; 128 rows of 1,024 numbers are read in 2.2 ms of the main thread's time. */
const maxTexts = 128;
/** The least that any of its models takes is 120,000. */
const maxTokens = 100_000;

/** Models whose vectors can have different lengths; others answer 400 to the field. */
const shortens = /voyage-(?:3-large|3\.5|code-3|context-3|[4-9])/i;

export function voyageEmbeddings({ model, dim }: { model: string; dim: number }): EmbeddingWire {
  return {
    path: '/embeddings',
    maxTexts,
    maxTokens,
    maxInputTokens: null,
    prepare: (text) => text,
    body: (texts, kind) => ({
      model,
      input: texts,
      input_type: kind,
      truncation: true,
      encoding_format: 'base64',
      ...(shortens.test(model) ? { output_dimension: dim } : {}),
    }),
    rows: rowsByIndex,
  };
}
