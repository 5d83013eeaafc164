/**
 * An HNSW graph over a run of a shard's rows: the one file that touches hnswlib-node. It finds candidates, which are then scored
 * exactly from the rows; it is never the only place of anything. Nodes are labelled by row number. Lives on its shard's thread.
 * hnswlib-node is the only package that is compiled when it is installed, and an optional one: it is loaded when the first graph is
 * wanted, and where it is not there rows are scanned exactly, however many.
 * hnswlib aborts the process, or takes in silence, what it does not expect. So what comes here is already checked: finite
 * vectors of the right length, rows added once and deleted once; no filter callback is ever passed (one that throws aborts);
 * files are verified (hnsw-file.ts) and are loaded into new objects only (a failed load leaves a freed pointer behind).
 * Native memory is unknown to the garbage collector: `dispose` frees it.
 */
import { createRequire } from 'node:module';
import { errorMessage } from '../../domain/error-message.ts';
import type { VectorRows } from './vector-rows.ts';

/** Links per node and width of the search while building: docs/vector-spaces.md, "Choices". */
const LINKS = 12;
const BUILD_WIDTH = 100;
const SEED = 100;

/** What is used of the library, said here so that the sources compile where it is not installed. */
interface HierarchicalNSW {
  initIndex(options: { maxElements: number; m?: number; efConstruction?: number; randomSeed?: number }): void;
  readIndexSync(path: string): void;
  writeIndexSync(path: string): void;
  getCurrentCount(): number;
  getMaxElements(): number;
  resizeIndex(maxElements: number): void;
  addPoint(vector: number[], label: number): void;
  markDelete(label: number): void;
  setEf(width: number): void;
  searchKnn(vector: number[], count: number): { neighbors: number[]; distances: number[] };
}

interface GraphLibrary {
  HierarchicalNSW: new (space: 'ip', dim: number) => HierarchicalNSW;
}

let library: GraphLibrary | string | undefined;

/** Gives the library, or why it cannot be loaded; tried once for each thread. */
function graphLibrary(): GraphLibrary | string {
  try {
    library ??= createRequire(import.meta.url)('hnswlib-node') as GraphLibrary;
  } catch (error) {
    library = `hnswlib-node cannot be loaded: ${errorMessage(error).split('\n')[0]}`;
  }
  return library;
}

/** Why no graph can be made on this machine; null where one can. */
export function graphLibraryFault(): string | null {
  const found = graphLibrary();
  return typeof found === 'string' ? found : null;
}

function newIndex(dim: number): HierarchicalNSW {
  const found = graphLibrary();
  if (typeof found === 'string') throw new Error(found);
  return new found.HierarchicalNSW('ip', dim);
}

export class ShardGraph {
  /** Rows from `first` on and below `covered` are in the graph, unless they were deleted when their turn came. */
  readonly first: number;
  covered: number;
  /** Nodes that are not deleted. */
  live: number;
  #index: HierarchicalNSW;

  private constructor(index: HierarchicalNSW, first: number, covered: number, live: number) {
    this.#index = index;
    this.first = first;
    this.covered = covered;
    this.live = live;
  }

  /** An empty graph for the rows from `first` on with room for `capacity` of them; it grows by itself. Errors: `graphLibraryFault`. */
  static create(dim: number, capacity: number, first = 0): ShardGraph {
    const index = newIndex(dim);
    index.initIndex({ maxElements: Math.max(capacity, 1), m: LINKS, efConstruction: BUILD_WIDTH, randomSeed: SEED });
    return new ShardGraph(index, first, first, 0);
  }

  /** The graph of a verified file, which was saved with these rows. Errors: what the library throws on a file that it cannot read. */
  static load(path: string, rows: VectorRows, covered: number, first = 0): ShardGraph {
    const index = newIndex(rows.dim);
    index.readIndexSync(path);
    let live = 0;
    for (let row = first; row < covered; row++) if (rows.isLive(row)) live++;
    return new ShardGraph(index, first, covered, live);
  }

  /** Nodes, deleted ones included. */
  get nodes(): number {
    return this.#index.getCurrentCount();
  }

  /** Take in the next row, if it is not deleted. */
  coverNext(rows: VectorRows): void {
    if (rows.isLive(this.covered)) {
      const capacity = this.#index.getMaxElements();
      if (this.nodes === capacity) this.#index.resizeIndex(Math.ceil(capacity * 1.5) + 1024);
      this.#index.addPoint(rows.unit(this.covered), this.covered);
      this.live++;
    }
    this.covered++;
  }

  /** A row, live until now, has been erased. Of rows that the graph does not cover there is nothing to do. */
  remove(row: number): void {
    if (row < this.first || row >= this.covered) return;
    this.#index.markDelete(row);
    this.live--;
  }

  /** The nearest `count` of the rows found by a search of that width, and at most as many as that; best first. */
  near(unit: number[], width: number, count: number): number[] {
    const wanted = Math.min(count, width, this.live);
    if (wanted === 0) return []; // where all are deleted, a search would look at every node
    this.#index.setEf(width);
    return this.#index.searchKnn(unit, wanted).neighbors;
  }

  /** Write to a path. The library reports no failure: check the file. */
  save(path: string): void {
    this.#index.writeIndexSync(path);
  }

  /** Free the native memory; the graph is of no use afterwards. */
  dispose(): void {
    this.#index.initIndex({ maxElements: 1 });
    this.covered = this.first;
    this.live = 0;
  }
}
