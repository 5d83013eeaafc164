/** Imports into the data folder of a stopped service. Pages are indexed, and fetched where they came without text, by the next start. */
import { availableParallelism } from 'node:os';
import { openExtractor } from '../actors/fetching/extract-page.ts';
import { importTarget } from '../actors/ingest/import-target.ts';
import { overQuota } from '../actors/ingest/intake.ts';
import { submissionPreparer } from '../actors/ingest/prepare-submission.ts';
import type { ImportTarget } from '../importers/run-import.ts';
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
  const { canonicalize } = settings;
  const { prepareItem } = submissionPreparer({
    extract: extractor.extract,
    canonicalize,
    maxAttempts: settings.jobs.max_attempts,
    now,
  });
  const refuseOverQuota = () => {
    const reason = overQuota(settings.storage.max_bytes, () => store.usedBytes());
    if (reason !== null) throw new CliError(exitCodes.failed, reason);
  };
  try {
    return await use(
      importTarget({
        label,
        maxItems: itemsPerTransaction,
        commit: (command) => store.commit(command),
        imports: store.reader.imports,
        canonicalize,
        prepareItem,
        refuseOverQuota,
        now,
      }),
    );
  } finally {
    await extractor.close();
  }
}
