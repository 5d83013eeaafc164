/**
 * The handler of `cluster` jobs (states: docs/clusters.md). Stores points in slices, then a draft of the clusters, from
 * which an interrupted run continues. The completion of the job makes the clusters current.
 */
import { finishRun, queueNaming, storeDraft, storePoints, takeClusterNumbers } from '../../commands/cluster-runs.ts';
import { grouped } from '../../compute/structures/grouped.ts';
import type { ClusterDraft, ClusterPoint, ClusterRun } from '../../domain/cluster.ts';
import { JobError } from '../../domain/errors.ts';
import type { StoreReader } from '../../store/store.ts';
import { extendTimeUnlessSuspect, type JobContext, type JobHandler, takenOver } from '../system/job-actor.ts';
import type { OldBefore } from '../system/retention.ts';
import type { LibraryParts } from '../system/service.ts';
import { pointBlocks } from './cluster-census.ts';
import { type ClusteredText, type ClusterPool, clusterInThread, findKeywords } from './thread-work.ts';

interface ClusterPagesDependencies extends Pick<LibraryParts, 'reader' | 'commit' | 'maxAttempts' | 'now'> {
  pool: ClusterPool;
  resolution: number;
  oldBefore: OldBefore;
  /** Whether a language model can label the clusters. */
  labels: boolean;
}

const slicePoints = 1024;

export function clusterPagesHandler(dependencies: ClusterPagesDependencies): JobHandler {
  const { reader, commit, pool, resolution, oldBefore, labels, maxAttempts, now } = dependencies;

  const cluster = async (run: ClusterRun, { attempt, signal, extendTime }: Omit<JobContext, 'checkpoint'>) => {
    const keep = async (command: ReturnType<typeof storePoints>) => {
      signal.throwIfAborted();
      if (!(await commit(command))) throw takenOver();
      await extendTime();
    };
    const model = reader.models.activeModel();
    if (model === undefined) throw new JobError('no active embedding model', { permanent: true });
    const current = reader.clusters.currentRun();
    const earlierOf = (pageNos: readonly number[]) => foundClusters(reader, pageNos, current);
    const { pageNos, found } = await clusterInThread({ reader, pool, signal, extendTime }, model, {
      resolution,
      earlierOf,
    });
    const fresh = found.continued.filter((no) => no === null).length;
    let next = await commit(takeClusterNumbers(attempt, run.no, fresh));
    if (next === null) throw takenOver();
    const numbers: number[] = [];
    for (const no of found.continued) numbers.push(no ?? next++);
    const points = pageNos.map(
      (page_no, i): ClusterPoint => ({
        page_no,
        cluster_no: found.clusters[i] < 0 ? 0 : numbers[found.clusters[i]],
        probability: found.probabilities[i],
        x: found.points[2 * i],
        y: found.points[2 * i + 1],
        since: false,
      }),
    );
    for (let at = 0; at < points.length; at += slicePoints) {
      await keep(storePoints(attempt, run.no, points.slice(at, at + slicePoints)));
    }
    await keep(storeDraft(attempt, run.no, draftOf(points), { model: model.id }));
  };

  return async (job, context) => {
    const { attempt, signal } = context;
    const extendTime = extendTimeUnlessSuspect(job, context);
    const run = reader.clusters.runs(Number.MAX_SAFE_INTEGER).find(({ job_no }) => job_no === job.no);
    if (run === undefined) throw new JobError('this job has no clustering run', { permanent: true });
    // A dead job that is retried later: its result would be older than the current one.
    if (run.no !== reader.clusters.latestRun()?.no) {
      throw new JobError('a newer run has started', { permanent: true });
    }
    if (run.draft === null) await cluster(run, { attempt, signal, extendTime });
    const clustered: ClusteredText[] = [];
    for await (const points of pointBlocks(reader, run.no)) {
      for (const { page_no, cluster_no } of points) {
        clustered.push({ page_no, cluster: cluster_no === 0 ? -1 : cluster_no });
      }
    }
    const keywords = await findKeywords({ reader, pool, signal, extendTime }, clustered);
    const keepFrom = (await oldBefore()) ?? 0;
    return (transaction) => {
      const at = now();
      finishRun(transaction, run.no, { keywords, at, keepFrom });
      if (labels) queueNaming(at, maxAttempts)(transaction);
    };
  };
}

/** Cluster of each page, 0 for none. Leaves out pages assigned after the run, or a new topic would reuse an old id. */
export async function foundClusters(
  reader: StoreReader,
  pageNos: readonly number[],
  run: number,
): Promise<Uint32Array> {
  const clusters = new Map<number, number>();
  for await (const points of pointBlocks(reader, run)) {
    for (const { page_no, cluster_no, since } of points) if (!since) clusters.set(page_no, cluster_no);
  }
  return Uint32Array.from(pageNos, (no) => clusters.get(no) ?? 0);
}

/** Clusters with page counts. A cluster's point is that of the page nearest to the median in both coordinates. */
export function draftOf(points: readonly ClusterPoint[]): ClusterDraft[] {
  const members = points.filter(({ cluster_no }) => cluster_no !== 0);
  return [...grouped(members, ({ cluster_no }) => cluster_no)].map(([no, own]) => {
    const middle = (axis: 'x' | 'y') => own.map((point) => point[axis]).sort((a, b) => a - b)[own.length >> 1];
    const [x, y] = [middle('x'), middle('y')];
    const far = (point: ClusterPoint) => Math.hypot(point.x - x, point.y - y);
    const medoid = own.reduce((best, point) => (far(point) < far(best) ? point : best));
    return { no, size: own.length, x: medoid.x, y: medoid.y };
  });
}
