/** Renames clusters after pages were forgotten, or when a language model can find better names. */
import { labelOf } from '../domain/cluster.ts';
import type { Job } from '../domain/job.ts';
import type { Command, StoreReader } from '../store/store.ts';
import { createJob } from './move-job.ts';

/** Queue a `label_clusters` job; null if one is waiting. */
export function queueNaming(at: number, max_attempts: number): Command<Job | null> {
  return (transaction) => {
    const waits = transaction.jobs.list({ status: 'pending', kind: 'label_clusters', limit: 1 }).length > 0;
    return waits ? null : createJob(transaction, { kind: 'label_clusters', page_no: null, max_attempts, at });
  };
}

/** The same, if a cluster lost pages since it was named. */
export function queueNamingOfStale(at: number, max_attempts: number): Command<Job | null> {
  return (transaction) => (transaction.clusters.anyStale() ? queueNaming(at, max_attempts)(transaction) : null);
}

/**
 * Set keywords found in these pages and drop the language model's label, which may contain forgotten words. If one of the pages was
 * forgotten meanwhile, the cluster stays stale.
 */
export function renameCluster(no: number, keywords: string[], pageNos: readonly number[]): Command<void> {
  return ({ clusters, pages }) => {
    const cluster = clusters.get(no);
    if (cluster === undefined || cluster.tombstoned || !pageNos.every((page) => pages.has(page))) return;
    const label = labelOf(keywords, labelsOfOthers(clusters, no));
    clusters.put({ ...cluster, keywords, label, labelled: false, stale: false });
  };
}

/** Set a language model's label if the cluster still has the keywords it was asked about and no other cluster has the label. */
export function labelCluster(no: number, label: string, keywords: readonly string[]): Command<void> {
  return ({ clusters }) => {
    const cluster = clusters.get(no);
    if (cluster === undefined || cluster.tombstoned || cluster.stale) return;
    if (cluster.keywords.join() !== keywords.join() || labelsOfOthers(clusters, no).has(label.toLowerCase())) return;
    clusters.put({ ...cluster, label, labelled: true });
  };
}

/** In small letters. */
function labelsOfOthers(clusters: StoreReader['clusters'], no: number): Set<string> {
  const others = clusters.all().filter((other) => other.no !== no && !other.tombstoned);
  return new Set(others.flatMap(({ label }) => label?.toLowerCase() ?? []));
}
