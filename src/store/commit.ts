/** The result of a commit, for callers and subscribers: replies, changed rows, and errors. */
import type { Tombstone } from '../domain/blacklist.ts';
import { DomainError } from '../domain/errors.ts';
import type { Job } from '../domain/job.ts';
import type { Page } from '../domain/page.ts';
import type { BlacklistRule } from './blacklist.ts';

export type CommandResult = { ok: true; reply: unknown } | { ok: false; error: unknown };

/** Rows changed by a commit, in order, for projections and the event stream. */
export interface Changes {
  /** Only jobs whose status changed or that are now due earlier. */
  jobs: Job[];
  pages: Page[];
  /** Numbers of deleted pages. Their earlier rows from the same commit are in `pages`. */
  removedPages: number[];
  rules: BlacklistRule[];
  tombstones: Tombstone[];
}

export function noChanges(): Changes {
  return { jobs: [], pages: [], removedPages: [], rules: [], tombstones: [] };
}

export interface CommitStep {
  /** Increases with each commit. */
  opstamp: number;
  changes: Changes;
}

export interface Commit {
  results: CommandResult[];
  /** The changes by transaction. A batch with a failed command has several transactions. */
  steps: readonly CommitStep[];
  flushed: Promise<unknown>;
}

/** LMDB reports the cause in a separate promise, which must be handled. */
export async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error && error.commitError instanceof Promise)) return error;
  const told = error.commitError.catch((cause) => cause);
  return new Error('the commit failed', { cause: await Promise.race([told, new Promise(setImmediate)]) });
}

export function storeUnavailable(cause: unknown): DomainError {
  return new DomainError('store_unavailable', 'the store cannot be written', { retryAfterS: 5, cause });
}
