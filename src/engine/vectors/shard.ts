/**
 * One shard of a vector space, on its thread. A search scores every allowed row. Added rows are found at once; removed rows never are,
 * and keep their space until they are many and the live ones are copied.
 * Errors: only of memory. The caller checks arguments (shard-thread.ts).
 */
import { type Bitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { type ScoredLabels, TopK } from '../../compute/structures/top-k.ts';
import { CALL_ROWS, VectorRows } from './vector-rows.ts';

export interface ShardSearch {
  vector: Float32Array;
  k: number;
  /** Minimum cosine; -1: none. */
  minScore: number;
  /** Only these labels, if given. */
  allow?: Bitmap;
}

export interface CandidateSearch {
  /** The first is searched for, the others are only compared. */
  vectors: readonly Float32Array[];
  k: number;
  minScore: number;
  /** Search sets; null: all. */
  among: readonly (Bitmap | null)[];
  /** Further labels to compare. */
  labels: Uint32Array;
}

/** `labels`: found or requested ones, all for several shards; each once, without unknown ones. `cosines`: of each vector with them. */
export interface CandidateRows {
  found: ScoredLabels<Float32Array>[];
  labels: Uint32Array;
  cosines: Float32Array[];
}

export interface ShardStats {
  /** Live rows, and deleted ones not yet dropped. */
  live: number;
  deleted: number;
  rowBytes: number;
}

/** Deleted rows are dropped above this share, and more than a few. */
const MAX_DELETED_SHARE = 0.3;
const MIN_DELETED = 256;

export class Shard {
  readonly dim: number;
  rows: VectorRows;

  constructor(dim: number, rows = new VectorRows(dim)) {
    this.dim = dim;
    this.rows = rows;
  }

  /** Append rows; existing labels stay, as a label never changes its vector. Returns how many were new. */
  add(labels: Uint32Array, vectors: Float32Array): number {
    const before = this.rows.live;
    for (let i = 0; i < labels.length; i++) {
      if (!this.rows.has(labels[i])) this.rows.append(labels[i], vectors, i * this.dim);
    }
    return this.rows.live - before;
  }

  /** Returns how many existed. */
  remove(labels: Uint32Array): number {
    const before = this.rows.live;
    for (const label of labels) this.rows.erase(label);
    return before - this.rows.live;
  }

  /** The k nearest by cosine, best first, ties by label. */
  search({ vector, ...search }: ShardSearch): ScoredLabels<Float32Array> {
    this.rows.setQuery(vector);
    return this.#nearest(search);
  }

  /** The nearest to the first vector, and all cosines of these and of `labels`. */
  candidates({ vectors, k, minScore, among, labels }: CandidateSearch): CandidateRows {
    const [vector] = vectors;
    this.rows.setQuery(vector);
    const found = among.map((allow) => this.#nearest({ k, minScore, ...(allow !== null && { allow }) }));
    const all = new Set(labels);
    for (const each of found) for (const label of each.labels) all.add(label);
    const known = [...all].filter((label) => this.rows.has(label));
    const rows = Uint32Array.from(known, (label) => this.rows.rowOf(label) ?? 0);
    const cosines = vectors.map((each) => {
      if (each !== vector) this.rows.setQuery(each);
      return this.#cosines(rows);
    });
    return { found, labels: Uint32Array.from(known), cosines };
  }

  #nearest({ k, minScore, allow }: Omit<ShardSearch, 'vector'>): ScoredLabels<Float32Array> {
    const { rows } = this;
    const top = new TopK(new Float32Array(Math.min(k, rows.live)));
    if (top.capacity === 0) return top.take();
    const block = new Uint32Array(CALL_ROWS);
    for (let row = 0, size = 0; row < rows.count; row++) {
      if (rows.isLive(row) && (allow === undefined || hasBit(allow, rows.labelOf(row)))) block[size++] = row;
      if (size < CALL_ROWS && row < rows.count - 1) continue;
      this.#offer(block.subarray(0, size), minScore, top);
      size = 0;
    }
    return top.take();
  }

  #offer(block: Uint32Array, minScore: number, top: TopK<Float32Array>): void {
    const scores = this.#cosines(block);
    let bar = Math.max(minScore, top.bar);
    for (let i = 0; i < block.length; i++) {
      if (scores[i] < bar) continue;
      top.offer(this.rows.labelOf(block[i]), scores[i]);
      bar = Math.max(minScore, top.bar);
    }
  }

  #cosines(rows: Uint32Array): Float32Array {
    const cosines = new Float32Array(rows.length);
    for (let from = 0; from < rows.length; from += CALL_ROWS) {
      this.rows.score(rows.subarray(from, from + CALL_ROWS), cosines.subarray(from, from + CALL_ROWS));
    }
    return cosines;
  }

  /** Drop deleted rows if there are many: 20 ms per 50 MB. Returns whether it did. */
  tidy(): boolean {
    const { count, live } = this.rows;
    const isMany = count - live > Math.max(MIN_DELETED, count * MAX_DELETED_SHARE);
    if (isMany) this.compact();
    return isMany;
  }

  /** Copy the live rows, so that no byte of a removed vector stays. */
  compact(): void {
    const rows = new VectorRows(this.dim);
    for (let row = 0; row < this.rows.count; row++) if (this.rows.isLive(row)) rows.appendRow(this.rows, row);
    this.rows = rows;
  }

  stats(): ShardStats {
    const { live, count, bytes } = this.rows;
    return { live, deleted: count - live, rowBytes: bytes };
  }
}
