/**
 * The k best live documents of a corpus for a query plan, exactly. Segments are searched one after the other against one
 * heap; within a segment, terms are taken one at a time, the rarest first, in two phases:
 *
 * 1. gather   A term's whole list is added to an array of scores, one slot per document, and each document met for the
 *             first time becomes a candidate. That goes on while a document not met yet could still win: as long as the
 *             sum of the bounds of the terms left is not below the threshold, the k-th best score known. Terms that are of no word of the
 *             query come last, and are not gathered.
 * 2. refine   From there on only candidates count. Those whose score plus the bounds left is below the threshold are
 *             dropped; for the rest the term's contribution is looked up, by galloping through its list or, if the
 *             candidates are many, by running over the list.
 *
 * This is MaxScore (Turtle & Flood 1995) made for arrays: common words, which have the long lists and low bounds, are
 * hardly ever read whole once rare words have set a threshold, and both inner loops are plain loops over typed arrays.
 * Scores are summed term by term in the plan's order, whatever phase a term is met in, so pruning changes no bit of them.
 */
import { type Bitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { lookupTerm } from '../../compute/structures/term-table.ts';
import { type ScoredLabels, TopK } from '../../compute/structures/top-k.ts';
import { contribution, type LengthNorm } from './bm25f.ts';
import type { CorpusSegment, QueryPlan } from './corpus.ts';
import { isDeleted } from './deletions.ts';
import { MAX_SEGMENT_DOCS, ordinalOf, type Segment, seekPosting } from './segment.ts';

/** Scores are the BM25F of each label; within one corpus state the same to the bit, whatever way it was found. */
export type SparseHits = ScoredLabels<Float64Array>;

/** Bounds and scores are rounded differently; a bound may fall short of a score by less than this share of it. */
const ROUNDING = 1e-12;
/** A look-up by galloping costs about as much as running over this many postings (bench/sparse.ts). */
const LOOKUP_COST = 16;
/** Learning the threshold costs about as much as running over this many postings per posting gathered (bench/sparse.ts). */
const THRESHOLD_COST = 4;

/** Working arrays of a searcher, reused from search to search; `scores` and `met` are all zero between searches. */
export interface SearchScratch {
  readonly scores: Float64Array;
  /** A bit per document met. */
  readonly met: Int32Array;
  /** Ordinals that may still be among the results, ascending. */
  readonly candidates: Uint16Array;
  /** Scores in the order that selection has put them. */
  readonly ranking: Float64Array;
}

export function createScratch(): SearchScratch {
  return {
    scores: new Float64Array(MAX_SEGMENT_DOCS),
    met: new Int32Array(MAX_SEGMENT_DOCS / 32),
    candidates: new Uint16Array(MAX_SEGMENT_DOCS),
    ranking: new Float64Array(MAX_SEGMENT_DOCS),
  };
}

/** A term's postings in one segment, and the most that it can add to a score there. */
interface TermList {
  /** Which of the query's words it is of. */
  readonly of: number;
  readonly start: number;
  readonly end: number;
  readonly weight: number;
  readonly bound: number;
}

/**
 * Search a corpus.
 * Shapes: `allow`: the labels that may be found; without it, all. At most k hits, best first; only documents that hold a word of the query.
 * Units:  scores of one query compare with each other only.
 */
export function searchSegments(
  corpus: readonly CorpusSegment[],
  plan: QueryPlan,
  k: number,
  scratch: SearchScratch,
  allow?: Bitmap,
): SparseHits {
  const top = new TopK(new Float64Array(k));
  for (const member of corpus) searchSegment(member, plan, k, scratch, top, allow);
  return top.take();
}

export interface LabelScores {
  readonly scores: Float64Array;
  /** What the words of the query that a label holds weigh, each once, of the weight of all; 0 to 1. A guess counts for less than a word. */
  readonly covered: Float64Array;
}

/** The BM25F of given labels, in their order; 0 for one that is not live or holds no query term. */
export function scoreLabels(corpus: readonly CorpusSegment[], plan: QueryPlan, labels: Uint32Array): LabelScores {
  const scores = new Float64Array(labels.length);
  const covered = new Float64Array(labels.length);
  const places = new Map([...plan.words.keys()].map((word, place) => [word, place]));
  const met = new Uint8Array(labels.length * places.size);
  let weight = 0;
  for (const each of plan.words.values()) weight += each;
  const ascending = Array.from(labels.keys()).sort((a, b) => labels[a] - labels[b]);
  for (const { segment, deletions } of corpus) {
    const labelPlaces: number[] = [];
    const ordinals: number[] = [];
    for (const place of ascending) {
      const ordinal = ordinalOf(segment, labels[place]);
      if (ordinal < 0 || isDeleted(deletions, ordinal)) continue;
      labelPlaces.push(place);
      ordinals.push(ordinal);
    }
    if (labelPlaces.length === 0) continue;
    for (const list of listsOf(segment, plan)) {
      let at = list.start;
      for (let i = 0; i < ordinals.length && at < list.end; i++) {
        const ordinal = ordinals[i];
        at = seekPosting(segment.postings, at, list.end, ordinal);
        if (at === list.end || segment.postings[at] >>> 16 !== ordinal) continue;
        const frequency = segment.postings[at] & 0xffff;
        const { base, slope } = plan.norm;
        scores[labelPlaces[i]] += contribution(list.weight, frequency, segment.lengths[ordinal], base, slope);
        const place = places.get(list.of);
        if (place === undefined) continue;
        const word = labelPlaces[i] * places.size + place;
        if (met[word] === 0 && weight > 0) covered[labelPlaces[i]] += list.weight / weight;
        met[word] = 1;
      }
    }
  }
  return { scores, covered };
}

function searchSegment(
  member: CorpusSegment,
  plan: QueryPlan,
  k: number,
  scratch: SearchScratch,
  top: TopK<Float64Array>,
  allow: Bitmap | undefined,
): void {
  const { segment } = member;
  const lists = listsOf(segment, plan);
  const boundsFrom = suffixSums(lists);
  let threshold = top.bar;
  let gathered = 0;
  let count = -1;
  let next = 0;
  // What is no word of the query adds to what its words find, and finds nothing itself.
  const ofNone = lists.findIndex(({ of }) => of < 0);
  const finding = ofNone < 0 ? lists.length : ofNone;

  while (next < finding && !isBelow(boundsFrom[next], threshold)) {
    const list = lists[next];
    const length = list.end - list.start;
    if (count < 0 && gathered >= k && length > THRESHOLD_COST * gathered + segment.docs / 32) {
      count = collect(member, scratch, allow);
      threshold = Math.max(threshold, kthScore(scratch, count, k));
    } else {
      gather(segment, list, plan.norm, scratch);
      gathered += length;
      count = -1;
      next++;
    }
  }
  if (count < 0) count = collect(member, scratch, allow);

  for (; next < lists.length; next++) {
    count = keep(scratch, count, boundsFrom[next], threshold);
    refine(segment, lists[next], plan.norm, scratch, count);
  }
  offerAll(segment, scratch, count, top);
}

/** The plan's terms that this segment holds, in the plan's order. */
function listsOf(segment: Segment, plan: QueryPlan): TermList[] {
  const lists: TermList[] = [];
  for (const { term, of, weight } of plan.terms) {
    const id = lookupTerm(segment.terms, term);
    if (id < 0) continue;
    const peak = segment.peaks[id];
    const bound = contribution(weight, peak >>> 16, peak & 0xffff, plan.norm.base, plan.norm.slope);
    lists.push({ of, start: segment.starts[id], end: segment.starts[id + 1], weight, bound });
  }
  return lists;
}

/** At each place the sum of the bounds from there on, and 0 at the end. */
function suffixSums(lists: readonly TermList[]): Float64Array {
  const sums = new Float64Array(lists.length + 1);
  for (let i = lists.length - 1; i >= 0; i--) sums[i] = sums[i + 1] + lists[i].bound;
  return sums;
}

function isBelow(bound: number, threshold: number): boolean {
  return bound < threshold * (1 - ROUNDING);
}

/** Phase 1: add a whole list to the scores. */
function gather(segment: Segment, { start, end, weight }: TermList, norm: LengthNorm, scratch: SearchScratch): void {
  const { postings, lengths } = segment;
  const { scores, met } = scratch;
  const { base, slope } = norm;
  for (let i = start; i < end; i++) {
    const posting = postings[i];
    const ordinal = posting >>> 16;
    scores[ordinal] += contribution(weight, posting & 0xffff, lengths[ordinal], base, slope);
    met[ordinal >>> 5] |= 1 << (ordinal & 31);
  }
}

/** List the documents met that may be found, ascending; forget the scores of the others. */
function collect(member: CorpusSegment, scratch: SearchScratch, allow: Bitmap | undefined): number {
  const { segment, deletions } = member;
  const { scores, met, candidates } = scratch;
  const dead = deletions.bits;
  const words = (segment.docs + 31) >>> 5;
  let count = 0;
  for (let word = 0; word < words; word++) {
    for (let bits = met[word]; bits !== 0; bits &= bits - 1) {
      const ordinal = (word << 5) + 31 - Math.clz32(bits & -bits);
      const excluded =
        (dead[word] & bits & -bits) !== 0 || (allow !== undefined && !hasBit(allow, segment.labels[ordinal]));
      if (excluded) scores[ordinal] = 0;
      else candidates[count++] = ordinal;
    }
  }
  return count;
}

/** Phase 2: keep the candidates that can still reach the threshold, and forget the scores of the others. */
function keep({ scores, candidates }: SearchScratch, count: number, boundLeft: number, threshold: number): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const ordinal = candidates[i];
    if (isBelow(scores[ordinal] + boundLeft, threshold)) scores[ordinal] = 0;
    else candidates[kept++] = ordinal;
  }
  return kept;
}

