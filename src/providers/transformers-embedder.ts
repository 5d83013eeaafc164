/**
 * Embeddings of models that run here by way of @huggingface/transformers, on a thread of their own. To the rest of the system they are
 * those of a provider called `transformers`: with a breaker, batches, and the same checks of what it answers.
 */
import { nativeDimOf } from '../domain/known-models.ts';
import { batchTexts } from './batch-texts.ts';
import type { Embedder } from './embedder.ts';
import { readRows } from './embedding-rows.ts';
import { poolingOf, prefixesOf } from './model-prefixes.ts';
import { ProviderError } from './provider-error.ts';
import type { ProviderCall } from './resilient-call.ts';

export const transformersProvider = 'transformers';
export const transformersPackage = '@huggingface/transformers';

/** Loading a model for the first time may mean fetching some hundred MB. */
export const transformersTimeoutS = 600;

/** A thread, or the like, that has the models. Its answers: src/threads/transformer-thread.ts. */
export type RunTransformer = (
  request: { model: string; texts: readonly string[]; pooling: 'cls' | 'mean' },
  signal: AbortSignal,
) => Promise<
  { dim: number; rows: Float32Array } | { problem: 'missing' | 'unloadable' | 'unreachable'; message: string }
>;

export interface TransformersOptions {
  model: string;
  dim: number;
  call: ProviderCall;
  run: RunTransformer;
}

/** Few at a time: a query waits for the batch that is running. */
const limits = { maxTexts: 4, maxTokens: 4096 };
/** Characters of the package's own words that are passed on. */
const maxMessage = 200;

export function transformersEmbedder({ model, dim, call, run }: TransformersOptions): Embedder {
  const prefixes = prefixesOf(model);
  const pooling = poolingOf(model);
  const error = (code: 'unconfigured' | 'unreachable' | 'failing' | 'bad_answer', message: string) =>
    new ProviderError(transformersProvider, code, message);

  const vectorsOf = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array> => {
    const answer = await run({ model, texts, pooling }, signal).catch((cause) => {
      signal.throwIfAborted();
      throw error('failing', `the model failed (${cause instanceof Error ? cause.name : 'error'})`);
    });
    if ('problem' in answer) {
      const { problem, message } = answer;
      const says = message.slice(0, maxMessage);
      if (problem === 'missing') {
        throw error('unconfigured', `its package is not installed: npm install ${transformersPackage}`);
      }
      if (problem === 'unreachable') throw error('unreachable', `the model ${model} cannot be fetched: ${says}`);
      throw error('unconfigured', `the model ${model} cannot be loaded: ${says}`);
    }
    const rows = texts.map((_, at) => answer.rows.subarray(at * answer.dim, (at + 1) * answer.dim));
    const read = readRows(rows, texts.length, dim, nativeDimOf(model, dim));
    if ('problem' in read) throw error('bad_answer', `unusable vectors: ${read.problem}`);
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
