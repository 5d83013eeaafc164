/**
 * One shard of a vector space, on its thread: rows that are searched by their codes, and scored exactly (nearest-rows.ts). What was added is found at
 * once; removed rows never come out, and take their place until they are many, when the live ones are copied.
 * Errors: none but those of memory. Arguments are checked by the caller (shard-thread.ts).
 */
import { type Bitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { type ScoredLabels, TopK } from '../../compute/structures/top-k.ts';
import { offerNearest, offerNearestFrom } from './nearest-rows.ts';
import { CALL_ROWS, VectorRows } from './vector-rows.ts';

export interface ShardSearch {
  vector: Float32Array;
  k: number;
  /** Cosine below which nothing is of interest; -1: all. */
  minScore: number;
  /** Whether a rough answer does: most of the nearest, for a fraction of the time. */
  rough?: boolean;
  /** Only these labels may be found; without it, all. */
  allow?: Bitmap;
}

/** What is searched for, and what else is to be known of it. */
export interface CandidateSearch {
  /** The one that is searched for, and others that are compared only. */
  vectors: readonly Float32Array[];
  k: number;
  minScore: number;
  /** The nearest of each of these; null: of all. */
  among: readonly (Bitmap | null)[];
  /** Labels that are compared beside what is found. */
  labels: Uint32Array;
}

/** `labels`: what was found and those that were asked about, of several shards all that each found; each once, unknown ones left out. `cosines`: of each vector with them. */
export interface CandidateRows {
  found: ScoredLabels<Float32Array>[];
  labels: Uint32Array;
  cosines: Float32Array[];
}

export interface ShardStats {
  /** Live rows, and deleted ones that still take their place. */
  live: number;
  deleted: number;
  /** Bytes of the rows. */
  rowBytes: number;
}

/** Deleted rows are dropped when they are more than this share of the rows, and more than a few. */
const MAX_DELETED_SHARE = 0.3;
const MIN_DELETED = 256;

export class Shard {
  readonly dim: number;
  rows: VectorRows;

  constructor(dim: number, rows = new VectorRows(dim)) {
    this.dim = dim;
    this.rows = rows;
  }

  /** Append rows; labels that are present stay as they are, since a label never changes its vector. Gives how many were new. */
  add(labels: Uint32Array, vectors: Float32Array): number {
    const before = this.rows.live;
    for (let i = 0; i < labels.length; i++) {
      if (!this.rows.has(labels[i])) this.rows.append(labels[i], vectors, i * this.dim);
    }
    return this.rows.live - before;
  }

  /** Remove labels; unknown ones are nothing to do. Gives how many were there. */
  remove(labels: Uint32Array): number {
    const before = this.rows.live;
    for (const label of labels) this.rows.erase(label);
    return before - this.rows.live;
  }

  /** The k nearest by cosine, best first, equal ones by label. */
  search({ vector, ...search }: ShardSearch): ScoredLabels<Float32Array> {
    this.rows.setQuery(vector);
    return this.#nearest(search);
  }

  /** The nearest to the first vector, and the cosines of each with them and with further labels. */
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

  #nearest({ k, minScore, rough = false, allow }: Omit<ShardSearch, 'vector'>): ScoredLabels<Float32Array> {
    const top = new TopK(new Float32Array(Math.min(k, this.rows.live)));
    if (top.capacity === 0) return top.take();
    const look = { minScore, rough };
    if (allow === undefined) offerNearestFrom(this.rows, 0, look, top);
    else offerNearest(this.rows, this.#allowedRows(allow), look, top);
    return top.take();
  }

  /** Of the query that the rows have. */
  #cosines(rows: Uint32Array): Float32Array {
    const cosines = new Float32Array(rows.length);
    for (let from = 0; from < rows.length; from += CALL_ROWS) {
      this.rows.score(rows.subarray(from, from + CALL_ROWS), cosines.subarray(from, from + CALL_ROWS));
    }
    return cosines;
  }

  /** Drop the deleted rows where they are many: 20 ms per 50 MB. Gives whether it did. */
  tidy(): boolean {
    const { count, live } = this.rows;
    const isMany = count - live > Math.max(MIN_DELETED, count * MAX_DELETED_SHARE);
    if (isMany) this.compact();
    return isMany;
  }

  /** Copy the live rows to a new store, whatever the share of deleted ones; no byte of a removed vector stays. */
  compact(): void {
    const rows = new VectorRows(this.dim);
    for (let row = 0; row < this.rows.count; row++) if (this.rows.isLive(row)) rows.appendRow(this.rows, row);
    this.rows = rows;
  }

  stats(): ShardStats {
    const { live, count, bytes } = this.rows;
    return { live, deleted: count - live, rowBytes: bytes };
  }

  /** Allowed live rows. */
  #allowedRows(allow: Bitmap): Uint32Array {
    const { rows } = this;
    const allowed = new Uint32Array(rows.count);
    let count = 0;
    for (let row = 0; row < rows.count; row++) {
      if (hasBit(allow, rows.labelOf(row)) && rows.isLive(row)) allowed[count++] = row;
    }
    return allowed.subarray(0, count);
  }
}
