/**
 * One shard of a vector space, on its thread: rows that are searched exactly, and, once scanning them would cost more,
 * graphs that find candidates among them: one per `rowsPerGraph` rows, "the graph" in what follows.
 *
 *   state       rows                     graph                         a search
 *   scanned     any                      none                          scores all rows
 *   growing     >= graphFromRows         covers rows[0 .. covered)     graph candidates + all rows from `covered` on
 *   grown       covered = count          all rows                      graph candidates
 *
 * `add` only appends rows, so it is quick and what was added is found at once, exactly. `maintain` does the slow work in
 * slices: it lets the graph catch up, and copies the live rows to a new store when too many are deleted (the graph is then
 * made anew). Every answer is scored from the rows, whoever found the candidate; deleted and repeated rows cannot come out.
 * Errors: none but those of memory. Arguments are checked by the caller (shard-thread.ts).
 */
import { type Bitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { type ScoredLabels, TopK } from '../../compute/structures/top-k.ts';
import { GraphChain } from './graph-chain.ts';
import { offerNearest, offerNearestFrom } from './nearest-rows.ts';
import { graphLibraryFault } from './shard-graph.ts';
import { CALL_ROWS, VectorRows } from './vector-rows.ts';

export interface ShardOptions {
  dim: number;
  /** The shard has a graph from so many live rows on: so many are scanned as fast as the graph is searched. Infinity: never. */
  graphFromRows: number;
  /** Rows that one graph covers, before the next is begun. */
  rowsPerGraph: number;
  /** Milliseconds, monotonic. */
  now: () => number;
  /** Why no graph can be made here; null where one can. */
  libraryFault?: () => string | null;
}

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
  /** Rows that a graph should have and has not. */
  behind: number;
  /** Nodes of the graph, deleted ones included; 0: there is none. */
  nodes: number;
  /** Bytes of the rows; the graph's native memory is not in it. */
  rowBytes: number;
}

export interface Upkeep {
  /** Rows that wait for later slices. */
  behind: number;
  /** Whether files saved before are out of date now. */
  worked: boolean;
}

