/**
 * Models that run here by way of @huggingface/transformers, on threads of their own (src/threads/transformer-thread.ts). To the rest of the
 * system they are those of a provider called `transformers`: with a breaker, and checks of what it answers. Embeddings:
 * transformers-embedder.ts; rerankers: transformers-reranker.ts.
 */
import { ProviderError } from './provider-error.ts';

export const transformersProvider = 'transformers';
export const transformersPackage = '@huggingface/transformers';

/** Loading a model for the first time may mean fetching some hundred MB. */
export const transformersTimeoutS = 600;

/** Why a thread could not answer. */
export interface TransformerProblem {
  /** The package is not there; the model is not there or is not one; the hub cannot be reached. */
  problem: 'missing' | 'unloadable' | 'unreachable';
  message: string;
}

/** Characters of the package's own words that are passed on. */
const maxMessage = 200;

export function transformersError(
  code: 'unconfigured' | 'unreachable' | 'failing' | 'busy' | 'bad_answer',
  message: string,
): ProviderError {
  return new ProviderError(transformersProvider, code, message);
}

/**
 * What a thread answers about a model.
 * Errors: ProviderError `unconfigured` where package or model are not there, `unreachable` where it cannot be fetched, `failing` where its run
 *         failed; the signal's reason.
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
