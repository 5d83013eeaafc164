/**
 * Faults of calls to an outside provider. One table says whether to retry the call, whether to retry the job, and whether the breaker
 * counts it. Messages name provider, status and fault; never a body, text or secret.
 */

interface FaultRule {
  /** The same call may succeed soon. */
  retryable: boolean;
  /** No later attempt can succeed. */
  permanent: boolean;
  /** Counts against the provider in its breaker; otherwise it has proved that it answers. */
  againstProvider: boolean;
  /** One text of the batch may be the cause: the others may succeed without it. */
  mayBeOneText: boolean;
}

const no: FaultRule = { retryable: false, permanent: false, againstProvider: false, mayBeOneText: false };
const rules = {
  /** No address is set. */
  unconfigured: { ...no, permanent: true },
  /** Other 4xx: the request is wrong for this provider. */
  refused: { ...no, permanent: true, mayBeOneText: true },
  /** 401 and 403. */
  unauthorized: { ...no, permanent: true },
  /** 408, 425 and 429. */
  busy: { ...no, retryable: true, againstProvider: true },
  /** 5xx. */
  failing: { ...no, retryable: true, againstProvider: true },
  /** 3xx: a redirect is never followed with a key. */
  redirected: { ...no, permanent: true },
  /** No complete answer within one attempt's time. */
  timeout: { ...no, retryable: true, againstProvider: true },
  /** No connection, or it broke. */
  unreachable: { ...no, retryable: true, againstProvider: true },
  /** The answer is not JSON: a gateway's page, truncated, compressed. */
  not_json: { ...no, retryable: true, againstProvider: true },
  too_large: { ...no, againstProvider: true },
  /** JSON of the wrong shape: missing rows, invalid numbers. */
  bad_answer: { ...no, mayBeOneText: true },
};
export type ProviderFault = keyof typeof rules;

export interface ProviderErrorOptions {
  status?: number;
  /** Requested by the provider, from now. */
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
    super(`provider ${provider}: ${detail}`, options);
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

/** No call: the provider's breaker is open. The attempt does not count; retry after `retryAfterMs`. A `reason` is noted with the job. */
export class BreakerOpenError extends Error {
  readonly code = 'breaker_open';
  readonly retryable = false;
  readonly provider: string;
  readonly retryAfterMs: number;
  readonly reason: string | undefined;

  constructor(provider: string, retryAfterMs: number, reason?: string) {
    super(reason ?? `provider ${provider} is not called for now: it failed too often`);
    this.name = 'BreakerOpenError';
    this.provider = provider;
    this.retryAfterMs = retryAfterMs;
    this.reason = reason;
  }
}
