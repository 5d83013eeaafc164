/** Imports into a store. A batch and its checkpoint share a transaction, so counts are exact and a file can resume. */
import { ingestPage, type PageSubmission } from '../../commands/ingest-page.ts';
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import { afterBatch, type ImportBatch, type ItemOutcome, outcomeOf } from '../../compute/import-progress.ts';
import { canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { JobError } from '../../domain/errors.ts';
import type { ImportCheckpoint, ImportItem } from '../../domain/import.ts';
import { withFacts } from '../../domain/page-facts.ts';
import { type ImportTarget, retried, submissionOf } from '../../importers/run-import.ts';
import type { FailureKey, ImportReader } from '../../store/imports.ts';
import type { Command } from '../../store/store.ts';
import type { ContentReaders } from '../fetching/content-readers.ts';
import type { LibraryParts } from '../system/service.ts';
import { refuseOverQuota } from './intake.ts';
import type { SubmissionPreparer } from './prepare-submission.ts';

interface ImportTargetDependencies
  extends Pick<SubmissionPreparer, 'prepareItem'>,
    Pick<LibraryParts, 'commit' | 'canonicalize' | 'now'> {
  label: string;
  maxItems: number;
  imports: Pick<ImportReader, 'get' | 'failures'>;
  quotaBytes: number | null;
  usedBytes: () => number;
  pdfs: PdfReaders;
  signal?: AbortSignal;
}

type PdfReaders = ContentReaders<ExtractedPage>;

/** Reads one PDF at a time, as each takes much memory. An unreadable PDF is a failure of its item. */
export async function withPdfTexts<Placed extends { item: ImportItem }>(
  items: readonly Placed[],
  pdfs: PdfReaders,
  signal: AbortSignal = new AbortController().signal,
): Promise<Placed[]> {
  const read: Placed[] = [];
  for (const placed of items) read.push({ ...placed, item: await withPdfText(placed.item, pdfs, signal) });
  return read;
}

async function withPdfText({ pdf, ...item }: ImportItem, pdfs: PdfReaders, signal: AbortSignal): Promise<ImportItem> {
  if (pdf === undefined) return item;
  // A copy, because the reader takes ownership of the bytes.
  const read = () => pdfs['application/pdf']({ bytes: new Uint8Array(pdf), charset: null }, signal);
  try {
    const page = await retried(read, requestedWaitMs, signal);
    return { ...item, title: item.title ?? page.title, body_text: page.text, metadata: withFacts(item.metadata, page) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof JobError)) throw error;
    return { ...item, fault: error.message };
  }
}

/** Retry time while the readers are busy. */
const requestedWaitMs = (error: unknown): number | null =>
  error instanceof JobError && !error.permanent ? (error.retryAfterMs ?? null) : null;

export function importTarget(dependencies: ImportTargetDependencies): ImportTarget {
  const { label, maxItems, commit, imports, canonicalize, prepareItem, pdfs, signal, now } = dependencies;
  const targetOf = (url: string) => {
    const canonical = canonicalizeUrl(url, canonicalize);
    return 'invalid' in canonical ? null : canonical;
  };
  return {
    maxItems,
    load: async (id) => imports.get(id),
    failures: async (id) => imports.failures(id),
    restart: (id) => commit((transaction) => transaction.imports.remove(id)),
    take: async (before, given) => {
      refuseOverQuota(dependencies);
      const batch = { ...given, items: await withPdfTexts(given.items, pdfs, signal) };
      const submissions = await Promise.all(
        batch.items.map(({ item }) =>
          item.fault === null ? prepareItem(submissionOf(item, label)) : { rejected: item.fault },
        ),
      );
      return commit(importItems({ before, batch, submissions, targetOf, at: now() }), batch.items.length);
    },
  };
}

/* Store a batch with its checkpoint in one transaction. */

interface ImportRequest {
  before: ImportCheckpoint;
  batch: ImportBatch;
  submissions: (PageSubmission | { rejected: string })[];
  targetOf: (url: string) => { canonical_url: string; domain: string } | null;
  at: number;
}

export function importItems({ before, batch, submissions, targetOf, at }: ImportRequest): Command<ImportCheckpoint> {
  return (transaction) => {
    const outcomes = submissions.map((submission, i): ItemOutcome => {
      if (!('rejected' in submission)) return outcomeOf(batch.items[i].item, ingestPage(submission)(transaction));
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

/** Remove forgotten items from the failures. They count as retried. */
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
