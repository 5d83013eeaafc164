/**
 * The rules of a vector space that were found by measuring (docs/vector-spaces.md): in what portions work goes to the threads, and when a save is worth
 * what it writes. Pure.
 */

/** Bytes of vectors sent to one shard at a time: a millisecond of work, as searches come in between (bench/results/2026-11-backfill.md). */
const BATCH_BYTES = 2 ** 17;
/** Changes between two saves in the background. */
const SAVE_EVERY = 20_000;
/**
 * A save writes whole shards, whatever changed, while a start adds 24,000 rows/s of 1,024 d from the store. So in quiet times
 * it must be worth it: more changes than a start brings back in a tenth of a second, and no row written more than twenty times.
 */
const QUIET_CHANGES = 2000;
const QUIET_SHARE = 0.05;
/** Changes that a start makes good in half a second. */
const CLOSE_CHANGES = 12_000;
/** Rows of so many bytes are written in 10 ms: when it closes, a small space is always saved. */
const SMALL_BYTES = 4 * 2 ** 20;

/** Vectors sent to one shard at a time. */
export function batchRows(dim: number): number {
  return Math.max(1, Math.floor(BATCH_BYTES / (4 * dim)));
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
export function isSavedOnClosing({ unsaved, held }: Unsaved, dim: number): boolean {
  return unsaved > CLOSE_CHANGES || held * dim <= SMALL_BYTES;
}
