/**
 * The graphs of a shard, one after the other: each covers a run of so many rows, and the last one grows. One graph over
 * many tight topics loses some of them, whatever the width of the search, and the more the larger it is; a search of each
 * smaller one does not (docs/vector-spaces.md, "Several graphs").
 */
import { ShardGraph } from './shard-graph.ts';
import type { VectorRows } from './vector-rows.ts';

/** Room of a new graph at least, and how much more than the rows that wait for it. */
const MIN_CAPACITY = 1024;
const SPARE_ROOM = 1.25;
/** Of several graphs each is searched at least so wide as one alone would be: docs/vector-spaces.md, "Several graphs". */
const MIN_WIDTH_SHARE = 2 / 3;

export class GraphChain {
  readonly #dim: number;
  readonly #rowsPerGraph: number;
  readonly #graphs: ShardGraph[];

  /** Graphs that were loaded cover one run of rows after the other from row 0 on; they may be larger than `rowsPerGraph`. */
  constructor(dim: number, rowsPerGraph: number, graphs: readonly ShardGraph[] = []) {
    this.#dim = dim;
    this.#rowsPerGraph = rowsPerGraph;
    this.#graphs = [...graphs];
  }

  /** In the order of their rows. */
  get graphs(): readonly ShardGraph[] {
    return this.#graphs;
  }

  /** Rows below this are in a graph, unless they were deleted when their turn came. */
  get covered(): number {
    return this.#graphs.at(-1)?.covered ?? 0;
  }

  /** Nodes of all graphs, deleted ones included. */
  get nodes(): number {
    return this.#graphs.reduce((sum, { nodes }) => sum + nodes, 0);
  }

  /** Deleted nodes of the graph that has most of them. */
  get mostDeleted(): number {
    return Math.max(0, ...this.#graphs.map(({ nodes, live }) => nodes - live));
  }

  /** Take in the next row, if it is not deleted. */
  coverNext(rows: VectorRows): void {
    let last = this.#graphs.at(-1);
    if (last === undefined || last.covered - last.first >= this.#rowsPerGraph) {
      const first = this.covered;
      const room = Math.max(MIN_CAPACITY, Math.ceil((rows.count - first) * SPARE_ROOM));
      last = ShardGraph.create(this.#dim, Math.min(room, this.#rowsPerGraph), first);
      this.#graphs.push(last);
    }
    last.coverNext(rows);
  }

  /** A row, live until now, has been erased. Beyond `covered` there is nothing to do. */
  remove(row: number): void {
    for (const graph of this.#graphs) graph.remove(row);
  }

  /** How wide to search each graph where one over all rows would be searched `alone` wide: less, as far as they share the hits. */
  widths(alone: number): number[] {
    const all = this.#graphs.reduce((sum, { live }) => sum + live, 0);
    return this.#graphs.map(({ live }) => Math.ceil(alone * Math.max(MIN_WIDTH_SHARE, live / Math.max(all, 1))));
  }

  /** The nearest `count` of the rows found in each graph by a search of its width, and at most as many as that: in no order. */
  near(unit: number[], widths: readonly number[], count: number): number[] {
    return this.#graphs.flatMap((graph, number) => graph.near(unit, widths[number], count));
  }

  /** Free the native memory; the graphs are of no use afterwards. */
  dispose(): void {
    for (const graph of this.#graphs.splice(0)) graph.dispose();
  }
}
