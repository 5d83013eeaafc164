/** What runs of the clustering stored, and which pages came since. The store is read on the main thread, in parts. */
import type { ClusterPoint } from '../../domain/cluster.ts';
import type { StoreReader } from '../../store/store.ts';
import { inParts } from '../system/background.ts';

/** Page numbers that are read before others get their turn: some ms. */
const sliceNumbers = 200;
/** Blocks read between two turns of the event loop: a millisecond or two. */
const blocksPerTurn = 16;

/** The points of a run, a block of some hundred pages at a time. */
export async function* pointBlocks({ clusters }: StoreReader, run: number): AsyncGenerator<ClusterPoint[]> {
  for (const [i, block] of clusters.blockNumbers(run).entries()) {
    yield clusters.pointsOfBlock(run, block);
    if (i % blocksPerTurn === 0) await new Promise(setImmediate);
  }
}

/** Whether a page has no text, or none yet: its vector is of its title, so it gets no topic. */
export function isUnread({ pages }: StoreReader, no: number): boolean {
  const status = pages.head(no)?.status;
  return status !== undefined && (status !== 'indexed' || pages.bodySlice(no, 0, 1) === '');
}

/**
 * `space`: of the active model, or null. Gives the number of indexed pages that have vectors, the numbers of those that the current run
 * does not know, ascending, and how many came since the run: unknown, or put to a cluster after it.
 */
export async function clusterCensus(reader: StoreReader, space: number | null) {
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
  const numbersAfter = (after: number) =>
    space === null ? [] : reader.vectors.pageNumbersAfter(space, after, sliceNumbers);
  for await (const slice of inParts(numbersAfter, Number)) {
    for (const no of slice) {
      const isKnown = known.has(no);
      if (!isKnown && isUnread(reader, no)) continue;
      pages++;
      if (!isKnown) unknown.push(no);
    }
  }
  return { pages, unknown, newPages: unknown.length + since };
}
