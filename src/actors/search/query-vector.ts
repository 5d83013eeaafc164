/** Gets a query's vector from an outside provider. If it is late, only words match, and the answer reports that. */
import type { Logger } from 'pino';
import type { Embedders, ModelOfProvider } from '../../providers/embedders.ts';
import { BreakerOpenError, ProviderError } from '../../providers/resilient-call.ts';

export interface QueryVectorDependencies {
  embedders: Pick<Embedders, 'queryVector'>;
  deadlineMs: number;
  onDegraded: () => void;
  log: Logger;
}

export interface QueryVector {
  /** Unit length. Null for a blank query or if the provider did not answer. */
  vector: Float32Array | null;
  /** The provider did not answer. */
  degraded: boolean;
}

export type AskQueryVector = (
  model: ModelOfProvider,
  query: string,
  signal: AbortSignal | undefined,
) => Promise<QueryVector>;

/** Errors: the caller's abort reason. */
export function queryVectorAsker({ embedders, deadlineMs, onDegraded, log }: QueryVectorDependencies): AskQueryVector {
  return async (model, query, signal) => {
    try {
      return { vector: await embedders.queryVector(model, query, { signal, deadlineMs }), degraded: false };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ProviderError) && !(error instanceof BreakerOpenError)) throw error;
      onDegraded();
      const { provider, code, message } = error;
      // The breaker logs its own state.
      log[code === 'breaker_open' ? 'debug' : 'warn']({ provider, code, reason: message }, 'searching without vectors');
      return { vector: null, degraded: true };
    }
  };
}
