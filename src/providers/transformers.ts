/**
 * Local models by @huggingface/transformers, on separate threads (src/threads/transformer-thread.ts), as a provider `transformers` with
 * a breaker and checks. Embeddings: transformers-embedder.ts; rerankers: transformers-reranker.ts.
 */
import { ProviderError } from './provider-error.ts';

export const transformersProvider = 'transformers';
export const transformersPackage = '@huggingface/transformers';

/** The first load may download some hundred MB. */
export const transformersTimeoutS = 600;

export interface TransformerProblem {
  /** The package is missing; the model is missing or invalid; the hub is unreachable. */
  problem: 'missing' | 'unloadable' | 'unreachable';
  message: string;
}

/** Characters of the package's messages that are passed on. */
const maxMessage = 200;

export function transformersError(
  code: 'unconfigured' | 'unreachable' | 'failing' | 'busy' | 'bad_answer',
  message: string,
): ProviderError {
  return new ProviderError(transformersProvider, code, message);
}

/**
 * A thread's answer about a model.
 * Errors: ProviderError `unconfigured` for a missing package or model, `unreachable` for a failed download, `failing` for a failed run;
 * the signal's reason.
 */
export async function answerOf<Answer extends object>(
  model: string,
  run: () => Promise<Answer | TransformerProblem>,
  signal: AbortSignal,
): Promise<Answer> {
  const answer = await run().catch((cause) => {
    signal.throwIfAborted();
    throw transformersError('failing', `the model failed (${cause instanceof Error ? cause.name : 'error'})`);
  });
  if (!('problem' in answer)) return answer;
  const says = answer.message.slice(0, maxMessage);
  if (answer.problem === 'missing')
    throw transformersError('unconfigured', `its package is not installed: npm install ${transformersPackage}`);
  if (answer.problem === 'unreachable')
    throw transformersError('unreachable', `the model ${model} cannot be fetched: ${says}`);
  throw transformersError('unconfigured', `the model ${model} cannot be loaded: ${says}`);
}
