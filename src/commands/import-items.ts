/**
 * Take in a batch of an import with the checkpoint that covers it, in one transaction: after a crash the import goes on with the first
 * item that is not in, and none is counted twice.
 */
import { afterBatch, type ImportBatch, type ItemOutcome } from '../compute/import-progress.ts';
import type { ImportCheckpoint } from '../domain/import.ts';
import type { Command } from '../store/store.ts';
import { ingestPage, type PageSubmission } from './ingest-page.ts';

export interface ImportRequest {
  before: ImportCheckpoint;
  batch: ImportBatch;
  /** One for each item of the batch. */
  submissions: (PageSubmission | { rejected: string })[];
  at: number;
}

export function importItems({ before, batch, submissions, at }: ImportRequest): Command<ImportCheckpoint> {
  return (transaction) => {
    const outcomes = submissions.map((submission): ItemOutcome => {
      if ('rejected' in submission) return { outcome: 'failed', reason: submission.rejected };
      return { outcome: ingestPage(submission)(transaction).outcome };
    });
    const { checkpoint, failures, mended } = afterBatch(before, batch, outcomes, at);
    for (const failure of failures) transaction.imports.putFailure(before.id, failure);
    for (const place of mended) transaction.imports.removeFailure(before.id, place);
    transaction.imports.put(checkpoint);
    return checkpoint;
  };
}

/** Forget how far an import is, so that it begins again. */
export function restartImport(id: string): Command<void> {
  return (transaction) => transaction.imports.remove(id);
}
