/**
 * Local rerankers (transformers.ts): cross-encoders on pairs of query and passage, a few at a time, best candidates first. A run cannot
 * be interrupted, so time is checked between batches; the batch running at the deadline is abandoned, and the next search waits for it.
 *
 * The model is loaded at startup by scoring one pair; no search waits for that. A model that cannot be loaded stays off until the next
 * start; one that cannot be downloaded is retried by a search, behind the breaker. After the first load a search also waits, within its
 * deadline, for a restarted thread.
 */
import type { Reranker } from './api-reranker.ts';
import { batchTexts } from './batch-texts.ts';
import type { Clock } from './clock.ts';
import { ProviderError } from './provider-error.ts';
import type { CallOptions, ProviderCall } from './resilient-call.ts';
import { answerOf, type TransformerProblem, transformersError } from './transformers.ts';

/** Logits, one per passage. */
export type ScorePairs = (
  request: { model: string; dtype: string; query: string; passages: readonly string[] },
  signal: AbortSignal,
) => Promise<{ logits: Float32Array } | TransformerProblem>;

export interface TransformersRerankerOptions {
  model: string;
  /** Precision of its weights, which selects the file: `q8` is onnx/model_quantized.onnx. */
  dtype: string;
  call: ProviderCall;
  score: ScorePairs;
  clock: Clock;
}

export interface WarmReranker extends Reranker {
  /** Load the model and score one pair. Errors: as of `rerank`. */
  warm(): Promise<void>;
}

/** Small, as the batch running at the deadline is lost; a pair of sixteen costs a tenth less (`npm run bench -- cross-encoder`). */
const limits = { maxTexts: 4, maxTokens: 4096 };

export function transformersReranker({ model, dtype, call, score, clock }: TransformersRerankerOptions): WarmReranker {
  let isLoaded = false;
  let loading: Promise<void> | null = null;
  /** Why it stays off until the next start. */
  let fault: ProviderError | null = null;

  const scoresOf = (query: string, passages: readonly string[], options: CallOptions) =>
    call(async (signal) => {
      const { logits } = await answerOf(model, () => score({ model, dtype, query, passages }, signal), signal);
      if (logits.length !== passages.length || !logits.every(Number.isFinite))
        throw transformersError('bad_answer', 'unusable scores: not one number for each passage');
      return Float64Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)));
    }, options);

  const load = (): Promise<void> => {
    loading ??= scoresOf('query', ['passage'], {})
      .then(() => {
        isLoaded = true;
      })
      .catch((error) => {
        if (error instanceof ProviderError && error.permanent) fault = error;
        throw error;
      })
      .finally(() => {
        loading = null;
      });
    return loading;
  };

  return {
    warm: load,
    async rerank(query, texts, { signal, deadlineMs = Number.POSITIVE_INFINITY } = {}) {
      signal?.throwIfAborted();
      if (fault !== null) throw fault;
      if (!isLoaded) {
        load().catch(() => {}); // a later search reports it
        throw transformersError('busy', `the model ${model} is being loaded`);
      }
      const scores = new Float64Array(texts.length).fill(Number.NaN);
      const late = new AbortController();
      const cancelTimer = clock.after(deadlineMs, () => late.abort(new Error('the deadline of the search')));
      const left = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
      try {
        const sent = texts.map((text) => text.toWellFormed());
        let at = 0;
        for (const batch of batchTexts(sent, limits)) {
          scores.set(await scoresOf(query.toWellFormed(), batch, { signal: left }), at);
          at += batch.length;
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (!late.signal.aborted) throw error;
      } finally {
        cancelTimer();
      }
      return scores;
    },
  };
}
