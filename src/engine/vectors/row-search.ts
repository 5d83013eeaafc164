/** Searches shared rows exactly, on a searcher thread. The query is set before (`VectorRows.setQuery`). */
import { type Bitmap, forEachBit, hasBit } from '../../compute/structures/bitmap.ts';
import { type ScoredLabels, TopK } from '../../compute/structures/top-k.ts';
import { CALL_ROWS, NO_LABEL, type VectorRows } from './vector-rows.ts';

export interface NearestOptions {
  k: number;
  /** Minimum cosine; -1: none. */
  minScore: number;
  allow?: Bitmap | undefined;
}

const block = new Uint32Array(CALL_ROWS);
const scores = new Float32Array(CALL_ROWS);

/** The k nearest rows by cosine, best first, ties by label: every allowed row is scored. */
export function nearestTo(rows: VectorRows, { k, minScore, allow }: NearestOptions): ScoredLabels<Float32Array> {
  const count = rows.seen();
  const top = new TopK(new Float32Array(Math.min(k, count)));
  if (top.capacity === 0) return top.take();
  const { add, finish } = scorer(rows, top, minScore);
  if (allow === undefined) for (let row = 0; row < count; row++) add(row);
  // By label, so that no header of another row is read.
  else
    forEachBit(allow, (label) => {
      const row = rows.rowOf(label);
      if (row !== undefined && row < count) add(row);
    });
  finish();
  return top.take();
}

export function offerRows(
  rows: VectorRows,
  list: readonly number[],
  top: TopK<Float32Array>,
  { minScore, allow }: Omit<NearestOptions, 'k'>,
): void {
  const { add, finish } = scorer(rows, top, minScore);
  for (const row of list) if (allow === undefined || hasBit(allow, rows.labelOf(row))) add(row);
  finish();
}

/** Offers added rows by their scores, a block of them at a time. */
function scorer(rows: VectorRows, top: TopK<Float32Array>, minScore: number) {
  let size = 0;
  const finish = () => {
    rows.score(block.subarray(0, size), scores);
    let bar = Math.max(minScore, top.bar);
    for (let i = 0; i < size; i++) {
      const label = rows.labelOf(block[i]);
      if (scores[i] < bar || label === NO_LABEL) continue; // erased, maybe just now
      top.offer(label, scores[i]);
      bar = Math.max(minScore, top.bar);
    }
    size = 0;
  };
  const add = (row: number) => {
    block[size++] = row;
    if (size === CALL_ROWS) finish();
  };
  return { add, finish };
}

/** Cosines of the rows with these labels; NaN for a label without a row. */
export function cosinesWith(rows: VectorRows, labels: ArrayLike<number>): Float32Array {
  const cosines = new Float32Array(labels.length).fill(Number.NaN);
  for (let from = 0; from < labels.length; from += CALL_ROWS) {
    const places: number[] = [];
    for (let at = from; at < Math.min(labels.length, from + CALL_ROWS); at++) {
      const row = rows.rowOf(labels[at]);
      if (row === undefined) continue;
      block[places.length] = row;
      places.push(at);
    }
    rows.score(block.subarray(0, places.length), scores);
    for (const [i, at] of places.entries()) cosines[at] = scores[i];
  }
  return cosines;
}

/** Direction of the mean of these labels' rows. Null if none has a row, or the rows cancel out. */
export function meanOfRows(rows: VectorRows, labels: ArrayLike<number>): Float32Array | null {
  const sum = new Float32Array(rows.dim);
  for (let at = 0; at < labels.length; at++) {
    const row = rows.rowOf(labels[at]);
    if (row === undefined) continue;
    for (const [i, value] of rows.vectorOf(row).entries()) sum[i] += value;
  }
  return sum.some((value) => value !== 0) ? sum : null;
}
