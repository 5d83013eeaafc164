/**
 * The vector of a query by a model that an outside provider computes. A search waits for it no longer than its deadline and does
 * not fail of it: without it the sparse side answers alone, which is counted, logged and told with the search.
 */
import type { Logger } from 'pino';
import type { Embedders, ModelOfProvider } from '../../providers/embedders.ts';
import { BreakerOpenError, ProviderError } from '../../providers/provider-error.ts';

export interface QueryVectorDependencies {
  embedders: Pick<Embedders, 'queryVector'>;
  /** How long a search waits, ms. */
  deadlineMs: number;
  /** Told of each search that has to do without its vector. */
  onDegraded: () => void;
  log: Logger;
}

export interface QueryVector {
  /** Unit length; null for a query of blanks, and where the provider did not answer. */
  vector: Float32Array | null;
  /** The provider did not answer. */
  degraded: boolean;
}

export type AskQueryVector = (
  model: ModelOfProvider,
  query: string,
  signal: AbortSignal | undefined,
) => Promise<QueryVector>;

/** Errors of the result: the reason of the caller's signal. */
export function queryVectorAsker({ embedders, deadlineMs, onDegraded, log }: QueryVectorDependencies): AskQueryVector {
  return async (model, query, signal) => {
    try {
      return { vector: await embedders.queryVector(model, query, { signal, deadlineMs }), degraded: false };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ProviderError) && !(error instanceof BreakerOpenError)) throw error;
      onDegraded();
      const { provider, code, message } = error;
      // One line for each refused search would bury the breaker's own.
      log[code === 'breaker_open' ? 'debug' : 'warn']({ provider, code, reason: message }, 'searching without vectors');
      return { vector: null, degraded: true };
    }
  };
}
