/** A library's sparse index on a searcher thread, which runs one task at a time. Publications send only differences. */

import type { Bitmap } from '../../compute/structures/bitmap.ts';
import { type CorpusSegment, corpusSegment, planQuery, type QueryStem } from './corpus.ts';
import { coverageOf, type SearchScratch, type SparseHits, searchSegments } from './search-segments.ts';
import { openDeletions, openSegment } from './segment.ts';
import type { SegmentBuffers } from './segment-tasks.ts';
import type { WordList } from './word-list.ts';

export interface SnapshotUpdate {
  /** All segments of the snapshot; others are dropped. */
  readonly ids: readonly number[];
  readonly added: readonly (SegmentBuffers & { readonly id: number })[];
}

interface SparseQuery {
  /** Repeated terms weigh more, with saturation (corpus.ts). No segment contains ''. */
  readonly terms: readonly QueryStem[];
  readonly k: number;
  readonly allow?: Bitmap | undefined;
}

export interface SparseResult extends SparseHits {
  /** Share of the query's words in each hit by weight, 0 to 1. */
  readonly covered: Float64Array;
}

export class SparseSearcher {
  readonly #scratch: SearchScratch;
  readonly #held = new Map<number, CorpusSegment>();
  readonly #list: WordList | null;
  corpus: readonly CorpusSegment[] | null = null;
  droppedBytes = 0;

  /** Searchers of a thread may share working arrays and the word list. */
  constructor(scratch: SearchScratch, list: WordList | null) {
    this.#scratch = scratch;
    this.#list = list;
  }

  /** Adopts a snapshot. Returns missing ids, to be sent with their bytes. Until then, searches use the old snapshot. */
  publish({ ids, added }: SnapshotUpdate): number[] {
    for (const { id, segment, deletions } of added) {
      this.#held.set(id, corpusSegment(id, openSegment(segment, this.#list), openDeletions(deletions)));
    }
    const named = new Set(ids);
    for (const [id, { segment }] of this.#held) {
      if (named.has(id)) continue;
      this.#held.delete(id);
      this.droppedBytes += segment.buffer.byteLength;
    }
    const lacking = ids.filter((id) => !this.#held.has(id));
    // Largest first, because its threshold saves the most work in the others.
    if (lacking.length === 0) this.corpus = [...this.#held.values()].sort((a, b) => b.segment.docs - a.segment.docs);
    return lacking;
  }

  search({ terms, k, allow }: SparseQuery): SparseResult {
    const corpus = this.corpus ?? [];
    const plan = planQuery(corpus, terms);
    const hits = searchSegments(corpus, plan, k, this.#scratch, allow);
    return { ...hits, covered: coverageOf(corpus, plan, hits.labels) };
  }
}
