/**
 * The rules of a vector space that were found by measuring (docs/vector-spaces.md, "Choices"): when a shard has a graph, in what
 * portions work goes to the threads, and when a save is worth what it writes. Pure.
 */

/** From so many rows per shard on a graph beats the scan, up to GRAPH_MAX_DIM dimensions; above, the scan wins. */
const GRAPH_FROM_ROWS = 100_000;
const GRAPH_MAX_DIM = 256;
/** Rows of one graph: of more it loses tight topics, which a wider search does not bring back ("Several graphs"). */
export const ROWS_PER_GRAPH = 300_000;
/** Bytes of vectors sent to one shard at a time: a millisecond of work, as searches come in between (bench/results/2026-11-backfill.md). */
const BATCH_BYTES = 2 ** 17;
/** Rows that wait for their graph before `add` waits for it: half a millisecond of scanning, and more than a new graph has to take. */
const MAX_BEHIND_ROWS = 150_000;
/** Changes between two saves in the background. */
const SAVE_EVERY = 20_000;
/**
 * A save writes whole shards, whatever changed, while a start adds 24,000 rows/s of 1,024 d from the store. So in quiet times
 * it must be worth it: more changes than a start brings back in a tenth of a second, and no row written more than twenty times.
 */
const QUIET_CHANGES = 2000;
const QUIET_SHARE = 0.05;
/** Changes that a start makes good in half a second: rows as above; 2,500 a second where a graph has to grow by them. */
const CLOSE_CHANGES = 12_000;
const CLOSE_GRAPH_CHANGES = 1250;
/** Rows of so many bytes are written in 10 ms: when it closes, a small space is always saved. */
const SMALL_BYTES = 4 * 2 ** 20;

/** Live rows from which on a shard has a graph; Infinity: never. */
export function defaultGraphFromRows(dim: number): number {
  return dim <= GRAPH_MAX_DIM ? GRAPH_FROM_ROWS : Number.POSITIVE_INFINITY;
}

/** Vectors sent to one shard at a time. */
export function batchRows(dim: number): number {
  return Math.max(1, Math.floor(BATCH_BYTES / (4 * dim)));
}

/**
 * How many rows may wait for their graph when `add` ends, which has added `added` of the `behind` that wait now. Of very many, as after a
 * purge, it takes in twice as many as came, so that they become fewer and nobody waits for all of them.
 */
export function mostBehind(behind: number, added: number): number {
  return Math.max(MAX_BEHIND_ROWS, behind - 2 * added);
}

/** How far files are behind a space: changes that are in no file, live labels. */
export interface Unsaved {
  unsaved: number;
  held: number;
}

/** Whether a save is due while the space is at work. */
export function isSaveDue({ unsaved, held }: Unsaved, saveEvery = SAVE_EVERY): boolean {
  return unsaved >= Math.max(saveEvery, QUIET_SHARE * held);
}

/** Whether a save is worth what it writes when nothing else is to do. */
export function isWorthSaving({ unsaved, held }: Unsaved): boolean {
  return unsaved > Math.max(QUIET_CHANGES, QUIET_SHARE * held);
}

/** Whether the next start would take longer to make good what is unsaved than saving takes now. */
export function isSavedOnClosing({ unsaved, held }: Unsaved, dim: number, graphFromRows: number): boolean {
  const few = graphFromRows === Number.POSITIVE_INFINITY ? CLOSE_CHANGES : CLOSE_GRAPH_CHANGES;
  return unsaved > few || held * dim <= SMALL_BYTES;
}
