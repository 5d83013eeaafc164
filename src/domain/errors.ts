/**
 * Errors that callers are meant to meet. Each carries a stable `code`; `src/http/errors.ts` maps codes to statuses. Whether a
 * job may try again is a property of the error. Anything else that is thrown is a bug: logged, and answered 500 without its text.
 */
export type ErrorCode =
  | 'not_found'
  | 'conflict'
  | 'invalid'
  | 'no_active_model'
  | 'store_unavailable'
  | 'extraction_unavailable'
  | 'overloaded'
  | 'over_quota'
  | 'shutting_down';

export class DomainError extends Error {
  readonly code: ErrorCode;
  /** For `overloaded` and `store_unavailable`: when to try again, seconds. */
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, options: { retryAfterS?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'DomainError';
    this.code = code;
    this.retryAfterS = options.retryAfterS;
  }
}

/** For an id that names nothing; `kind` is what it should name. An id is the caller's and may be of any length. */
export function unknownId(kind: string, id: string): DomainError {
  return new DomainError('not_found', `unknown ${kind} id: ${id.slice(0, 64)}`);
}

/**
 * What starting a part again cannot mend: the process has to end in order, with this as its reason, so that the next one begins with what is
 * on the disk.
 */
export class FatalError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'FatalError';
  }
}

/** Why a job's attempt failed, in one sentence for `last_error`, and whether another attempt makes sense. */
export class JobError extends Error {
  readonly permanent: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { permanent?: boolean; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'JobError';
    this.permanent = options.permanent ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}
