/**
 * What a search runs over: the segments of a snapshot with their deletions, and the statistics of their live documents.
 * Statistics are taken when a query is planned, never stored in postings; so the scores are those of one index over the
 * live documents, however these are spread over segments.
 */
import { type TermTable, termLookup } from '../../compute/structures/term-table.ts';
import { type LengthNorm, lengthNorm, termWeight, UNITS } from './bm25f.ts';
import { type Deletions, deletedCount, isDeleted } from './deletions.ts';
import type { Segment } from './segment.ts';

/** More distinct known terms than this keep the rarest: a query of 4,000 characters has at most 2,000, one of 256 words is a page. */
const MAX_QUERY_TERMS = 256;

/** Saturation of repeated query terms: a term named n times counts n · (K3 + 1) / (n + K3). Okapi's value for long queries (TREC). */
const K3 = 7;

export interface CorpusSegment {
  readonly id: number;
  readonly segment: Segment;
  readonly deletions: Deletions;
  /** Live document frequencies of terms asked for, valid while the number of deletions is `deleted`. */
  readonly frequencies: { deleted: number; readonly live: Map<number, number> };
}

/** A stem to search for. */
export interface QueryStem {
  readonly stem: string;
  /**
   * Which word of the query it is of: stems of one word, each in another language, are one term that occurs where any of them does,
   * so that a stem is no rarer for being of a language that few texts are in. Below 0: of none, it adds to the score alone.
   */
  readonly of: number;
  /** Below 1: a guess at what was meant, which weighs so much and is as rare as it is by itself. */
  readonly share?: number;
}

/** Stems that are each a word of its own. */
export function eachAWord(stems: readonly string[]): QueryStem[] {
  const words = [...new Set(stems)];
  return stems.map((stem) => ({ stem, of: words.indexOf(stem) }));
}

export interface PlannedTerm {
  readonly term: string;
  /** As of a QueryStem. */
  readonly of: number;
  /** idf · (k1 + 1) over the whole corpus, times what the term's count in the query makes it weigh. */
  readonly weight: number;
}

export interface QueryPlan {
  /** Known terms, the heaviest first, in the query's order among equals. Scores are summed in this order. */
  readonly terms: readonly PlannedTerm[];
  readonly norm: LengthNorm;
  /** Live documents that hold the word of a stem. */
  readonly frequencies: ReadonlyMap<string, number>;
  /** What each word of the query weighs, also one that no live document holds; of what is only a guess as if it were none. */
  readonly words: ReadonlyMap<number, number>;
  /** Distinct query terms that occur in a live document. */
  readonly known: number;
}

/** A segment as a member of a corpus, with an empty frequency cache. */
export function corpusSegment(id: number, segment: Segment, deletions: Deletions): CorpusSegment {
  return { id, segment, deletions, frequencies: { deleted: 0, live: new Map() } };
}

export interface CorpusTotals {
  /** Live documents. */
  docs: number;
  /** In 1/UNITS. */
  totalLength: number;
  /** In occurrences: of a document, weighted as BM25F does, and of the words in its title. 0 without documents. */
  meanLength: number;
  meanTitleLength: number;
}

export function corpusTotals(corpus: readonly CorpusSegment[]): CorpusTotals {
  let docs = 0;
  let totalLength = 0;
  let totalTitleLength = 0;
  for (const { segment, deletions } of corpus) {
    docs += segment.docs - deletedCount(deletions);
    totalLength += segment.totalLength - deletions.deletedLength[0];
    totalTitleLength += segment.totalTitleLength - deletions.deletedTitleLength[0];
  }
  const mean = (total: number) => (docs === 0 ? 0 : total / docs);
  return { docs, totalLength, meanLength: mean(totalLength / UNITS), meanTitleLength: mean(totalTitleLength) };
}

/** Live documents with a term. */
export function documentFrequency(corpus: readonly CorpusSegment[], term: string): number {
  return documentFrequencyBy(corpus, termLookup(term));
}

/** Live documents with the term that `find` gives the id of in a segment's dictionary, -1 for none. */
export function documentFrequencyBy(corpus: readonly CorpusSegment[], find: (terms: TermTable) => number): number {
  let df = 0;
  for (const member of corpus) df += liveFrequency(member, find(member.segment.terms));
  return df;
}

/** What a term weighs that is `count` times in the query, 1 for once: BM25's factor of the query. */
export function queryTermWeight(count: number): number {
  return (count * (K3 + 1)) / (count + K3);
}

/** Weigh the query's terms by the corpus' live statistics and by how often the query names them. Shapes: repeated stems repeated. */
export function planQuery(corpus: readonly CorpusSegment[], query: readonly QueryStem[]): QueryPlan {
  const { docs, totalLength } = corpusTotals(corpus);
  const stems = new Map<string, { of: number; share: number; count: number; df: number }>();
  /** Of each word, of all its stems. */
  const ofWord = new Map<number, number>();
  for (const { stem, of, share = 1 } of query) {
    const seen = stems.get(stem);
    if (seen !== undefined && (seen.share === 1 || share < 1)) {
      seen.count++;
      continue;
    }
    const df = documentFrequency(corpus, stem);
    stems.set(stem, { of, share, count: 1, df });
    if (share === 1) ofWord.set(of, (ofWord.get(of) ?? 0) + df);
  }
  const terms: PlannedTerm[] = [];
  const frequencies = new Map<string, number>();
  const words = new Map<number, number>();
  for (const [term, { of, share, count, df }] of stems) {
    const together = share === 1 ? Math.min(docs, ofWord.get(of) ?? 0) : df;
    frequencies.set(term, together);
    const weight = docs === 0 ? 0 : queryTermWeight(count) * termWeight(docs, Math.max(1, together));
    if (of >= 0 && (share === 1 || !ofWord.has(of))) words.set(of, Math.max(weight, words.get(of) ?? 0));
    if (df > 0) terms.push({ term, of, weight: share * weight });
  }
  const known = terms.length;
  terms.sort((a, b) => Number(a.of < 0) - Number(b.of < 0) || b.weight - a.weight);
  return { terms: terms.slice(0, MAX_QUERY_TERMS), norm: lengthNorm({ docs, totalLength }), frequencies, words, known };
}

/** Number of live documents of a segment that hold a term (-1: an unknown one). Counted once per state of the deletions. */
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