/** Phase 2: add a term to the candidates that hold it. */
function refine(segment: Segment, list: TermList, norm: LengthNorm, scratch: SearchScratch, count: number): void {
  const { postings, lengths } = segment;
  const { scores, candidates } = scratch;
  const { base, slope } = norm;
  const { end, weight } = list;
  if (count * LOOKUP_COST < end - list.start) {
    let at = list.start;
    for (let i = 0; i < count && at < end; i++) {
      const ordinal = candidates[i];
      at = seekPosting(postings, at, end, ordinal);
      if (at < end && postings[at] >>> 16 === ordinal) {
        scores[ordinal] += contribution(weight, postings[at] & 0xffff, lengths[ordinal], base, slope);
      }
    }
  } else {
    for (let i = list.start; i < end; i++) {
      const posting = postings[i];
      const ordinal = posting >>> 16;
      if (scores[ordinal] > 0) {
        scores[ordinal] += contribution(weight, posting & 0xffff, lengths[ordinal], base, slope);
      }
    }
  }
}

/** The k-th best score of the candidates; 0 if there are fewer than k. Quickselect. */
function kthScore({ scores, candidates, ranking }: SearchScratch, count: number, k: number): number {
  if (count < k) return 0;
  for (let i = 0; i < count; i++) ranking[i] = scores[candidates[i]];
  const place = count - k;
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const pivot = ranking[(low + high) >>> 1];
    let left = low;
    let right = high;
    while (left <= right) {
      while (ranking[left] < pivot) left++;
      while (ranking[right] > pivot) right--;
      if (left <= right) {
        const swap = ranking[left];
        ranking[left++] = ranking[right];
        ranking[right--] = swap;
      }
    }
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return ranking[place];
}

/** Offer the candidates to the results and leave the scratch clean. */
function offerAll(
  segment: Segment,
  { scores, met, candidates }: SearchScratch,
  count: number,
  top: TopK<Float64Array>,
): void {
  for (let i = 0; i < count; i++) {
    const ordinal = candidates[i];
    top.offer(segment.labels[ordinal], scores[ordinal]);
    scores[ordinal] = 0;
  }
  met.fill(0, 0, (segment.docs + 31) >>> 5);
}
