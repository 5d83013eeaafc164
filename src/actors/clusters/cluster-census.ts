/** Which pages the current run of the clustering knows, and which came since. */
import type { StoreReader } from '../../store/store.ts';
import { pointBlocks } from './read-points.ts';

export interface ClusterCensus {
  /** Indexed pages that have vectors. */
  pages: number;
  /** Numbers of those that the current run does not know, ascending. */
  unknown: number[];
  /** How many came since the run: unknown, or put to a cluster after it. */
  newPages: number;
}

/** Page numbers that are read before others get their turn: some ms. */
const sliceNumbers = 200;

/** Whether a page has no text, or none yet, and no topic therefore: its vector is of its title. */
export function isUnread({ pages }: StoreReader, no: number): boolean {
  const status = pages.head(no)?.status;
  return status !== undefined && (status !== 'indexed' || pages.bodySlice(no, 0, 1) === '');
}

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
    for (const no of slice) {
      const isKnown = known.has(no);
      if (!isKnown && isUnread(reader, no)) continue;
      pages++;
      if (!isKnown) unknown.push(no);
    }
    after = slice[slice.length - 1];
    await new Promise(setImmediate);
  }
  return { pages, unknown, newPages: unknown.length + since };
}
