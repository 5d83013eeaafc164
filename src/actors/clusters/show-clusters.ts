/** Presents clustering: runs, clusters with their pages, and the map. Only reads. */
import type { Cluster, ClusterPage, ClusterRun, ClusterRunResponse, ClusterSummary } from '../../domain/cluster.ts';
import { DomainError, required } from '../../domain/errors.ts';
import { idOf, isoOf, isPart, numberOf } from '../../domain/values.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Handlers } from '../system/service.ts';
import { pointBlocks } from './cluster-census.ts';

/** Pages of a topic read per turn of the event loop: some ms. */
const slicePages = 1000;

/** `pagesOf`: how many pages could be clustered now. */
export function showClusters(
  reader: StoreReader,
  pagesOf: () => Promise<number>,
  minPages: number,
): Handlers<'cluster.list' | 'cluster.runs' | 'cluster.get' | 'cluster.projection'> {
  return {
    'cluster.list': async ({ include_tombstoned }) => {
      const clusters = reader.clusters
        .all()
        .filter(({ tombstoned }) => include_tombstoned || !tombstoned)
        .sort((a, b) => Number(a.tombstoned) - Number(b.tombstoned) || b.size - a.size || a.no - b.no)
        .map(summaryOf);
      return clusters.length > 0 ? { clusters } : { clusters, pages: await pagesOf(), min_pages: minPages };
    },
    'cluster.runs': ({ limit }) => ({ runs: reader.clusters.runs(limit).map(runResponseOf) }),
    'cluster.get': async ({ cluster_id, ...part }) => {
      const cluster = required(reader.clusters.get(numberOf('cluster', cluster_id) ?? 0), 'cluster', cluster_id);
      const members = await membersOf(reader, cluster);
      const { offset = 0, limit = members.length } = part;
      return {
        cluster: summaryOf(cluster),
        pages: pageRows(reader, members.slice(offset, offset + limit)),
        ...(isPart(part) && { total: members.length }),
      };
    },
    'cluster.projection': async ({ run_id }) => {
      const no = numberOf('cluster_run', run_id) ?? 0;
      if (reader.clusters.run(no)?.finished_at == null) {
        throw new DomainError('not_found', `unknown or unfinished run: ${run_id.slice(0, 64)}`);
      }
      const points: { page_id: string; x: number; y: number; cluster_id: string | null }[] = [];
      for await (const block of pointBlocks(reader, no)) {
        for (const { page_no, cluster_no, x, y } of block) {
          if (Number.isNaN(x)) continue; // no neighbour of it is on the map
          const cluster_id = cluster_no === 0 ? null : idOf('cluster', cluster_no);
          points.push({ page_id: idOf('page', page_no), x: rounded(x), y: rounded(y), cluster_id });
        }
      }
      return { run_id, points };
    },
  };
}

interface Member {
  no: number;
  probability: number;
}

/** The pages of a cluster, most certain first. */
async function membersOf({ clusters, pages }: StoreReader, { no: cluster_no, tombstoned }: Cluster): Promise<Member[]> {
  const run = clusters.currentRun();
  const members: Member[] = [];
  for (const [i, no] of (tombstoned ? [] : clusters.pagesOf(cluster_no)).entries()) {
    if (i % slicePages === slicePages - 1) await new Promise(setImmediate);
    const point = clusters.point(run, no);
    if (point?.cluster_no === cluster_no && pages.has(no))
      members.push({ no, probability: rounded(point.probability) });
  }
  return members.sort((a, b) => b.probability - a.probability);
}

/** Reads one row at a time: an address may have 8,192 characters and a title 4,096. */
async function* pageRows({ pages }: StoreReader, members: readonly Member[]): AsyncGenerator<ClusterPage> {
  for (const { no, probability } of members) {
    const page = pages.head(no);
    if (page === undefined) continue; // forgotten meanwhile
    const { canonical_url, title } = page;
    yield { page_id: idOf('page', no), canonical_url, title, probability };
  }
}

function summaryOf({ no, label, keywords, size, tombstoned, x, y }: Cluster): ClusterSummary {
  return {
    id: idOf('cluster', no),
    label,
    keywords,
    size,
    tombstoned,
    projection_x: x === null ? null : rounded(x),
    projection_y: y === null ? null : rounded(y),
  };
}

function runResponseOf({ no, trigger, params, started_at, finished_at, ...run }: ClusterRun): ClusterRunResponse {
  return {
    id: idOf('cluster_run', no),
    trigger,
    algorithm: 'leiden',
    params,
    started_at: isoOf(started_at),
    finished_at: finished_at === null ? null : isoOf(finished_at),
    duration_ms: finished_at === null ? null : finished_at - started_at,
    n_pages: run.n_pages,
    n_clusters: run.n_clusters,
    n_noise: run.n_noise,
  };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
