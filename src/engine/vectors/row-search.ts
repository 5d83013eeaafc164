/** Searches shared rows exactly, on a searcher thread: every allowed row is scored. */
import { type Bitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { type ScoredLabels, TopK } from '../../compute/structures/top-k.ts';
import { CALL_ROWS, NO_LABEL, type VectorRows } from './vector-rows.ts';

export interface NearestOptions {
  k: number;
  /** Minimum cosine; -1: none. */
  minScore: number;
  /** Only these labels, if given. */
  allow?: Bitmap | undefined;
  /** The first row to look at. */
  from?: number;
}

/** The k rows nearest to the query that is set, by cosine, best first, ties by label. */
export function nearestTo(
  rows: VectorRows,
  { k, minScore, allow, from = 0 }: NearestOptions,
): ScoredLabels<Float32Array> {
  const count = rows.seen();
  const top = new TopK(new Float32Array(Math.min(k, count)));
  if (top.capacity === 0) return top.take();
  const block = new Uint32Array(CALL_ROWS);
  const scores = new Float32Array(CALL_ROWS);
  const offer = (size: number) => {
    rows.score(block.subarray(0, size), scores);
    let bar = Math.max(minScore, top.bar);
    for (let i = 0; i < size; i++) {
      const label = rows.labelOf(block[i]);
      if (scores[i] < bar || label === NO_LABEL) continue; // erased meanwhile
      top.offer(label, scores[i]);
      bar = Math.max(minScore, top.bar);
    }
  };
  let size = 0;
  for (let row = from; row < count; row++) {
    if (!rows.isLive(row) || (allow !== undefined && !hasBit(allow, rows.labelOf(row)))) continue;
    block[size++] = row;
    if (size < CALL_ROWS) continue;
    offer(size);
    size = 0;
  }
  offer(size);
  return top.take();
}

/** Cosines of the query that is set with labels; NaN for one without a row. */
export function cosinesWith(rows: VectorRows, labels: ArrayLike<number>): Float32Array {
  const cosines = new Float32Array(labels.length).fill(Number.NaN);
  const known: number[] = [];
  const places: number[] = [];
  for (let at = 0; at < labels.length; at++) {
    const row = rows.rowOf(labels[at]);
    if (row === undefined) continue;
    known.push(row);
    places.push(at);
  }
  const scores = new Float32Array(Math.min(CALL_ROWS, known.length));
  for (let from = 0; from < known.length; from += CALL_ROWS) {
    const block = Uint32Array.from(known.slice(from, from + CALL_ROWS));
    rows.score(block, scores);
    for (let i = 0; i < block.length; i++) cosines[places[from + i]] = scores[i];
  }
  return cosines;
}

/** Direction of the mean of the rows of these labels; null where none has a row, or they cancel out. */
export function meanOfRows(rows: VectorRows, labels: ArrayLike<number>): Float32Array | null {
  const sum = new Float32Array(rows.dim);
  for (let at = 0; at < labels.length; at++) {
    const row = rows.rowOf(labels[at]);
    if (row === undefined) continue;
    for (const [i, value] of rows.vectorOf(row).entries()) sum[i] += value;
  }
  return sum.some((value) => value !== 0) ? sum : null;
}

export interface RelatedOptions {
  to: Uint32Array;
  k: number;
  few: number;
  minScore: number;
  allow?: Bitmap | undefined;
  except: ReadonlySet<number>;
}

/** As of the task `related` in search-thread.ts: near rows that have the given one among their own nearest, best first. */
export function relatedRows(
  rows: VectorRows,
  { to, k, few, minScore, allow, except }: RelatedOptions,
): { label: number; to: number; score: number }[] {
  /** Without the row itself. */
  const fewNearest = (label: number, allowed?: Bitmap) => {
    const vector = meanOfRows(rows, [label]);
    if (vector === null) return [];
    rows.setQuery(vector);
    const { labels, scores } = nearestTo(rows, { k: few + 1, minScore, allow: allowed });
    return Array.from(labels, (found, at) => ({ label: found, score: scores[at] }))
      .filter((each) => each.label !== label)
      .slice(0, few);
  };
  const best = new Map<number, { to: number; score: number }>();
  for (const label of to) {
    for (const near of fewNearest(label, allow)) {
      if (except.has(near.label) || near.score <= (best.get(near.label)?.score ?? -1)) continue;
      best.set(near.label, { to: label, score: near.score });
    }
  }
  return [...best]
    .map(([label, each]) => ({ label, ...each }))
    .sort((a, b) => b.score - a.score)
    .slice(0, k + 1)
    .filter((each) => fewNearest(each.label).some(({ label }) => label === each.to))
    .slice(0, k);
}
