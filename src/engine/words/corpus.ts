/** The segments of a search, with deletions. Statistics count live documents, so scores do not depend on segments. */
import { termLookup } from '../../compute/structures/term-table.ts';
import { type LengthNorm, lengthNorm, termWeight } from './bm25f.ts';
import { isPair, pairPostings } from './phrases.ts';
import { type Deletions, deletedCount, isDeleted, type Segment } from './segment.ts';

/** Above this, only the rarest terms count. 4,000 characters have at most 2,000; 256 words are a page. */
const MAX_QUERY_TERMS = 256;

/** Saturation of repeated query terms: n · (K3 + 1) / (n + K3). Okapi's value for long queries (TREC). */
const K3 = 7;

export interface CorpusSegment {
  readonly id: number;
  readonly segment: Segment;
  readonly deletions: Deletions;
  /** Cached live document frequencies, valid while `deleted` is unchanged. */
  readonly frequencies: { deleted: number; readonly live: Map<number, number> };
}

export interface QueryStem {
  readonly stem: string;
  /** Number of the query word: stems in several languages are one. Below 0: no word, only adds to scores. */
  readonly of: number;
  /** Weight of a guessed word, below 1. It has its own rarity. */
  readonly share?: number;
  /** Further words that another spelling covers: `wifi` stands for `wi fi`. */
  readonly also?: readonly number[];
}

export interface PlannedTerm {
  readonly term: string;
  readonly of: number;
  readonly also: readonly number[] | undefined;
  /** idf · (k1 + 1) over the corpus, times the weight of the term's count in the query. */
  readonly weight: number;
}

export interface QueryPlan {
  /** Known terms, heaviest first, then in query order. Scores are summed in this order. */
  readonly terms: readonly PlannedTerm[];
  readonly norm: LengthNorm;
  /** Weight of each word, including unknown ones; a guess has the weight of an unknown word. */
  readonly words: ReadonlyMap<number, number>;
}

export function corpusSegment(id: number, segment: Segment, deletions: Deletions): CorpusSegment {
  return { id, segment, deletions, frequencies: { deleted: 0, live: new Map() } };
}

/** Number of live documents and their total length in 1/UNITS. */
function corpusTotals(corpus: readonly CorpusSegment[]): { docs: number; totalLength: number } {
  let docs = 0;
  let totalLength = 0;
  for (const { segment, deletions } of corpus) {
    docs += segment.docs - deletedCount(deletions);
    totalLength += segment.totalLength - deletions.deletedLength[0];
  }
  return { docs, totalLength };
}

export function documentFrequency(corpus: readonly CorpusSegment[], term: string): number {
  if (isPair(term)) return corpus.reduce((df, member) => df + livePairs(member, term), 0);
  const find = termLookup(term);
  return corpus.reduce((df, member) => df + liveFrequency(member, find(member.segment.terms)), 0);
}

/** BM25's query factor for a term that occurs `count` times; 1 for once. */
export function queryTermWeight(count: number): number {
  return (count * (K3 + 1)) / (count + K3);
}

/** Weigh the query's terms by live statistics and counts. Shapes: repeated stems repeated. */
export function planQuery(corpus: readonly CorpusSegment[], query: readonly QueryStem[]): QueryPlan {
  const { docs, totalLength } = corpusTotals(corpus);
  const stems = new Map<string, QueryStem & { share: number; count: number; df: number }>();
  /** Sum over all stems of each word. */
  const ofWord = new Map<number, number>();
  for (const each of query) {
    const { stem, of, share = 1 } = each;
    const seen = stems.get(stem);
    if (seen !== undefined && (seen.share === 1 || share !== 1)) {
      seen.count++;
      continue;
    }
    const df = documentFrequency(corpus, stem);
    stems.set(stem, { ...each, share, count: 1, df });
    if (share === 1) ofWord.set(of, (ofWord.get(of) ?? 0) + df);
  }
  const terms: PlannedTerm[] = [];
  const words = new Map<number, number>();
  for (const [term, { of, also, share, count, df }] of stems) {
    const together = share === 1 ? Math.min(docs, ofWord.get(of) ?? 0) : df;
    const weight = docs === 0 ? 0 : queryTermWeight(count) * termWeight(docs, Math.max(1, together));
    if (of >= 0 && (share === 1 || !ofWord.has(of))) words.set(of, Math.max(weight, words.get(of) ?? 0));
    if (df > 0) terms.push({ term, of, also, weight: share * weight });
  }
  terms.sort((a, b) => Number(a.of < 0) - Number(b.of < 0) || b.weight - a.weight);
  return { terms: terms.slice(0, MAX_QUERY_TERMS), norm: lengthNorm({ docs, totalLength }), words };
}

function livePairs({ segment, deletions }: CorpusSegment, pair: string): number {
  const postings = pairPostings(segment, pair);
  return postings.reduce((live, posting) => live + (isDeleted(deletions, posting >>> 16) ? 0 : 1), 0);
}

/** Number of live documents of a segment with a term (-1: unknown). Cached until a deletion. */
function liveFrequency({ segment, deletions, frequencies }: CorpusSegment, term: number): number {
  if (term < 0) return 0;
  const start = segment.starts[term];
  const end = segment.starts[term + 1];
  const deleted = deletedCount(deletions);
  if (deleted === 0) return end - start;
  if (frequencies.deleted !== deleted) {
    frequencies.live.clear();
    frequencies.deleted = deleted;
  }
  let live = frequencies.live.get(term);
  if (live === undefined) {
    live = 0;
    for (let i = start; i < end; i++) if (!isDeleted(deletions, segment.postings[i] >>> 16)) live++;
    frequencies.live.set(term, live);
  }
  return live;
}
