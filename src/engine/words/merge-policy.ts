/**
 * Which segments to merge next. Segments fall into tiers by their live documents, each tier eight times the one below; a
 * tier that has eight is merged into one of a higher tier. So a document is rewritten at most once per tier (five times up to
 * the largest segment), and there are at most seven segments per tier plus the largest ones, which only grow in number.
 * A segment of which a quarter is deleted is rewritten by itself, whatever its tier; one without live documents goes at once.
 */
import { MAX_SEGMENT_DOCS } from './segment.ts';

/** Segments of a tier that are merged together, and the ratio of one tier to the next; tantivy's and Lucene's are 8 and 10. */
export const TIER_WIDTH = 8;
/** Segments up to this size share the lowest tier: 8 → 64 → 512 → 4,096 → 32,768. */
const LOWEST_TIER_DOCS = 64;
/** Deleted share of a segment that is worth a rewrite; their postings are read by every search until then. */
const DELETED_SHARE = 0.25;

/** By what share of itself a segment must grow to be rewritten in a quiet time. */
const IDLE_GROWTH = 0.5;

export interface SegmentSize {
  readonly id: number;
  readonly docs: number;
  readonly deleted: number;
}

/** The ids to merge into one segment (one id: to rewrite without its deleted documents), or none. At most one merge at a time. */
export function chooseMerge(segments: readonly SegmentSize[]): number[] {
  const bySize = [...segments].sort((a, b) => live(a) - live(b) || a.id - b.id);
  const tiers = new Map<number, SegmentSize[]>();
  for (const segment of bySize) {
    const tier = tiers.get(tierOf(live(segment)));
    if (tier === undefined) tiers.set(tierOf(live(segment)), [segment]);
    else tier.push(segment);
  }
  for (const tier of tiers.values()) {
    if (tier.length < TIER_WIDTH) continue;
    const chosen = fitting(tier);
    if (chosen.length > 1) return chosen;
  }
  const worn = bySize.find(({ docs, deleted }) => deleted > 0 && deleted >= docs * DELETED_SHARE);
  return worn === undefined ? [] : [worn.id];
}

/**
 * Small segments into one, for times without adds, so that searches and files are few. The smallest are taken up to the largest
 * one that grows by at least half: one page never rewrites a segment many times its size, a document is rewritten with at
 * least half as many others each time, and of the segments left each has more than twice the documents of all smaller ones.
 */
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

/** As many of the segments, smallest first, as one segment can hold. */
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
