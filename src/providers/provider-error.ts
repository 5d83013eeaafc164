/**
 * How a call to an outside provider can fail. What may be done about it is a property of the fault, in one table: whether the
 * same call may succeed in a moment, whether another attempt of the whole job makes sense, and whether it speaks against the
 * provider's health (its breaker counts it). Messages name provider, status and fault; never a body, a text or a secret.
 */

export type ProviderFault =
  /** Nothing says where the provider is. */
  | 'unconfigured'
  /** 4xx but the ones below: the request is wrong for this provider. */
  | 'refused'
  /** 401 and 403. */
  | 'unauthorized'
  /** 408, 425 and 429. */
  | 'busy'
  /** 5xx. */
  | 'failing'
  /** 3xx: the address is not the provider's; a redirect is never followed with a key in hand. */
  | 'redirected'
  /** No whole answer within the time of one try. */
  | 'timeout'
  /** No connection, or it broke. */
  | 'unreachable'
  /** An answer that is not JSON: a gateway's page, half a document, something packed. */
  | 'not_json'
  /** More bytes than such an answer can have. */
  | 'too_large'
  /** JSON, but not what was asked for: rows missing, numbers that are none. */
  | 'bad_answer';

interface FaultRule {
  /** The same call may succeed in a moment. */
  retryable: boolean;
  /** Another attempt, however much later, would fail the same way. */
  permanent: boolean;
  /** A failure in the sense of the breaker; otherwise the provider has shown that it answers. */
  againstProvider: boolean;
  /** One of the texts sent together may be what was wrong: the others may do without it. */
  mayBeOneText: boolean;
}

const rules: Readonly<Record<ProviderFault, FaultRule>> = {
  unconfigured: { retryable: false, permanent: true, againstProvider: false, mayBeOneText: false },
  refused: { retryable: false, permanent: true, againstProvider: false, mayBeOneText: true },
  unauthorized: { retryable: false, permanent: true, againstProvider: false, mayBeOneText: false },
  busy: { retryable: true, permanent: false, againstProvider: true, mayBeOneText: false },
  failing: { retryable: true, permanent: false, againstProvider: true, mayBeOneText: false },
  redirected: { retryable: false, permanent: true, againstProvider: false, mayBeOneText: false },
  timeout: { retryable: true, permanent: false, againstProvider: true, mayBeOneText: false },
  unreachable: { retryable: true, permanent: false, againstProvider: true, mayBeOneText: false },
  not_json: { retryable: true, permanent: false, againstProvider: true, mayBeOneText: false },
  too_large: { retryable: false, permanent: false, againstProvider: true, mayBeOneText: false },
  bad_answer: { retryable: false, permanent: false, againstProvider: false, mayBeOneText: true },
};

export interface ProviderErrorOptions {
  status?: number;
  /** When the provider asked to come back, from now. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

export class ProviderError extends Error {
  readonly code: ProviderFault;
  readonly provider: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly retryable: boolean;
  readonly permanent: boolean;
  readonly againstProvider: boolean;
  readonly mayBeOneText: boolean;

  constructor(provider: string, code: ProviderFault, detail: string, options: ProviderErrorOptions = {}) {
    super(`provider ${provider}: ${detail}`, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ProviderError';
    this.code = code;
    this.provider = provider;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.retryable = rules[code].retryable;
    this.permanent = rules[code].permanent;
    this.againstProvider = rules[code].againstProvider;
    this.mayBeOneText = rules[code].mayBeOneText;
  }
}

/** The call was not made: the provider's breaker is open. An attempt that ends so does not count; it may come back in `retryAfterMs`. */
export class BreakerOpenError extends Error {
  readonly code = 'breaker_open';
  readonly retryable = false;
  readonly provider: string;
  readonly retryAfterMs: number;

  constructor(provider: string, retryAfterMs: number) {
    super(`provider ${provider} is not called for now: it failed too often`);
    this.name = 'BreakerOpenError';
    this.provider = provider;
    this.retryAfterMs = retryAfterMs;
  }
}
