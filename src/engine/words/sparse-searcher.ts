/**
 * One library's sparse index on a searcher thread: the opened segments of its snapshot. Publications are differences over shared memory,
 * which copies nothing; deletions are visible without one. Called by the thread entry only, one task at a time.
 */

import type { Bitmap } from '../../compute/structures/bitmap.ts';
import { type CorpusSegment, corpusSegment, planQuery, type QueryStem } from './corpus.ts';
import { openDeletions } from './deletions.ts';
import { type SearchScratch, type SparseHits, scoreLabels, searchSegments } from './search-segments.ts';
import { openSegment } from './segment.ts';

export interface PublishedSegment {
  readonly id: number;
  readonly segment: SharedArrayBuffer;
  readonly deletions: SharedArrayBuffer;
}

export interface SnapshotUpdate {
  /** All segments of the snapshot; others are dropped. */
  readonly ids: readonly number[];
  /** Those that the searcher lacks. */
  readonly added: readonly PublishedSegment[];
}

export interface SparseQuery {
  /** Repeated terms weigh more, with saturation (corpus.ts). '' is in no segment. */
  readonly terms: readonly QueryStem[];
  readonly k: number;
  /** Only these labels, if given. */
  readonly allow?: Bitmap;
}

export interface SparseResult extends SparseHits {
  /** Weighted share of the query's words per hit, 0 to 1; null if not requested. */
  readonly covered: Float64Array;
}

export interface SparseSearcher {
  /**
   * Adopt a snapshot; before the first one the others throw NoSnapshotError. Returns the ids that are still lacking, to be sent with
   * their bytes; until then the old snapshot is searched.
   */
  publish(update: SnapshotUpdate): number[];
  search(query: SparseQuery): SparseResult;
  snapshot(): readonly CorpusSegment[];
  readonly droppedBytes: number;
}

/** A new thread without a snapshot, whose answer would be empty. Publish and ask again. */
export class NoSnapshotError extends Error {
  readonly code = 'no_snapshot';
  readonly retryable = true;
}

/** `scratch`: working arrays, possibly shared with other searchers of the thread. */
export function createSparseSearcher(scratch: SearchScratch): SparseSearcher {
  const held = new Map<number, CorpusSegment>();
  let published: CorpusSegment[] | undefined;
  let droppedBytes = 0;
  const snapshot = (): CorpusSegment[] => {
    if (published === undefined) throw new NoSnapshotError('this searcher has no snapshot yet');
    return published;
  };
  return {
    publish({ ids, added }) {
      for (const { id, segment, deletions } of added) {
        held.set(id, corpusSegment(id, openSegment(segment), openDeletions(deletions)));
      }
      const named = new Set(ids);
      for (const [id, { segment }] of held) {
        if (named.has(id)) continue;
        held.delete(id);
        droppedBytes += segment.buffer.byteLength;
      }
      const lacking = ids.filter((id) => !held.has(id));
      // Largest first: its threshold saves most work in the others.
      if (lacking.length === 0) published = [...held.values()].sort((a, b) => b.segment.docs - a.segment.docs);
      return lacking;
    },
    snapshot,
    get droppedBytes() {
      return droppedBytes;
    },
    search({ terms, k, allow }) {
      const corpus = snapshot();
      const plan = planQuery(corpus, terms);
      const hits = searchSegments(corpus, plan, k, scratch, allow);
      return { ...hits, covered: scoreLabels(corpus, plan, hits.labels).covered };
    },
  };
}
