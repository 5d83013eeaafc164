/** Which pages the current run of the clustering knows, and which came since. */
import type { StoreReader } from '../../store/store.ts';
import { pointBlocks } from './read-points.ts';

export interface ClusterCensus {
  /** Pages that have vectors. */
  pages: number;
  /** Numbers of those that the current run does not know, ascending. */
  unknown: number[];
  /** How many came since the run: unknown, or put to a cluster after it. */
  newPages: number;
}

/** Page numbers that are read before others get their turn: some ms. */
const sliceNumbers = 1000;

/** `space`: of the active model; null where there is none. */
export async function clusterCensus(reader: StoreReader, space: number | null): Promise<ClusterCensus> {
  const known = new Set<number>();
  let since = 0;
  for await (const points of pointBlocks(reader, reader.clusters.currentRun())) {
    for (const point of points) {
      known.add(point.page_no);
      if (point.since) since++;
    }
  }
  const unknown: number[] = [];
  let pages = 0;
  for (let after = 0; space !== null; ) {
    const slice = reader.vectors.pageNumbersAfter(space, after, sliceNumbers);
    if (slice.length === 0) break;
    pages += slice.length;
    for (const no of slice) if (!known.has(no)) unknown.push(no);
    after = slice[slice.length - 1];
    await new Promise(setImmediate);
  }
  return { pages, unknown, newPages: unknown.length + since };
}
