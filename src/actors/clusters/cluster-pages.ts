/**
 * The handler of `cluster` jobs. docs/clusters.md has the states of a run.
 *
 * 1. page vectors go to the clustering thread, which finds clusters, which of them are known ones, and places on the map
 * 2. the points are stored in slices, then a draft of the clusters: from here an interrupted run goes on
 * 3. texts go to the thread, which finds keywords
 * 4. the job's completion makes the clusters those that count
 */
import { finishRun, storeDraft, storePoints, takeClusterNumbers } from '../../commands/cluster-runs.ts';
import { queueNaming } from '../../commands/name-clusters.ts';
import { sampledPages } from '../../compute/clusters/cluster-pages.ts';
import type { ChunkRows } from '../../compute/clusters/page-table.ts';
import type { ClusterDraft, ClusterPoint, ClusterRun } from '../../domain/cluster.ts';
import { dayMs } from '../../domain/durations.ts';
import { JobError } from '../../domain/errors.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
import type { StoreReader } from '../../store/store.ts';
import type { ThreadPool } from '../../threads/thread-pool.ts';
import { goOnUnlessSuspect, type JobContext, type JobHandler, takenOver } from '../jobs/job-actor.ts';
import type { CommitCommand } from '../system/system-messages.ts';
import { type ClusteredText, findKeywords } from './cluster-keywords.ts';

export type ClusterPool = ThreadPool<typeof import('../../threads/cluster-thread.ts')>;

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

/** Bytes of vectors, and pages, read before others get their turn: a millisecond or two. */
const batchBytes = 2 * 1024 * 1024;
const batchPages = 64;
/** Chunks of a sampled page: its beginning will do. */
const sampledChunks = 4;
/** Page numbers listed, and points stored, at a time. */
const sliceNumbers = 2000;
const slicePoints = 1024;
/** Blocks of points, 256 each, read before others get their turn: a millisecond or two. */
const blocksPerTurn = 16;

export function clusterPagesHandler(dependencies: ClusterPagesDependencies): JobHandler {
  const { reader, commit, pool, resolution, keepDays, labels, maxAttempts, now } = dependencies;

  const pagesWithVectors = async (space: number, signal: AbortSignal): Promise<number[]> => {
    const pageNos: number[] = [];
    for (;;) {
      signal.throwIfAborted();
      const slice = reader.vectors.pageNumbersAfter(space, pageNos.at(-1) ?? 0, sliceNumbers);
      if (slice.length === 0) return pageNos;
      for (const no of slice) pageNos.push(no);
      await new Promise(setImmediate);
    }
  };

  /** Vectors of pages in batches; those that are gone meanwhile have no chunks. */
  async function* batches(space: number, dim: number, pageNos: readonly number[], maxChunks: number) {
    for (let at = 0; at < pageNos.length; ) {
      const taken: Float32Array[] = [];
      let length = 0;
      while (at < pageNos.length && taken.length < batchPages && length * 4 < batchBytes) {
        const rows = reader.vectors.get(space, pageNos[at++]) ?? new Float32Array(0);
        taken.push(rows.subarray(0, Math.min(rows.length, maxChunks * dim)));
        length += taken[taken.length - 1].length;
      }
      const rows = new Float32Array(length);
      let offset = 0;
      for (const each of taken) {
        rows.set(each, offset);
        offset += each.length;
      }
      const batch: ChunkRows = { counts: taken.map((each) => each.length / dim), rows };
      yield { pageNos: pageNos.slice(at - taken.length, at), batch };
      await new Promise(setImmediate);
    }
  }

  const handOver = async (
    run: string,
    { space, dim }: EmbeddingModel,
    pageNos: number[],
    { signal, goOn }: Pick<JobContext, 'signal' | 'goOn'>,
  ) => {
    const step = Math.max(1, Math.ceil(pageNos.length / sampledPages));
    const sample: ChunkRows[] = [];
    const sampled = pageNos.filter((_, i) => i % step === 0);
    for await (const { batch } of batches(space, dim, sampled, sampledChunks)) {
      signal.throwIfAborted();
      await goOn();
      sample.push(batch);
    }
    await pool.run('learn', { run, sample, dim }, { signal });
    const taken: number[] = [];
    for await (const { pageNos: some, batch } of batches(space, dim, pageNos, Number.POSITIVE_INFINITY)) {
      const transfer = [batch.rows.buffer as ArrayBuffer];
      const added = await pool.run('addPages', { run, pages: batch }, { signal, transfer });
      for (const [i, isIn] of added.entries()) if (isIn) taken.push(some[i]);
      await goOn();
    }
    return taken;
  };

  /** The cluster of each page in a run, 0 for none. Block by block: page by page would take a fifth of a second for 50,000. */
  const clustersOf = async (pageNos: readonly number[], run: number): Promise<Uint32Array> => {
    const clusters = new Map<number, number>();
    for (const [i, block] of reader.clusters.blockNumbers(run).entries()) {
      for (const { page_no, cluster_no } of reader.clusters.pointsOfBlock(run, block))
        clusters.set(page_no, cluster_no);
      if (i % blocksPerTurn === 0) await new Promise(setImmediate);
    }
    return Uint32Array.from(pageNos, (no) => clusters.get(no) ?? 0);
  };

  const cluster = async (run: ClusterRun, { attempt, signal, goOn }: Omit<JobContext, 'checkpoint'>) => {
    const keep = async (command: ReturnType<typeof storePoints>) => {
      signal.throwIfAborted();
      if (!(await commit(command))) throw takenOver();
      await goOn();
    };
    const model = reader.models.activeModel();
    if (model === undefined) throw new JobError('no active embedding model', { permanent: true });
    const token = `${attempt.job_no}.${attempt.claim}`;
    const pageNos = await handOver(token, model, await pagesWithVectors(model.space, signal), { signal, goOn });
    const current = reader.clusters.currentRun();
    const earlier = await clustersOf(pageNos, current);
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
    const token = `${attempt.job_no}.${attempt.claim}`;
    const clustered: ClusteredText[] = [];
    for (const block of reader.clusters.blockNumbers(run.no)) {
      for (const { page_no, cluster_no } of reader.clusters.pointsOfBlock(run.no, block)) {
        clustered.push({ page_no, cluster: cluster_no === 0 ? -1 : cluster_no });
      }
      if (block % blocksPerTurn === 0) await new Promise(setImmediate);
    }
    const keywords = await findKeywords({ reader, pool }, token, clustered, { signal, goOn });
    return (transaction) => {
      const at = now();
      finishRun(transaction, run.no, { keywords, at, keepFrom: at - keepDays * dayMs });
      if (labels) queueNaming(at, maxAttempts)(transaction);
    };
  };
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
