/** The points of a run are read some at a time, so that others get their turn: the store is read on the main thread. */
import type { ClusterPoint } from '../../domain/cluster.ts';
import type { StoreReader } from '../../store/store.ts';

/** Blocks read between two turns of the event loop: a millisecond or two. */
const blocksPerTurn = 16;

/** The points of a run, a block of some hundred pages at a time: page by page would take a fifth of a second for 50,000. */
export async function* pointBlocks({ clusters }: StoreReader, run: number): AsyncGenerator<ClusterPoint[]> {
  for (const [i, block] of clusters.blockNumbers(run).entries()) {
    yield clusters.pointsOfBlock(run, block);
    if (i % blocksPerTurn === 0) await new Promise(setImmediate);
  }
}
