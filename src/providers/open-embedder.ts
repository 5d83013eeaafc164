/**
 * Makes the embedder of a provider: `voyage` and `cohere` have an API of their own, every other name is a server that speaks
 * OpenAI's. Texts go out in batches, one after the other, each a call of its own with its own retries.
 */
import { batchTexts } from './batch-texts.ts';
import { cohereEmbeddings } from './cohere-embeddings.ts';
import type { Embedder, EmbeddingWire } from './embedder.ts';
import { readRows } from './embedding-rows.ts';
import type { Endpoint } from './endpoint.ts';
import { postJson } from './http-json.ts';
import { openAiEmbeddings } from './openai-embeddings.ts';
import { ProviderError } from './provider-error.ts';
import type { ProviderCall } from './resilient-call.ts';
import { voyageEmbeddings } from './voyage-embeddings.ts';

export interface EmbedderOptions {
  endpoint: Endpoint;
  model: string;
  dim: number;
  maxInputTokens: number;
  /** What each request goes through. */
  call: ProviderCall;
  /** Wall clock, ms. */
  wall: () => number;
}

/** Bytes of one number written out, with separator and indentation; doubles have up to 24 digits, sign and exponent included. */
const bytesPerNumber = 32;
/** For everything around the vectors. */
const bytesAround = 64 * 1024;

function wireOf({ endpoint: { provider }, ...model }: EmbedderOptions): EmbeddingWire {
  if (provider === 'voyage') return voyageEmbeddings(model);
  if (provider === 'cohere') return cohereEmbeddings(model);
  return openAiEmbeddings(model);
}

export function openEmbedder(options: EmbedderOptions): Embedder {
  const { endpoint, dim, call, wall } = options;
  const wire = wireOf(options);
  const bad = (problem: string) => new ProviderError(endpoint.provider, 'bad_answer', `unusable vectors: ${problem}`);
  return {
    dim,
    async embed(texts, kind, callOptions) {
      const out = new Float32Array(texts.length * dim);
      const prepared = texts.map((text) => wire.prepare(text.toWellFormed(), kind));
      let at = 0;
      for (const batch of batchTexts(prepared, wire)) {
        const body = wire.body(batch, kind);
        const maxBytes = bytesAround + batch.length * dim * bytesPerNumber;
        const vectors = await call(async (signal) => {
          const answer = await postJson(endpoint, { path: wire.path, body, maxBytes, signal, wall });
          const rows = wire.rows(answer);
          const read = rows === null ? { problem: 'not an embedding answer' } : readRows(rows, batch.length, dim);
          if ('problem' in read) throw bad(read.problem);
          return read;
        }, callOptions);
        out.set(vectors, at);
        at += vectors.length;
      }
      return out;
    },
  };
}
