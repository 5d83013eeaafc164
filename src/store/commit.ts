/** What a commit of the store is to those who asked for it and to those who follow it: replies, changed rows, and why one failed. */
import type { Tombstone } from '../domain/blacklist.ts';
import { DomainError } from '../domain/errors.ts';
import type { Job } from '../domain/job.ts';
import type { Page } from '../domain/page.ts';
import type { BlacklistRule } from './blacklist.ts';

export type CommandResult = { ok: true; reply: unknown } | { ok: false; error: unknown };

/** The rows that a commit changed, in order: what projections of the store and the event stream are told. */
export interface Changes {
  /** Only those whose status changed. */
  jobs: Job[];
  pages: Page[];
  /** Numbers of pages that are gone; whatever they had before in the same commit is in `pages`. */
  removedPages: number[];
  /** Blacklist rules, new or changed. */
  rules: BlacklistRule[];
  tombstones: Tombstone[];
}

export function noChanges(): Changes {
  return { jobs: [], pages: [], removedPages: [], rules: [], tombstones: [] };
}

/** Append what a later commit changed. */
export function addChanges(to: Changes, later: Changes): void {
  to.jobs.push(...later.jobs);
  to.pages.push(...later.pages);
  to.removedPages.push(...later.removedPages);
  to.rules.push(...later.rules);
  to.tombstones.push(...later.tombstones);
}

export interface CommitStep {
  opstamp: number;
  changes: Changes;
}

export interface Commit {
  /** Increases by one with each commit; where nothing was committed, that of the last one. */
  opstamp: number;
  results: CommandResult[];
  changes: Changes;
  /** The same changes by the transaction that made them: a batch of which a command failed is several. */
  steps: readonly CommitStep[];
  /** Resolves when the commit is on the disk. */
  flushed: Promise<unknown>;
}

/** What made a commit fail: LMDB tells it in a promise of its own beside the error, which must not stay unhandled. */
export async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error && error.commitError instanceof Promise)) return error;
  const told = error.commitError.catch((cause) => cause);
  return new Error('the commit failed', { cause: await Promise.race([told, new Promise(setImmediate)]) });
}

/** How a failure of the environment looks to those who asked for the write. */
export function storeUnavailable(cause: unknown): DomainError {
  return new DomainError('store_unavailable', 'the store cannot be written', { retryAfterS: 5, cause });
}
