/**
 * What one searcher thread has of one library's sparse index: the segments of its snapshot, opened. The
 * main side publishes snapshots as differences; segments and deletions are shared memory, so publishing copies nothing and
 * a deletion is seen without being published. Called by the searcher's thread entry only, one task at a time.
 */

import type { Bitmap } from '../../compute/structures/bitmap.ts';
import { type CorpusSegment, corpusSegment, planQuery, type QueryStem } from './corpus.ts';
import { openDeletions } from './deletions.ts';
import { type SearchScratch, type SparseHits, searchSegments } from './search-segments.ts';
import { openSegment } from './segment.ts';

export interface PublishedSegment {
  readonly id: number;
  readonly segment: SharedArrayBuffer;
  readonly deletions: SharedArrayBuffer;
}

export interface SnapshotUpdate {
  /** Every segment of the snapshot; held ones that are not named are dropped. */
  readonly ids: readonly number[];
  /** Those that the searcher does not hold yet. */
  readonly added: readonly PublishedSegment[];
}

export interface SparseQuery {
  /** One named several times weighs more, with saturation (corpus.ts). '' is in no segment. */
  readonly terms: readonly QueryStem[];
  readonly k: number;
  /** Only these labels may be found; without it, all. */
  readonly allow?: Bitmap;
}

export interface SparseResult extends SparseHits {
  /** Distinct query terms that occur in a live chunk. */
  readonly known: number;
}

export interface SparseSearcher {
  /**
   * Take over a snapshot, before the first of which the others throw NoSnapshotError. Gives the ids that it names and this searcher still
   * lacks, to be sent again with their bytes: until then the one before is searched.
   */
  publish(update: SnapshotUpdate): number[];
  search(query: SparseQuery): SparseResult;
  /** The segments of the snapshot. */
  snapshot(): readonly CorpusSegment[];
  /** Bytes of the segments that publications have dropped. */
  readonly droppedBytes: number;
}

/** The thread is new and has no snapshot yet; an answer would be empty and wrong. Publish again, then ask again. */
export class NoSnapshotError extends Error {
  readonly code = 'no_snapshot';
  readonly retryable = true;
}

/** A searcher without a snapshot. `scratch`: the working arrays of a search, which may be those of other searchers of the thread. */
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
      // The largest first: the threshold it leaves spares most of the work in the others.
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
      return { ...searchSegments(corpus, plan, k, scratch, allow), known: plan.known };
    },
  };
}
