/** Reads what clustering runs stored, and counts the pages added since. Works in parts on the main thread. */
import type { ClusterPoint } from '../../domain/cluster.ts';
import type { StoreReader } from '../../store/store.ts';
import { inParts } from '../system/background.ts';

/** Page numbers read per turn of the event loop: some ms. */
const sliceNumbers = 200;
/** Blocks read per turn of the event loop: 1 to 2 ms. */
const blocksPerTurn = 16;

/** The points of a run, a block of some hundred pages at a time. */
export async function* pointBlocks({ clusters }: StoreReader, run: number): AsyncGenerator<ClusterPoint[]> {
  for (const [i, block] of clusters.blockNumbers(run).entries()) {
    yield clusters.pointsOfBlock(run, block);
    if (i % blocksPerTurn === 0) await new Promise(setImmediate);
  }
}

/** Whether a page has no text (yet). Its vector is then made from its title alone, so it gets no topic. */
export function isUnread({ pages }: StoreReader, no: number): boolean {
  const status = pages.head(no)?.status;
  return status !== undefined && (status !== 'indexed' || pages.bodySlice(no, 0, 1) === '');
}

/**
 * `space`: of the active model, or null. Counts indexed pages with vectors, and lists those unknown to the current run,
 * in order. `newPages` are those unknown to the run or assigned to a cluster after it.
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
