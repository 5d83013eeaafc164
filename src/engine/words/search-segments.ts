/**
 * Finds exactly the k best live documents by MaxScore (Turtle & Flood 1995) over arrays, with one heap for all
 * segments. In a segment, terms are taken rarest first in two phases:
 * 1. gather: adds a term's whole list to the scores, while an unmet document could still win: while the bounds of the
 * remaining terms sum to at least the threshold, the k-th best score. Terms of no query word are not gathered.
 * 2. refine: drops candidates whose score plus remaining bounds is below the threshold; for the others the term is
 * looked up by galloping, or by scanning the list if candidates are many.
 * Common words with long lists are rarely read whole. Scores are summed in the plan's order: pruning changes no bit.
 */
import { type Bitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { lookupTerm } from '../../compute/structures/term-table.ts';
import { type ScoredLabels, TopK } from '../../compute/structures/top-k.ts';
import { contribution, type LengthNorm, UNITS } from './bm25f.ts';
import type { CorpusSegment, QueryPlan } from './corpus.ts';
import { isPair, pairPostings } from './phrases.ts';
import { isDeleted, MAX_SEGMENT_DOCS, ordinalOf, type Segment, seekPosting } from './segment.ts';

/** BM25F score by label; equal to the bit within one state of the corpus. */
export type SparseHits = ScoredLabels<Float64Array>;

/** Due to rounding, bounds may be below a score by less than this share. */
const ROUNDING = 1e-12;
/** A galloping look-up costs about as much as scanning this many postings (bench/sparse.ts). */
const LOOKUP_COST = 16;
/** Finding the threshold costs about as much as scanning this many postings per gathered posting (bench/sparse.ts). */
const THRESHOLD_COST = 4;

export type SearchScratch = ReturnType<typeof createScratch>;

/** Working arrays, reused between searches. `scores` and `met` are all zero then. */
export function createScratch() {
  return {
    scores: new Float64Array(MAX_SEGMENT_DOCS),
    met: new Int32Array(MAX_SEGMENT_DOCS / 32),
    /** Ordinals that may still be results, ascending. */
    candidates: new Uint16Array(MAX_SEGMENT_DOCS),
  };
}

/** A term's postings in a segment, and its bound there. */
interface TermList {
  readonly of: number;
  readonly also: readonly number[] | undefined;
  readonly postings: Uint32Array;
  readonly start: number;
  readonly end: number;
  readonly weight: number;
  readonly bound: number;
}

/** At most k of `allow` (default all), best first. Each has a word of the query. Scores compare within one query. */
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

/** Share of the query's words in each label by weight, 0 to 1; 0 for dead labels. A guessed word counts less. */
export function coverageOf(corpus: readonly CorpusSegment[], plan: QueryPlan, labels: Uint32Array): Float64Array {
  const covered = new Float64Array(labels.length);
  const places = new Map([...plan.words.keys()].map((word, place) => [word, place]));
  const met = new Uint8Array(labels.length * places.size);
  let weight = 0;
  for (const each of plan.words.values()) weight += each;
  const ascending = Array.from(labels.keys()).sort((a, b) => labels[a] - labels[b]);
  for (const { segment, deletions } of corpus) {
    const found = ascending.flatMap((place) => {
      const ordinal = ordinalOf(segment, labels[place]);
      return ordinal < 0 || isDeleted(deletions, ordinal) ? [] : { place, ordinal };
    });
    for (const list of found.length === 0 ? [] : listsOf(segment, plan)) {
      const own = list.also === undefined ? list.weight : undefined;
      let at = list.start;
      for (const { place, ordinal } of found) {
        at = seekPosting(list.postings, at, list.end, ordinal);
        if (at === list.end) break;
        if (list.postings[at] >>> 16 !== ordinal) continue;
        for (const of of [list.of, ...(list.also ?? [])]) {
          const wordPlace = places.get(of);
          if (wordPlace === undefined) continue;
          const word = place * places.size + wordPlace;
          if (met[word] === 0 && weight > 0) covered[place] += (own ?? plan.words.get(of) ?? 0) / weight;
          met[word] = 1;
        }
      }
    }
  }
  return covered;
}

/** Min share of the query's words, by weight, in a matching passage. */
const LEAST_COVERED = 0.5;

/**
 * Allowed passages with half of the weight of the query's known words, or with as much as any passage has. Any form
 * of a word counts fully. `covered`: share of the weight of all words.
 */
export function labelsCovering(corpus: readonly CorpusSegment[], plan: QueryPlan, allow: Bitmap | undefined) {
  const isOf = ({ of, also }: Pick<TermList, 'of' | 'also'>, word: number) => of === word || also?.includes(word);
  const words = [...plan.words].filter(([word]) => plan.terms.some((term) => isOf(term, word)));
  const total = words.reduce((sum, [, weight]) => sum + weight, 0);
  const known = total / [...plan.words.values()].reduce((sum, weight) => sum + weight, 0);
  let most = 0;
  const covered = corpus.map(({ segment, deletions }) => {
    const lists = listsOf(segment, plan);
    const shares = new Float32Array(segment.docs);
    /** Number of the last counted word, from 1. */
    const counted = new Uint16Array(segment.docs);
    for (const [place, [word, weight]] of words.entries()) {
      for (const { postings, start, end } of lists.filter((list) => isOf(list, word))) {
        for (let i = start; i < end; i++) {
          const ordinal = postings[i] >>> 16;
          if (counted[ordinal] === place + 1) continue;
          counted[ordinal] = place + 1;
          shares[ordinal] += weight / total;
        }
      }
    }
    for (let ordinal = 0; ordinal < shares.length; ordinal++) {
      const isAllowed = allow === undefined || hasBit(allow, segment.labels[ordinal]);
      if (!isAllowed || isDeleted(deletions, ordinal)) shares[ordinal] = 0;
      else most = Math.max(most, shares[ordinal]);
    }
    return shares;
  });
  const least = Math.min(LEAST_COVERED, most) * (1 - 1e-6);
  const found: { labels: number[]; covered: number[] } = { labels: [], covered: [] };
  for (const [at, { segment }] of corpus.entries()) {
    const shares = covered[at];
    for (let ordinal = 0; ordinal < shares.length; ordinal++) {
      if (shares[ordinal] === 0 || shares[ordinal] < least) continue;
      found.labels.push(segment.labels[ordinal]);
      found.covered.push(shares[ordinal] * known);
    }
  }
  return found;
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
  // Terms that belong to no query word add to scores but find nothing.
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

/** The plan's terms in this segment, in the plan's order. */
function listsOf(segment: Segment, plan: QueryPlan): TermList[] {
  const lists: TermList[] = [];
  for (const { term, of, also, weight } of plan.terms) {
    if (isPair(term)) {
      const postings = pairPostings(segment, term);
      const bound = contribution(weight, UNITS, 0, plan.norm.base, plan.norm.slope);
      if (postings.length > 0) lists.push({ of, also, postings, start: 0, end: postings.length, weight, bound });
      continue;
    }
    const id = lookupTerm(segment.terms, term);
    if (id < 0) continue;
    const { starts, postings } = segment;
    const peak = segment.peaks[id];
    const bound = contribution(weight, peak >>> 16, peak & 0xffff, plan.norm.base, plan.norm.slope);
    lists.push({ of, also, postings, start: starts[id], end: starts[id + 1], weight, bound });
  }
  return lists;
}

/** At each index, the sum of bounds from there to the end; 0 at the end. */
function suffixSums(lists: readonly TermList[]): Float64Array {
  const sums = new Float64Array(lists.length + 1);
  for (let i = lists.length - 1; i >= 0; i--) sums[i] = sums[i + 1] + lists[i].bound;
  return sums;
}

function isBelow(bound: number, threshold: number): boolean {
  return bound < threshold * (1 - ROUNDING);
}

/** Phase 1: add a whole list to the scores. */
function gather(
  segment: Segment,
  { postings, start, end, weight }: TermList,
  norm: LengthNorm,
  scratch: SearchScratch,
): void {
  const { lengths } = segment;
  const { scores, met } = scratch;
  const { base, slope } = norm;
  for (let i = start; i < end; i++) {
    const posting = postings[i];
    const ordinal = posting >>> 16;
    scores[ordinal] += contribution(weight, posting & 0xffff, lengths[ordinal], base, slope);
    met[ordinal >>> 5] |= 1 << (ordinal & 31);
  }
}

/** List the allowed documents found so far, ascending; clear the scores of the others. */
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

/** Phase 2: keep candidates that can reach the threshold; clear the scores of the others. */
function keep({ scores, candidates }: SearchScratch, count: number, boundLeft: number, threshold: number): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const ordinal = candidates[i];
    if (isBelow(scores[ordinal] + boundLeft, threshold)) scores[ordinal] = 0;
    else candidates[kept++] = ordinal;
  }
  return kept;
}

/** Phase 2: add a term's contribution to its candidates. */
function refine(segment: Segment, list: TermList, norm: LengthNorm, scratch: SearchScratch, count: number): void {
  const { lengths } = segment;
  const { scores, candidates } = scratch;
  const { base, slope } = norm;
  const { postings, end, weight } = list;
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

/** The k-th best score of the candidates; -Infinity if there are fewer than k. */
function kthScore({ scores, candidates }: SearchScratch, count: number, k: number): number {
  const best = new TopK(new Float64Array(k));
  for (let i = 0; i < count; i++) best.offer(i, scores[candidates[i]]);
  return best.bar;
}

/** Offer the candidates to the results and reset the scratch. */
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
