/**
 * Retrieves candidates for searches of the service and of `SearchIndex`: words first, then vectors. Each is one round trip to a thread,
 * which costs as much as the work; in parallel they would need another trip for the cosines of word hits. The caller decides which
 * labels are allowed.
 *
 *   query ─┬─ searcher: analyse, BM25F ─┬─ shards: cosine, floor; cosines of word hits ─ relevance
 *          └─ the model: embed ─────────┘
 */
import type { Bitmap } from '../compute/structures/bitmap.ts';
import type { Correction } from '../domain/search.ts';
import { nearnessOf, relevance } from './relevance.ts';
import type { Searchers } from './searchers.ts';
import type { VectorSpace } from './vectors/vector-space.ts';

export interface RetrievalParts {
  searchers: Searchers;
  /** Vectors of the query's model. */
  vectors: Pick<VectorSpace, 'candidates'>;
  /** ms. */
  monotonic: () => number;
}

export interface Retrieval {
  query: string;
  /** Whether its last word may be unfinished. */
  prefix?: boolean;
  /** Whether unknown words are corrected; false while the index is incomplete. */
  spelling: boolean;
  /** The query's vector or null; the word search does not wait for it. */
  vector: Promise<Float32Array | null>;
  /** Candidates of each side. */
  k: number;
  /** Only these labels. */
  allow?: Bitmap | undefined;
  /** Further sets of labels; each adds its best `k` to the candidates. */
  alsoAmong?: { words: readonly Bitmap[]; vectors: readonly Bitmap[] };
  /** Cosine of unrelated texts for the model, the minimum for hits; null if unknown. */
  floor: number | null;
  relevance: boolean;
  /** Checked between two thread tasks. */
  signal?: AbortSignal | undefined;
}

/** One side's hits, best first, ties by label; aligned arrays. */
export interface RankedChunks {
  labels: Uint32Array;
  scores: ArrayLike<number>;
}

export interface Candidates {
  sparse: RankedChunks;
  dense: RankedChunks;
  /** ISO 639-1. */
  language: string;
  /** Largest share of the query's weight in one sparse hit, 0 to 1. */
  covered: number;
  /** Of the sparse hits, aligned: NaN without a vector; null for a query without one. */
  cosines: Float32Array | null;
  /** Relevance of each candidate, 0 to 1; null if not requested. */
  relevance: RankedChunks | null;
  stems: string[];
  /** Words of the query without stop words. */
  askedWords: number;
  /** Unknown words and their replacements. */
  corrected: Correction[];
  timing_ms: Record<string, number>;
}

const noHits: RankedChunks = { labels: new Uint32Array(0), scores: new Float32Array(0) };

/** For a query that may find nothing. */
export const noCandidates: Candidates = {
  sparse: noHits,
  dense: noHits,
  language: '',
  covered: 0,
  cosines: null,
  relevance: null,
  stems: [],
  askedWords: 0,
  corrected: [],
  timing_ms: {},
};

/** Errors: those of the threads, of `vector`; BadVectorError; the signal's reason. */
export async function retrieve(
  { searchers, vectors, monotonic }: RetrievalParts,
  request: Retrieval,
): Promise<Candidates> {
  const { query, prefix = false, spelling, k, allow, alsoAmong, floor, signal } = request;
  const began = monotonic();
  const asked = {
    ...{ query, k, spelling, prefix },
    ...(allow !== undefined && { allow }),
    ...(alsoAmong !== undefined && alsoAmong.words.length > 0 && { alsoAmong: alsoAmong.words }),
  };
  const embedding = request.vector.then((vector) => ({ vector, ms: monotonic() - began }));
  const [words, { vector, ms: embed }] = await Promise.all([searchers.find(asked, signal), embedding]);
  const answered = monotonic();
  const { analyzed, found, searchMs } = words;
  const lists = [found, ...words.alsoAmong];
  const sparse = mergeHits(found, words.alsoAmong);
  const near =
    vector === null
      ? null
      : await vectors.candidates(
          {
            vectors: [vector],
            k,
            minScore: floor ?? -1,
            among: [allow ?? null, ...(alsoAmong?.vectors ?? [])],
            labels: sparse.labels,
          },
          signal,
        );
  const cosineOf = new Map(near === null ? [] : Array.from(near.labels, (label, row) => [label, near.cosines[0][row]]));
  const [anywhere = noHits, ...others] = near?.found ?? [];
  const dense = mergeHits(anywhere, others);
  const cosines = near === null ? null : Float32Array.from(sparse.labels, (label) => cosineOf.get(label) ?? Number.NaN);
  const timing_ms: Record<string, number> = {
    analyze: answered - began - searchMs,
    sparse: searchMs,
    dense: monotonic() - answered,
    embed,
  };
  const { language, corrected } = analyzed;
  const askedWords = new Set(analyzed.forms.flatMap(({ of }) => (of >= 0 ? [of] : []))).size;
  const stems = [...new Set(analyzed.forms.filter(({ of }) => of >= 0).map(({ stem }) => stem))];
  const covered = new Map(lists.flatMap((each) => Array.from(each.labels, (label, at) => [label, each.covered[at]])));
  const judged = request.relevance ? judge(covered, { sparse, dense, cosines, floor }) : null;
  const most = Math.max(0, ...covered.values());
  return {
    sparse,
    dense,
    covered: most,
    cosines,
    language,
    relevance: judged,
    stems,
    askedWords,
    corrected,
    timing_ms,
  };
}

function judge(
  covered: ReadonlyMap<number, number>,
  { sparse, dense, cosines, floor }: Pick<Candidates, 'sparse' | 'dense' | 'cosines'> & { floor: number | null },
): RankedChunks {
  const cosineOf = new Map(Array.from(dense.labels, (label, at) => [label, dense.scores[at]]));
  for (const [at, label] of sparse.labels.entries()) cosineOf.set(label, cosines?.[at] ?? Number.NaN);
  const scores = Float64Array.from(cosineOf, ([label, cosine]) =>
    relevance({ covered: covered.get(label) ?? 0, nearness: nearnessOf(cosine, floor) }),
  );
  return { labels: Uint32Array.from(cosineOf.keys()), scores };
}

/** Merges lists with comparable scores; each label once. */
function mergeHits(some: RankedChunks, others: readonly RankedChunks[]): RankedChunks {
  const more = others.filter(({ labels }) => labels.length > 0);
  if (more.length === 0) return some;
  const scores = new Map<number, number>();
  for (const hits of [some, ...more])
    for (const [at, label] of hits.labels.entries()) scores.set(label, hits.scores[at]);
  const hits = [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || a - b);
  return { labels: Uint32Array.from(hits, ([label]) => label), scores: Float64Array.from(hits, ([, score]) => score) };
}
