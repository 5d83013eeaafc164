/**
 * Embeddings of Ollama, by its `/v1/embeddings`: OpenAI's shape. It cuts long texts itself. Where its runner is gone it answers 400, as it does
 * where a text cannot be cut to what the model reads, and a text on which a model comes to NaN is 500 each time; only the message tells.
 */
import type { EmbeddingWire } from './embedder.ts';
import { type OpenAiEmbeddingOptions, openAiEmbeddings } from './openai-embeddings.ts';

/** Of what is wrong with a text. Source: `EmbedHandler` of its server, versions 0.13 to 0.33. */
const aboutText = /context length|invalid input/i;
const notANumber = /unsupported value: NaN/i;

export function ollamaEmbeddings(options: OpenAiEmbeddingOptions): EmbeddingWire {
  return {
    ...openAiEmbeddings(options),
    faultOf: (status, answer) => {
      if (status === 500 && notANumber.test(answer)) return 'bad_answer';
      return status === 400 && !aboutText.test(answer) ? 'failing' : null;
    },
  };
}
