/** Searches a neighbour graph on the searcher thread that owns it. Rows outside the graph are compared one by one. */
import type { HierarchicalNSW } from 'hnswlib-node';
import { type Bitmap, bitmapOf, countBits, hasBit } from '../../compute/structures/bitmap.ts';
import { type ScoredLabels, TopK } from '../../compute/structures/top-k.ts';
import { graphPackage } from './graph-file.ts';
import { cosinesWith, meanOfRows, type NearestOptions, nearestTo, offerRows } from './row-search.ts';
import type { VectorRows } from './vector-rows.ts';

/** Candidates examined by a search: minimum, and number per wanted row. */
const leastEf = 400;
const efPerWanted = 4;
/** Measured: comparing n allowed rows of N one by one is faster while n² is at most so many times N. */
const comparedPerMet = 6000;

export interface SearchedRows {
  rows: VectorRows;
  graph: RowGraph | null;
}

export class RowGraph {
  readonly #graph: HierarchicalNSW;
  readonly #labels: Bitmap;
  readonly count: number;
  #rows: VectorRows | null = null;
  /** Rows below `#looked` that are not in the graph. */
  #outside: number[] = [];
  #looked = 0;

  private constructor(graph: HierarchicalNSW) {
    const ids = graph.getIdsList();
    this.#graph = graph;
    this.count = ids.length;
    this.#labels = bitmapOf(ids, ids.reduce((most, id) => Math.max(most, id), 0) + 1);
  }

  /** Reads a checked file without blocking the thread; null without the package. */
  static async read(path: string, dim: number): Promise<RowGraph | null> {
    const Graph = await graphPackage();
    if (Graph === null) return null;
    const graph = new Graph('ip', dim);
    await graph.readIndex(path);
    return new RowGraph(graph);
  }

  /** As `nearestTo`. Null if the graph finds too few rows; the caller then compares all rows. */
  nearest(
    rows: VectorRows,
    vector: Float32Array,
    { k, minScore, allow }: NearestOptions,
  ): ScoredLabels<Float32Array> | null {
    const wanted = Math.min(k, this.count);
    if (wanted === 0) return null;
    this.#graph.setEf(Math.min(this.count, Math.max(leastEf, efPerWanted * wanted)));
    const isWanted = (label: number) => (allow === undefined || hasBit(allow, label)) && rows.has(label);
    const point = Array.from(vector);
    const found = this.#graph.searchKnn(point, wanted, allow && isWanted).neighbors.filter(isWanted);
    const labels = found.length < wanted ? this.#graph.searchKnn(point, wanted, isWanted).neighbors : found;
    if (labels.length < wanted) return null;
    const top = new TopK(new Float32Array(k));
    for (const [at, score] of cosinesWith(rows, labels).entries()) if (score >= minScore) top.offer(labels[at], score);
    offerRows(rows, this.#outsideOf(rows), top, { minScore, allow });
    return top.take();
  }

  #outsideOf(rows: VectorRows): readonly number[] {
    const count = rows.seen();
    if (this.#rows !== rows) {
      this.#rows = rows;
      this.#outside = [];
      this.#looked = 0;
    }
    for (; this.#looked < count; this.#looked++) {
      if (!hasBit(this.#labels, rows.labelOf(this.#looked))) this.#outside.push(this.#looked);
    }
    return this.#outside;
  }
}

/** The rows nearest to a vector. Uses the graph if that is faster than comparing all rows. */
export function nearest({ rows, graph }: SearchedRows, vector: Float32Array, options: NearestOptions) {
  rows.setQuery(vector);
  const isByGraph = graph !== null && (options.allow === undefined || isWide(options.allow, rows));
  return (isByGraph ? graph.nearest(rows, vector, options) : null) ?? nearestTo(rows, options);
}

/** A graph asks for each row it meets whether it is allowed: the fewer are, the more it meets. */
function isWide(allow: Bitmap, rows: VectorRows): boolean {
  return countBits(allow) ** 2 > comparedPerMet * rows.live;
}

export interface RelatedOptions extends NearestOptions {
  /** Labels of the given rows, to which others are related. */
  to: Uint32Array;
  /** Two rows are related if each is among the `few` nearest of the other. */
  few: number;
  except: ReadonlySet<number>;
}

export interface RelatedRow {
  label: number;
  /** The row it is related to. */
  to: number;
  score: number;
}

/** Rows related to others, at most `k`, best first. */
export function relatedRows(
  searched: SearchedRows,
  { to, k, few, minScore, allow, except }: RelatedOptions,
): RelatedRow[] {
  const { rows } = searched;
  const fewNearest = (label: number, allowed?: Bitmap) => {
    const vector = meanOfRows(rows, [label]);
    if (vector === null) return [];
    const { labels, scores } = nearest(searched, vector, { k: few + 1, minScore, allow: allowed });
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
