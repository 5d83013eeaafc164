/**
 * Chooses segments to merge: eight of a tier, each tier being eight times the one below. So a document is rewritten at
 * most five times, with at most seven segments per tier. A segment with a quarter deleted is rewritten alone; one
 * without live documents is dropped.
 */
import { grouped } from '../../compute/structures/grouped.ts';
import { MAX_SEGMENT_DOCS } from './segment.ts';

/** Segments per merge, and ratio of tiers; tantivy's and Lucene's are 8 and 10. */
export const TIER_WIDTH = 8;
/** Max documents of the lowest tier: 8 → 64 → 512 → 4,096 → 32,768. */
const LOWEST_TIER_DOCS = 64;
/** A segment with this share of deleted documents is rewritten, because every search reads its postings. */
const DELETED_SHARE = 0.25;

/** Min growth of a segment by a merge in quiet times. */
const IDLE_GROWTH = 0.5;

export interface SegmentSize {
  readonly id: number;
  readonly docs: number;
  readonly deleted: number;
}

/** Ids to merge into one segment (one id: rewrite it without deleted documents), or none. One merge at a time. */
export function chooseMerge(segments: readonly SegmentSize[]): number[] {
  const bySize = [...segments].sort((a, b) => live(a) - live(b) || a.id - b.id);
  for (const tier of grouped(bySize, (segment) => tierOf(live(segment))).values()) {
    if (tier.length < TIER_WIDTH) continue;
    const chosen = fitting(tier);
    if (chosen.length > 1) return chosen;
  }
  const worn = bySize.find(({ docs, deleted }) => deleted > 0 && deleted >= docs * DELETED_SHARE);
  return worn === undefined ? [] : [worn.id];
}

/** In quiet times: merges the smallest, up to one that grows by half, so that no page rewrites a large one. */
export function chooseIdleMerge(segments: readonly SegmentSize[]): number[] {
  const small = segments.filter((segment) => live(segment) < MAX_SEGMENT_DOCS / TIER_WIDTH);
  small.sort((a, b) => live(a) - live(b) || a.id - b.id);
  let chosen = 0;
  let docs = 0;
  small.forEach((segment, place) => {
    if (place > 0 && live(segment) <= docs / IDLE_GROWTH) chosen = place + 1;
    docs += live(segment);
  });
  return fitting(small.slice(0, chosen));
}

/** The smallest segments, as many as fit into one. */
function fitting(bySize: readonly SegmentSize[]): number[] {
  let docs = 0;
  const ids: number[] = [];
  for (const segment of bySize) {
    docs += live(segment);
    if (docs > MAX_SEGMENT_DOCS) break;
    ids.push(segment.id);
  }
  return ids;
}

function live({ docs, deleted }: SegmentSize): number {
  return docs - deleted;
}

function tierOf(docs: number): number {
  let tier = 0;
  for (let limit = LOWEST_TIER_DOCS; docs >= limit; limit *= TIER_WIDTH) tier++;
  return tier;
}
