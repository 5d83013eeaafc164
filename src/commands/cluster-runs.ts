/** Steps of a clustering run. Its points become visible when its job completes. Invariants: docs/clusters.md. */
import {
  type Cluster,
  type ClusterDraft,
  type ClusterPoint,
  type ClusterRun,
  type ClusterTrigger,
  labelOf,
} from '../domain/cluster.ts';
import { isInFlight, type Job } from '../domain/job.ts';
import type { Command, StoreReader, Transaction } from '../store/store.ts';
import { type Attempt, createJob, type JobPolicy, ownsJob } from './move-job.ts';

/** Number of runs whose points are kept. Older runs keep only counts. */
const runsWithPoints = 10;
/** A label stays while at least this share of its keywords stays. */
const keptKeywords = 0.5;

interface NewRun extends JobPolicy {
  trigger: ClusterTrigger;
  params: Record<string, unknown>;
}

/** Null if a run is in progress. */
export function startRun({ trigger, params, at, max_attempts }: NewRun): Command<ClusterRun | null> {
  return (transaction) => {
    const { clusters, counters } = transaction;
    if (isRunInFlight(transaction)) return null;
    const job = createJob(transaction, { kind: 'cluster', page_no: null, max_attempts, at });
    const run: ClusterRun = {
      no: counters.take('cluster_run'),
      job_no: job.no,
      trigger,
      params,
      started_at: at,
      finished_at: null,
      n_pages: null,
      n_clusters: null,
      n_noise: null,
      draft: null,
    };
    clusters.putRun(run);
    clusters.note('latest', run.no);
    return run;
  };
}

export function isRunInFlight({ clusters, jobs }: Pick<StoreReader, 'clusters' | 'jobs'>): boolean {
  const latest = clusters.latestRun();
  return latest?.finished_at === null && isInFlight(jobs.get(latest.job_no));
}

/** Null if the attempt no longer owns the job. Deletes points of earlier attempts, whose clusters may differ. */
export function takeClusterNumbers(attempt: Attempt, run: number, count: number): Command<number | null> {
  return (transaction) => {
    if (!ownsJob(transaction, attempt)) return null;
    transaction.clusters.removePoints(run);
    return transaction.counters.take('cluster', count);
  };
}

/** False if the attempt no longer owns the job. */
export function storePoints(attempt: Attempt, run: number, points: readonly ClusterPoint[]): Command<boolean> {
  return (transaction) => {
    if (!ownsJob(transaction, attempt)) return false;
    const { clusters, pages } = transaction;
    clusters.putPoints(
      run,
      points.filter(({ page_no }) => pages.has(page_no)),
    );
    return true;
  };
}

export function storeDraft(
  attempt: Attempt,
  runNo: number,
  draft: ClusterDraft[],
  params: Record<string, unknown>,
): Command<boolean> {
  return (transaction) => {
    const run = transaction.clusters.run(runNo);
    if (!ownsJob(transaction, attempt) || run === undefined) return false;
    transaction.clusters.putRun({ ...run, draft, params: { ...run.params, ...params } });
    return true;
  };
}

interface FinishedRun {
  keywords: ReadonlyMap<number, string[]>;
  at: number;
  /** Runs that began before this time are deleted, ms. */
  keepFrom: number;
}

/** Make the run's clusters current, in the transaction that completes its job. */
export function finishRun(transaction: Transaction, runNo: number, { keywords, at, keepFrom }: FinishedRun): void {
  const { clusters } = transaction;
  const run = clusters.run(runNo);
  if (run?.draft == null) return;
  const nameless = new Set(run.draft.filter(({ no }) => (keywords.get(no) ?? []).length === 0).map(({ no }) => no));
  leaveClusters(transaction, runNo, nameless);
  const { sizes, pages, noise } = countPoints(transaction, runNo);
  const alive = new Set<number>();
  const taken = new Set<string>();
  for (const { no, size: found, x, y } of run.draft.toSorted((a, b) => b.size - a.size)) {
    const size = sizes.get(no) ?? 0;
    if (size === 0) continue; // it has no name, or all its pages were forgotten meanwhile
    alive.add(no);
    const words = keywords.get(no) ?? [];
    const known = clusters.get(no);
    const isKept =
      known?.labelled === true && similar(known.keywords, words) && !taken.has(known.label?.toLowerCase() ?? '');
    const label = isKept ? known.label : labelOf(words, taken);
    if (label !== null) taken.add(label.toLowerCase());
    clusters.put({
      no,
      label,
      labelled: isKept,
      keywords: words,
      size,
      tombstoned: false,
      x,
      y,
      stale: size < found,
    });
  }
  for (const cluster of clusters.all()) {
    if (!alive.has(cluster.no) && !cluster.tombstoned) clusters.put(asTombstone(cluster));
  }
  clusters.putRun({ ...run, draft: null, finished_at: at, n_pages: pages, n_clusters: alive.size, n_noise: noise });
  clusters.note('current', runNo);
  for (const old of clusters.runsWithPoints().slice(0, -runsWithPoints)) {
    if (old !== runNo) clusters.removePoints(old);
  }
  for (const { no, started_at } of clusters.runs(Number.MAX_SAFE_INTEGER)) {
    if (no !== runNo && started_at < keepFrom) clusters.removeRun(no);
  }
}

