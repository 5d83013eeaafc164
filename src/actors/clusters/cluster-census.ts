/** Which pages the current run of the clustering knows, and which came since. */
import type { StoreReader } from '../../store/store.ts';

export interface ClusterCensus {
  /** Pages that have vectors. */
  pages: number;
  /** Numbers of those that the current run does not know, ascending. */
  unknown: number[];
  /** How many came since the run: unknown, or put to a cluster after it. */
  newPages: number;
}

/** Pages, and blocks of points, that are read before others get their turn: some ms. */
export const sliceNumbers = 1000;
export const blocksPerTurn = 16;

export const turn = () => new Promise(setImmediate);

/** `space`: of the active model; null where there is none. */
export async function clusterCensus({ clusters, vectors }: StoreReader, space: number | null): Promise<ClusterCensus> {
  const run = clusters.currentRun();
  const known = new Set<number>();
  let since = 0;
  for (const [i, block] of clusters.blockNumbers(run).entries()) {
    for (const point of clusters.pointsOfBlock(run, block)) {
      known.add(point.page_no);
      if (point.since) since++;
    }
    if (i % blocksPerTurn === 0) await turn();
  }
  const unknown: number[] = [];
  let pages = 0;
  for (let after = 0; space !== null; ) {
    const slice = vectors.pageNumbersAfter(space, after, sliceNumbers);
    if (slice.length === 0) break;
    pages += slice.length;
    for (const no of slice) if (!known.has(no)) unknown.push(no);
    after = slice[slice.length - 1];
    await turn();
  }
  return { pages, unknown, newPages: unknown.length + since };
}
