/**
 * Imports straight into the store of a stopped service: a batch and its checkpoint are one transaction, so that every count is exact
 * whenever the process is killed. Pages are indexed, and fetched where they came without text, by the next start.
 */
import { availableParallelism } from 'node:os';
import { openExtractor } from '../actors/fetching/extract-page.ts';
import { overQuota } from '../actors/ingest/intake.ts';
import { submissionPreparer } from '../actors/ingest/prepare-submission.ts';
import { importItems, restartImport } from '../commands/import-items.ts';
import { canonicalizeUrl } from '../compute/web/canonical-url.ts';
import { type ImportTarget, submissionOf } from '../importers/run-import.ts';
import type { Store } from '../store/store.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Context } from './context.ts';

const itemsPerTransaction = 500;

/** `use` is given the target; the store is the caller's. */
export async function withOfflineTarget<Result>(
  { settings, now }: Context,
  store: Store,
  label: string,
  use: (target: ImportTarget) => Promise<Result>,
): Promise<Result> {
  const extractor = openExtractor(Math.max(2, availableParallelism()));
  const { prepareItem } = submissionPreparer({
    extract: extractor.extract,
    canonicalize: settings.canonicalize,
    maxAttempts: settings.jobs.max_attempts,
    now,
  });
  const targetOf = (url: string) => {
    const canonical = canonicalizeUrl(url, settings.canonicalize);
    return 'invalid' in canonical ? null : canonical;
  };
  try {
    return await use({
      maxItems: itemsPerTransaction,
      load: async (id) => store.reader.imports.get(id),
      failures: async (id) => store.reader.imports.failures(id),
      restart: (id) => store.commit(restartImport(id)),
      take: async (before, batch) => {
        const reason = overQuota(settings.storage.max_bytes, () => store.usedBytes());
        if (reason !== null) throw new CliError(exitCodes.failed, reason);
        const submissions = await Promise.all(batch.items.map(({ item }) => prepareItem(submissionOf(item, label))));
        return store.commit(importItems({ before, batch, submissions, targetOf, at: now() }));
      },
    });
  } finally {
    await extractor.close();
  }
}