/** Width of a graph search, at least, and per hit asked for: recall@100 in docs/vector-spaces.md. */
const MIN_WIDTH = 300;
const WIDTH_PER_HIT = 2;
/** Rows beyond k that are taken from the graph, whose sums are rounded otherwise than the rows'. */
const SPARE_HITS = 16;
/** Deleted rows are dropped when they are more than this share of the rows, or, in one graph, of the rows of a graph, and more than a few. */
const MAX_DELETED_SHARE = 0.3;
const MIN_DELETED = 256;
/** Rows that are looked at to tell which share of all a filter allows: one of a half to within a thirtieth. */
const SAMPLE_ROWS = 1024;
/** The fractions of its multiples fall evenly over the rows, and with no rhythm that labels may have. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

export class Shard {
  readonly dim: number;
  rows: VectorRows;
  graph: GraphChain | undefined;
  #graphFromRows: number;
  #rowsPerGraph: number;
  #now: () => number;
  #libraryFault: () => string | null;

  constructor(options: ShardOptions, rows = new VectorRows(options.dim), graph?: GraphChain) {
    const { dim, graphFromRows, rowsPerGraph, now, libraryFault = graphLibraryFault } = options;
    this.dim = dim;
    this.#graphFromRows = graphFromRows;
    this.#rowsPerGraph = rowsPerGraph;
    this.#now = now;
    this.#libraryFault = libraryFault;
    this.rows = rows;
    this.graph = graph;
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
    for (const label of labels) {
      const row = this.rows.erase(label);
      if (row !== undefined) this.graph?.remove(row);
    }
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
    const near = this.#nearByGraph(k, allow);
    const from = near === undefined || this.graph === undefined ? 0 : this.graph.covered;
    if (near !== undefined) offerNearest(this.rows, near, look, top);
    if (allow === undefined) offerNearestFrom(this.rows, from, look, top);
    else offerNearest(this.rows, this.#allowedRows(allow, from), look, top);
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

  /** Work for about `budgetMs` (a compaction takes the time it takes: 20 ms per 50 MB); says what it did. */
  maintain(budgetMs: number): Upkeep {
    const until = this.#now() + budgetMs;
    const { rows: rowsBefore, graph: graphBefore } = this;
    const coveredBefore = graphBefore?.covered;
    if (this.#hasManyDeleted) this.compact();
    if (this.graph === undefined && this.#wantsGraph) this.graph = new GraphChain(this.dim, this.#rowsPerGraph);
    const { graph, rows } = this;
    while (graph !== undefined && graph.covered < rows.count && this.#now() < until) graph.coverNext(rows);
    const worked = rows !== rowsBefore || graph !== graphBefore || graph?.covered !== coveredBefore;
    return { behind: this.behind, worked };
  }

  /** Copy the live rows to a new store, whatever the share of deleted ones; no byte of a removed vector stays. The graph is dropped. */
  compact(): void {
    const rows = new VectorRows(this.dim);
    for (let row = 0; row < this.rows.count; row++) if (this.rows.isLive(row)) rows.appendRow(this.rows, row);
    this.rows = rows;
    this.graph?.dispose();
    this.graph = undefined;
  }

  get behind(): number {
    if (this.graph !== undefined) return this.rows.count - this.graph.covered;
    return this.#wantsGraph ? this.rows.count : 0;
  }

  stats(): ShardStats {
    const { live, count, bytes } = this.rows;
    return { live, deleted: count - live, behind: this.behind, nodes: this.graph?.nodes ?? 0, rowBytes: bytes };
  }

  /** Why there is no graph though there are rows enough for one; null where there is one, or too few rows. */
  get graphFault(): string | null {
    return this.rows.live >= this.#graphFromRows ? this.#libraryFault() : null;
  }

  get #wantsGraph(): boolean {
    return this.rows.live >= this.#graphFromRows && this.#libraryFault() === null;
  }

  /** The more of a graph is deleted, the more of it a search has to look at for as many hits. */
  get #hasManyDeleted(): boolean {
    const isMany = (deleted: number, rows: number) => deleted > Math.max(MIN_DELETED, rows * MAX_DELETED_SHARE);
    const { count, live } = this.rows;
    return isMany(count - live, count) || isMany(this.graph?.mostDeleted ?? 0, this.#rowsPerGraph);
  }

  /**
   * Rows worth scoring of those that the graph covers, or undefined if all are to be looked at: there is no graph, that is
   * cheaper, or what the graph found does not hold k allowed rows. A filter is met by a wider search, never inside the graph. A
   * search of one graph costs in proportion to its width and is as dear as looking at graphFromRows rows at MIN_WIDTH.
   */
  #nearByGraph(k: number, allow?: Bitmap): Uint32Array | undefined {
    const { graph, rows } = this;
    if (graph === undefined) return undefined;
    const share = allow === undefined ? 1 : this.#shareAllowed(allow);
    const looked = rows.live * share;
    if (looked === 0) return undefined;
    const alone = Math.max(MIN_WIDTH, WIDTH_PER_HIT * k) / share;
    const widths = graph.widths(alone);
    const total = widths.reduce((sum, width) => sum + width, 0);
    if (looked < this.#graphFromRows * (total / MIN_WIDTH)) return undefined;
    // The graph has the rows as they are kept, so its order is theirs but for rounding; each row handed over costs.
    const count = allow === undefined ? k + SPARE_HITS : Number.POSITIVE_INFINITY;
    const found = graph.near(rows.queryUnit(), widths, count);
    const near = allow === undefined ? found : found.filter((row) => hasBit(allow, rows.labelOf(row)));
    return near.length < Math.min(k, looked) ? undefined : Uint32Array.from(near);
  }

  /** Which share of the live rows is allowed: of many rows an estimate by some of them, to tell what is cheaper. */
  #shareAllowed(allow: Bitmap): number {
    const { rows } = this;
    const looked = Math.min(rows.count, SAMPLE_ROWS);
    let live = 0;
    let allowed = 0;
    for (let i = 0; i < looked; i++) {
      const row = looked === rows.count ? i : Math.floor(((i * GOLDEN_RATIO) % 1) * rows.count);
      if (!rows.isLive(row)) continue;
      live++;
      if (hasBit(allow, rows.labelOf(row))) allowed++;
    }
    return live === 0 ? 0 : allowed / live;
  }

  /** Allowed live rows from `from` on. */
  #allowedRows(allow: Bitmap, from: number): Uint32Array {
    const { rows } = this;
    const allowed = new Uint32Array(rows.count - from);
    let count = 0;
    for (let row = from; row < rows.count; row++) {
      if (hasBit(allow, rows.labelOf(row)) && rows.isLive(row)) allowed[count++] = row;
    }
    return allowed.subarray(0, count);
  }
}
