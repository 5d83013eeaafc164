/**
 * The handler of `cluster` jobs. docs/clusters.md has the states of a run.
 *
 * 1. page vectors go to the clustering thread, which finds clusters, which of them are known ones, and places on the map
 * 2. the points are stored in slices, then a draft of the clusters: from here an interrupted run goes on
 * 3. texts go to the thread, which finds keywords
 * 4. the job's completion makes the clusters those that count
 */
import { randomUUID } from 'node:crypto';
import { finishRun, storeDraft, storePoints, takeClusterNumbers } from '../../commands/cluster-runs.ts';
import { queueNaming } from '../../commands/name-clusters.ts';
import type { ClusterDraft, ClusterPoint, ClusterRun } from '../../domain/cluster.ts';
import { dayMs } from '../../domain/durations.ts';
import { JobError } from '../../domain/errors.ts';
import type { StoreReader } from '../../store/store.ts';
import { goOnUnlessSuspect, type JobContext, type JobHandler, takenOver } from '../jobs/job-actor.ts';
import type { CommitCommand } from '../system/system-messages.ts';
import { type ClusteredText, findKeywords } from './cluster-keywords.ts';
import { type ClusterPool, handOverPages, orForget } from './hand-over-pages.ts';
import { pointBlocks } from './read-points.ts';

export interface ClusterPagesDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  pool: ClusterPool;
  resolution: number;
  keepDays: number;
  /** Whether a language model is there to label what was found. */
  labels: boolean;
  maxAttempts: number;
  now: () => number;
}

/** Points stored at a time. */
const slicePoints = 1024;

export function clusterPagesHandler(dependencies: ClusterPagesDependencies): JobHandler {
  const { reader, commit, pool, resolution, keepDays, labels, maxAttempts, now } = dependencies;

  const cluster = async (run: ClusterRun, { attempt, signal, goOn }: Omit<JobContext, 'checkpoint'>) => {
    const keep = async (command: ReturnType<typeof storePoints>) => {
      signal.throwIfAborted();
      if (!(await commit(command))) throw takenOver();
      await goOn();
    };
    const model = reader.models.activeModel();
    if (model === undefined) throw new JobError('no active embedding model', { permanent: true });
    const token = randomUUID();
    const pageNos = await orForget(pool, token, handOverPages({ reader, pool }, token, model, { signal, goOn }));
    const current = reader.clusters.currentRun();
    const earlier = await foundClusters(reader, pageNos, current);
    const scale = reader.clusters.run(current)?.params.tried_resolution;
    const found = await pool.run(
      'cluster',
      { run: token, resolution, earlier, ...(typeof scale === 'number' ? { earlierScale: scale } : {}) },
      { signal },
    );
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
    const timing = Object.fromEntries(Object.entries(found.timing_ms).map(([stage, ms]) => [stage, Math.round(ms)]));
    const params = { model: model.id, tried_resolution: found.scale, timing_ms: timing };
    await keep(storeDraft(attempt, run.no, draftOf(points), params));
  };

  return async (job, context) => {
    const { attempt, signal } = context;
    const goOn = goOnUnlessSuspect(job, context);
    const run = reader.clusters.runs(Number.MAX_SAFE_INTEGER).find(({ job_no }) => job_no === job.no);
    if (run === undefined) throw new JobError('nobody asked for this run', { permanent: true });
    // A dead job that is retried later: what it had found is older than what counts now.
    if (run.no !== reader.clusters.latestRun()?.no) {
      throw new JobError('another run has begun since', { permanent: true });
    }
    if (run.draft === null) await cluster(run, { attempt, signal, goOn });
    const clustered: ClusteredText[] = [];
    for await (const points of pointBlocks(reader, run.no)) {
      for (const { page_no, cluster_no } of points) {
        clustered.push({ page_no, cluster: cluster_no === 0 ? -1 : cluster_no });
      }
    }
    const keywords = await findKeywords({ reader, pool }, clustered, { signal, goOn });
    return (transaction) => {
      const at = now();
      finishRun(transaction, run.no, { keywords, at, keepFrom: at - keepDays * dayMs });
      if (labels) queueNaming(at, maxAttempts)(transaction);
    };
  };
}

/**
 * The cluster that a run found for each page, 0 for none. Pages that were put with a cluster after the run do not count: a new topic whose
 * pages went to the nearest one there was would else take that one's id along.
 */
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

/** Clusters with their pages counted and the middle of them. */
function draftOf(points: readonly ClusterPoint[]): ClusterDraft[] {
  const drafts = new Map<number, ClusterDraft>();
  for (const { cluster_no: no, x, y } of points) {
    if (no === 0) continue;
    const draft = drafts.get(no) ?? { no, size: 0, x: 0, y: 0 };
    drafts.set(no, { no, size: draft.size + 1, x: draft.x + x, y: draft.y + y });
  }
  return [...drafts.values()].map(({ no, size, x, y }) => ({ no, size, x: x / size, y: y / size }));
}
