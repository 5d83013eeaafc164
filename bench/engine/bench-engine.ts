/** What an engine must be able to do to be measured. Each engine is a module that exports `open`; see measure.ts. */
import type { BenchData, BenchQuery } from './data-folder.ts';

export interface BuildReport {
  /** Seconds until every chunk is found by text and by vector. */
  searchable_s: number;
  /** Seconds until background work (merges, saving) is done too. */
  settled_s: number;
  /** More about where the time went. */
  [detail: string]: unknown;
}

/** A way to ask; gives labels, best first. */
export type Search = (query: BenchQuery) => Promise<ArrayLike<number>> | ArrayLike<number>;

export interface BenchEngine {
  /** Put all chunks into an empty index. */
  build(data: BenchData): Promise<BuildReport>;
  /** Ways to ask that are timed. Named `hybrid`, `sparse`, `dense` where the engine has them. */
  readonly searches: Readonly<Record<string, Search>>;
  /** Those of `searches` under a filter that allows a share of the chunks (allowed.ts). */
  filtered?(share: number): Readonly<Record<string, Search>>;
  /** Every chunk in the order of the dense side: what a filtered dense search is to agree with. */
  denseRanking?: Search;
  /** Bytes on disk, parts of the memory: whatever the engine can say. */
  footprint(): Promise<Record<string, unknown>>;
  /** Delete chunks, so that what is found afterwards can be judged. */
  remove?(chunks: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

export interface EngineModule {
  readonly name: string;
  /** Open the index in a folder: empty when there is nothing, else what `build` and `close` left there. Ready when it resolves. */
  open(dir: string, data: BenchData): Promise<BenchEngine>;
}
