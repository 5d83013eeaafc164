/**
 * Rerankers that run here (transformers.ts): sequence classification of pairs of query and passage (cross-encoders), a few at a time, best
 * candidates first. A run cannot be interrupted, so the time is looked at between batches, and the batch that is under way when it is over is
 * abandoned: the next search waits for it at most.
 *
 * The model is loaded at the start, and one pair scored. Until that is done nobody waits for it. What cannot be loaded stays so until the next
 * start; what cannot be fetched is tried again by a search, behind the breaker. Once it was loaded, a search also waits, within its deadline,
 * for a thread that ended and has to load it again.
 */
import type { Reranker } from './api-reranker.ts';
import { batchTexts } from './batch-texts.ts';
import type { Clock } from './clock.ts';
import { ProviderError } from './provider-error.ts';
import type { CallOptions, ProviderCall } from './resilient-call.ts';
import { answerOf, type TransformerProblem, transformersError } from './transformers.ts';

/** A thread, or the like, that has the model. Logits, one for each passage. */
export type ScorePairs = (
  request: { model: string; dtype: string; query: string; passages: readonly string[] },
  signal: AbortSignal,
) => Promise<{ logits: Float32Array } | TransformerProblem>;

export interface TransformersRerankerOptions {
  model: string;
  /** Precision of its weights, which names its file: `q8` is onnx/model_quantized.onnx. */
  dtype: string;
  call: ProviderCall;
  score: ScorePairs;
  clock: Clock;
}

export interface WarmReranker extends Reranker {
  /** Load the model and score one pair. Errors: as of `rerank`. */
  warm(): Promise<void>;
}

/** Of one run: few, since what is under way at the deadline is lost; a pair of sixteen costs a tenth less (`npm run bench:cross-encoder`). */
const limits = { maxTexts: 4, maxTokens: 4096 };

export function transformersReranker({ model, dtype, call, score, clock }: TransformersRerankerOptions): WarmReranker {
  let isLoaded = false;
  let loading: Promise<void> | null = null;
  /** Why it will not be loaded before the next start. */
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
        load().catch(() => {}); // the next search is told, or the one after it
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
