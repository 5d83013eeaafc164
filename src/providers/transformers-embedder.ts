/** Embeddings of local models (transformers.ts): batches, and the same checks as for outside providers. */
import { nativeDimOf } from '../domain/known-models.ts';
import { batchTexts } from './batch-texts.ts';
import type { Embedder } from './embedder.ts';
import { readRows } from './embedding-rows.ts';
import { poolingOf, prefixesOf } from './model-prefixes.ts';
import type { ProviderCall } from './resilient-call.ts';
import { answerOf, type TransformerProblem, transformersError } from './transformers.ts';

export type RunTransformer = (
  request: { model: string; texts: readonly string[]; pooling: 'cls' | 'mean' },
  signal: AbortSignal,
) => Promise<{ dim: number; rows: Float32Array } | TransformerProblem>;

export interface TransformersOptions {
  model: string;
  dim: number;
  call: ProviderCall;
  run: RunTransformer;
}

/** Small, as a query waits for the running batch. */
const limits = { maxTexts: 4, maxTokens: 4096 };

export function transformersEmbedder({ model, dim, call, run }: TransformersOptions): Embedder {
  const prefixes = prefixesOf(model);
  const pooling = poolingOf(model);

  const vectorsOf = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array> => {
    const answer = await answerOf(model, () => run({ model, texts, pooling }, signal), signal);
    const rows = texts.map((_, at) => answer.rows.subarray(at * answer.dim, (at + 1) * answer.dim));
    const read = readRows(rows, texts.length, dim, nativeDimOf(model, dim));
    if ('problem' in read) throw transformersError('bad_answer', `unusable vectors: ${read.problem}`);
    return read;
  };

  return {
    dim,
    async embed(texts, kind, options) {
      const out = new Float32Array(texts.length * dim);
      const prepared = texts.map((text) => prefixes[kind] + text.toWellFormed());
      let at = 0;
      for (const batch of batchTexts(prepared, limits)) {
        const vectors = await call((signal) => vectorsOf(batch, signal), options);
        out.set(vectors, at);
        at += vectors.length;
      }
      return out;
    },
  };
}
