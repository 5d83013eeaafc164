/** Audits cluster runs and points against pages, and cluster rows against both. Only reads. */
import type { ClusterReader } from './clusters.ts';
import type { JobReader } from './jobs.ts';
import type { PageReader } from './pages.ts';

interface ClusterAuditParts {
  clusters: ClusterReader;
  pages: PageReader;
  jobs: JobReader;
  nextCluster: number;
  nextRun: number;
}

export function* auditClusters(parts: ClusterAuditParts): Generator<string> {
  yield* auditRuns(parts);
  yield* auditPoints(parts);
  yield* auditRows(parts);
}

/** A running run has its job, a finished run has a result, and the current run is finished. */
function* auditRuns({ clusters, jobs, nextCluster, nextRun }: ClusterAuditParts): Generator<string> {
  for (const { no, job_no, finished_at, draft } of clusters.runs(Number.MAX_SAFE_INTEGER)) {
    if (no >= nextRun) yield `run ${no} has a number that is not assigned yet`;
    const job = jobs.get(job_no);
    if (finished_at === null && (job === undefined || job.status === 'done'))
      yield `run ${no} is not finished and has no job`;
    if (finished_at !== null && draft !== null) yield `run ${no} is finished and has a draft`;
    for (const { no: cluster } of draft ?? []) {
      if (cluster >= nextCluster) yield `run ${no}: cluster ${cluster} has a number that is not assigned yet`;
    }
  }
  const current = clusters.currentRun();
  if (current !== 0 && clusters.run(current)?.finished_at == null)
    yield `run ${current} is current, but not finished or missing`;
}

/** Each point belongs to an existing run, page and cluster. */
function* auditPoints({ clusters, pages, nextCluster }: ClusterAuditParts): Generator<string> {
  for (const no of clusters.runsWithPoints()) {
    const run = clusters.run(no);
    if (run === undefined) yield `points of a missing run: ${no}`;
    const isOver = run?.finished_at != null;
    const unknown = new Set<number>();
    for (const { page_no, cluster_no } of [...clusters.points(no)].flat()) {
      if (!pages.has(page_no)) yield `run ${no} has a point of a missing page: ${page_no}`;
      const isKnown = isOver ? clusters.get(cluster_no) !== undefined : cluster_no < nextCluster;
      if (cluster_no !== 0 && !isKnown) unknown.add(cluster_no);
    }
    for (const cluster of unknown) yield `run ${no} has points of a missing cluster: ${cluster}`;
  }
}

/** A cluster's size equals its number of points in the current run. A tombstone keeps only its id and last name. */
function* auditRows({ clusters, nextCluster }: ClusterAuditParts): Generator<string> {
  const sizes = new Map<number, number>();
  for (const { cluster_no } of [...clusters.points(clusters.currentRun())].flat()) {
    sizes.set(cluster_no, (sizes.get(cluster_no) ?? 0) + 1);
  }
  for (const { no, size, tombstoned, x, y } of clusters.all()) {
    const points = sizes.get(no) ?? 0;
    if (no >= nextCluster) yield `cluster ${no} has a number that is not assigned yet`;
    if (size !== points) yield `cluster ${no} counts ${size} pages, and has ${points}`;
    if (tombstoned && points > 0) yield `cluster ${no} is deleted, but has ${points} pages`;
    if (tombstoned && (x !== null || y !== null)) yield `cluster ${no} is deleted, but has a place on the map`;
    if (!tombstoned && points === 0) yield `cluster ${no} has no page, but is not deleted`;
  }
}
