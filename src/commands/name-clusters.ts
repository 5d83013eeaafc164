/** Clusters get other names: when pages of theirs were forgotten, and when a language model is there to find better ones. */
import { labelOf } from '../domain/cluster.ts';
import type { Job } from '../domain/job.ts';
import type { Command } from '../store/store.ts';
import { createJob } from './move-job.ts';

/** Queue a `label_clusters` job; null where one waits already. */
export function queueNaming(at: number, max_attempts: number): Command<Job | null> {
  return (transaction) => {
    const waits = transaction.jobs.list({ status: 'pending', kind: 'label_clusters', limit: 1 }).length > 0;
    return waits ? null : createJob(transaction, { kind: 'label_clusters', page_no: null, max_attempts, at });
  };
}

/** As `queueNaming`, where a cluster lost pages since it was named. */
export function queueNamingOfStale(at: number, max_attempts: number): Command<Job | null> {
  return (transaction) => (transaction.clusters.anyStale() ? queueNaming(at, max_attempts)(transaction) : null);
}

/**
 * Give a cluster new keywords, found in these pages; a label of the language model goes with the old ones, for it may say what was
 * forgotten. Where one of the pages is forgotten meanwhile the cluster stays stale.
 */
export function renameCluster(no: number, keywords: string[], pageNos: readonly number[]): Command<void> {
  return ({ clusters, pages }) => {
    const cluster = clusters.get(no);
    if (cluster === undefined || cluster.tombstoned || !pageNos.every((page) => pages.has(page))) return;
    clusters.put({ ...cluster, keywords, label: labelOf(keywords), labelled: false, stale: false });
  };
}

/** Take a language model's label, if the cluster is still what the model was told of. */
export function labelCluster(no: number, label: string, keywords: readonly string[]): Command<void> {
  return ({ clusters }) => {
    const cluster = clusters.get(no);
    if (cluster === undefined || cluster.tombstoned || cluster.stale) return;
    if (cluster.keywords.join() !== keywords.join()) return;
    clusters.put({ ...cluster, label, labelled: true });
  };
}
