/**
 * Imports straight into the store, running or stopped: a batch and its checkpoint are one transaction, so that every count is exact whenever
 * the process is killed, and the same file sent again goes on where it was.
 */
import { importItems, restartImport } from '../../commands/import-items.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { type ImportTarget, submissionOf } from '../../importers/run-import.ts';
import type { ImportReader } from '../../store/imports.ts';
import type { CommitCommand } from '../system/system-messages.ts';
import type { SubmissionPreparer } from './prepare-submission.ts';

export interface ImportTargetDependencies extends Pick<SubmissionPreparer, 'prepareItem'> {
  /** Of the pages' source. */
  label: string;
  /** Items of one batch at most. */
  maxItems: number;
  commit: CommitCommand;
  imports: Pick<ImportReader, 'get' | 'failures'>;
  canonicalize: CanonicalizeSettings;
  /** Throws where nothing new may be taken in. */
  refuseOverQuota: () => void;
  now: () => number;
}

export function importTarget(dependencies: ImportTargetDependencies): ImportTarget {
  const { label, maxItems, commit, imports, canonicalize, prepareItem, refuseOverQuota, now } = dependencies;
  const targetOf = (url: string) => {
    const canonical = canonicalizeUrl(url, canonicalize);
    return 'invalid' in canonical ? null : canonical;
  };
  return {
    maxItems,
    load: async (id) => imports.get(id),
    failures: async (id) => imports.failures(id),
    restart: (id) => commit(restartImport(id)),
    take: async (before, batch) => {
      refuseOverQuota();
      const submissions = await Promise.all(batch.items.map(({ item }) => prepareItem(submissionOf(item, label))));
      return commit(importItems({ before, batch, submissions, targetOf, at: now() }), batch.items.length);
    },
  };
}
