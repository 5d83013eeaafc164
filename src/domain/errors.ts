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
  | 'rate_limited'
  | 'shutting_down';

export class DomainError extends Error {
  readonly code: ErrorCode;
  /** For `overloaded`, `rate_limited` and `store_unavailable`: when to try again, seconds. */
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

/** What a store cannot go on after: its library is closed, and opened again unless that `isFinal`. */
export class FatalError extends Error {
  /** Opening it again would not help: another process has the data folder, say, and the two would take it from each other for ever. */
  readonly isFinal: boolean;

  constructor(message: string, { cause, isFinal = false }: { cause?: unknown; isFinal?: boolean } = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'FatalError';
    this.isFinal = isFinal;
  }
}

/** The host may not serve the library any more, as another has it, or its lease was not renewed in time: told in one line, and no fault. */
export class LeaseEndedError extends FatalError {}

/** Another host of the cluster serves the library, or nobody may: it is not opened here. */
export class ServedElsewhereError extends FatalError {
  constructor() {
    super('another host serves the library, or it is suspended', { isFinal: true });
  }
}

export type OperatorCode =
  | 'data_folder'
  | 'disk_full'
  | 'no_room'
  | 'store_format'
  | 'store_damaged'
  | 'store_unwritable'
  | 'backup'
  | 'word_vectors'
  | 'name_tagger'
  | 'entity_capability'
  | 'listen'
  | 'cluster';

/** What the person who runs the service has to mend; the message is a line for them. No bug, and another try does not help. */
export class OperatorError extends Error {
  readonly code: OperatorCode;

  constructor(code: OperatorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperatorError';
    this.code = code;
  }
}

/** Whether an error is of that kind. */
export function isOperatorError(error: unknown, code: OperatorCode): error is OperatorError {
  return error instanceof OperatorError && error.code === code;
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