/** Clusters without distinguishing words are not topics. Their pages belong to no topic. */
function leaveClusters({ clusters }: Transaction, run: number, left: ReadonlySet<number>): void {
  if (left.size === 0) return;
  for (const block of [...clusters.points(run)]) {
    const changed = block.filter(({ cluster_no }) => left.has(cluster_no));
    if (changed.length > 0)
      clusters.putPoints(
        run,
        changed.map((point) => ({ ...point, cluster_no: 0, probability: 0 })),
      );
  }
}

function similar(before: readonly string[], now: readonly string[]): boolean {
  return before.filter((word) => now.includes(word)).length >= keptKeywords * before.length;
}

function asTombstone(cluster: Cluster): Cluster {
  return { ...cluster, size: 0, tombstoned: true, stale: false, x: null, y: null };
}

function countPoints({ clusters }: Transaction, run: number) {
  const sizes = new Map<number, number>();
  let pages = 0;
  let noise = 0;
  for (const block of clusters.points(run)) {
    for (const { cluster_no } of block) {
      pages++;
      if (cluster_no === 0) noise++;
      else sizes.set(cluster_no, (sizes.get(cluster_no) ?? 0) + 1);
    }
  }
  return { sizes, pages, noise };
}

/** Assign new pages to the nearest clusters; skips pages already in the run. */
export function assignPages(points: readonly ClusterPoint[]): Command<number> {
  return ({ clusters, pages }) => {
    const run = clusters.currentRun();
    if (run === 0) return 0;
    let assigned = 0;
    for (const point of points) {
      if (!pages.has(point.page_no) || clusters.point(run, point.page_no) !== undefined) continue;
      const cluster = clusters.get(point.cluster_no);
      const isThere = cluster !== undefined && !cluster.tombstoned;
      clusters.putPoints(run, [isThere ? point : { ...point, cluster_no: 0, probability: 0 }]);
      if (isThere) clusters.put({ ...cluster, size: cluster.size + 1 });
      assigned++;
    }
    return assigned;
  };
}

export function forgetMembership({ clusters }: Transaction, pageNo: number): void {
  const current = clusters.currentRun();
  for (const run of clusters.runsWithPoints()) {
    const point = clusters.removePoint(run, pageNo);
    if (point === undefined || run !== current) continue;
    const cluster = clusters.get(point.cluster_no);
    if (cluster === undefined) continue;
    if (cluster.size > 1) clusters.put({ ...cluster, size: cluster.size - 1, stale: true });
    else clusters.put(nameless(asTombstone(cluster)));
  }
}

/** Names of deleted clusters may contain words of pages forgotten now: clear the names. */
export function forgetOldNames({ clusters }: Transaction): void {
  for (const cluster of clusters.all()) {
    if (cluster.tombstoned && (cluster.label !== null || cluster.keywords.length > 0)) clusters.put(nameless(cluster));
  }
}

function nameless(cluster: Cluster): Cluster {
  return { ...cluster, label: null, labelled: false, keywords: [] };
}

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

/** Also drops the language model's label, which may contain forgotten words. Stays stale if a page was deleted. */
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

function labelsOfOthers(clusters: StoreReader['clusters'], no: number): Set<string> {
  const others = clusters.all().filter((other) => other.no !== no && !other.tombstoned);
  return new Set(others.flatMap(({ label }) => label?.toLowerCase() ?? []));
}
