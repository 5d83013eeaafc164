/**
 * Expected errors with a stable `code`, which `src/http/http-app.ts` maps to statuses. Whether a job may retry is a
 * property of the error. Any other thrown error is a bug: logged, and answered 500 without its text.
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
  /** For `overloaded`, `rate_limited` and `store_unavailable`: seconds until a retry. */
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, options: { retryAfterS?: number; cause?: unknown } = {}) {
    super(message, options);
    this.name = 'DomainError';
    this.code = code;
    this.retryAfterS = options.retryAfterS;
  }
}

/** For an unknown id of a `kind`. The id may have any length. */
export function unknownId(kind: string, id: string): DomainError {
  return new DomainError('not_found', `unknown ${kind} id: ${id.slice(0, 64)}`);
}

/** Errors: DomainError `not_found` for a missing value. */
export function required<Value>(value: Value | null | undefined, kind: string, id: string): Value {
  if (value == null) throw unknownId(kind, id);
  return value;
}

/** An error after which a library cannot continue: it closes, and reopens unless `isFinal`. */
export class FatalError extends Error {
  /** Reopening would not help: for example, another process has the data folder. */
  readonly isFinal: boolean;

  constructor(message: string, options: { cause?: unknown; isFinal?: boolean } = {}) {
    super(message, options);
    this.name = 'FatalError';
    this.isFinal = options.isFinal ?? false;
  }
}

/** The host lost the lease of the library. This is not a fault; it is logged in one line. */
export class LeaseEndedError extends FatalError {}

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
  | 'word_list'
  | 'encoder_files'
  | 'name_tagger'
  | 'entity_capability'
  | 'listen'
  | 'cluster';

/** Only the operator can fix this; the message is one line for them. Retrying does not help. */
export class OperatorError extends Error {
  readonly code: OperatorCode;

  constructor(code: OperatorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperatorError';
    this.code = code;
  }
}

export function isOperatorError(error: unknown, code: OperatorCode): error is OperatorError {
  return error instanceof OperatorError && error.code === code;
}

/** Why a job's attempt failed, in one sentence for `last_error`, and whether to retry. */
export class JobError extends Error {
  readonly permanent: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: { permanent?: boolean; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'JobError';
    this.permanent = options.permanent ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** An error's code: of the system (`ENOENT`), a thread (`ERR_WORKER_OUT_OF_MEMORY`), or our own. May be undefined. */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** The code, for display. Unlike the message, it contains no private data. */
export function shownCode(error: unknown): string {
  const code = errorCode(error);
  return typeof code === 'string' ? code : 'unknown';
}

/** For `catch`: null if the file does not exist. Errors: all others. */
export function nullIfMissing(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}

/** Whether the disk or the user's quota is full. */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
