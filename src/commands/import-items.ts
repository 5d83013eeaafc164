/**
 * Take in a batch of an import with the checkpoint that covers it, in one transaction: after a crash the import goes on with the first
 * item that is not in, and none is counted twice.
 */
import { afterBatch, type ImportBatch, type ItemOutcome } from '../compute/import-progress.ts';
import type { ImportCheckpoint } from '../domain/import.ts';
import type { FailureKey } from '../store/imports.ts';
import type { Command } from '../store/store.ts';
import { ingestPage, type PageSubmission } from './ingest-page.ts';

export interface ImportRequest {
  before: ImportCheckpoint;
  batch: ImportBatch;
  /** One for each item of the batch. */
  submissions: (PageSubmission | { rejected: string })[];
  /** Canonical URL and domain of an item, as the blacklist knows them; null where it has none. */
  targetOf: (url: string) => { canonical_url: string; domain: string } | null;
  at: number;
}

export function importItems({ before, batch, submissions, targetOf, at }: ImportRequest): Command<ImportCheckpoint> {
  return (transaction) => {
    const outcomes = submissions.map((submission, i): ItemOutcome => {
      if (!('rejected' in submission)) return { outcome: ingestPage(submission)(transaction).outcome };
      const original_url = batch.items[i].item.url;
      const target = targetOf(original_url);
      const isForgotten = target !== null && transaction.blacklist.match({ ...target, original_url }) !== undefined;
      return isForgotten ? { outcome: 'blacklisted' } : { outcome: 'failed', reason: submission.rejected };
    });
    const { checkpoint, failures, mended } = afterBatch(before, batch, outcomes, at);
    for (const failure of failures) transaction.imports.putFailure(before.id, failure);
    for (const place of mended) transaction.imports.removeFailure(before.id, place);
    transaction.imports.put(checkpoint);
    return checkpoint;
  };
}

/** What failed and is forgotten leaves the list of what failed, and counts as it would if it were tried again. */
export function forgetFailures(keys: readonly FailureKey[]): Command<void> {
  return ({ imports }) => {
    for (const [id, place] of keys) {
      const checkpoint = imports.get(id);
      imports.removeFailure(id, place);
      if (checkpoint === undefined) continue;
      const { failed, blacklisted } = checkpoint.counts;
      const counts = { ...checkpoint.counts, failed: failed - 1, blacklisted: blacklisted + 1 };
      imports.put({ ...checkpoint, counts });
    }
  };
}

/** Forget how far an import is, so that it begins again. */
export function restartImport(id: string): Command<void> {
  return (transaction) => transaction.imports.remove(id);
}
