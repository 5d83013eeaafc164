/**
 * The searcher threads as those see them who search: each task goes to the one with the least to do, and a thread that was
 * replaced is given the segments again before it answers. Runs on the main thread; owned by the indexes.
 */
import type { AnalyzedQuery } from '../threads/analyze-query.ts';
import type { CandidateScores } from '../threads/rerank-candidates.ts';
import type { SparseQuery, SparseResult } from '../threads/sparse-searcher.ts';
import type { ThreadPool } from '../threads/thread-pool.ts';
import type { IndexLog } from './index-log.ts';

export type SearcherPool = ThreadPool<typeof import('../threads/search-thread.ts')>;

export class Searchers {
  readonly #pools: readonly SearcherPool[];
  readonly #republish: () => Promise<void>;
  readonly #log: IndexLog;

  /** `republish` brings every searcher to the present snapshot. */
  constructor(pools: readonly SearcherPool[], republish: () => Promise<void>, log: IndexLog) {
    this.#pools = pools;
    this.#republish = republish;
    this.#log = log;
  }

  /** What there is to search for in a query, and its vector by the embedded model of `dim` dimensions. Errors: those of the threads. */
  analyze(query: string, dim: number | null): Promise<AnalyzedQuery> {
    return this.#leastBusy().run('analyze', { query, dim });
  }

  /** The best chunks by BM25F. Errors: those of the threads. */
  async search(query: SparseQuery): Promise<SparseResult> {
    const searcher = this.#leastBusy();
    const found = await searcher.run('search', query);
    if (found !== null) return found;
    this.#log.warn({}, 'a searcher thread was lost: giving its successor the segments');
    await this.#republish();
    const again = await searcher.run('search', query);
    if (again === null) throw new Error('a searcher did not take the segments it was given');
    return again;
  }

  /** Scores of candidates by the local reranker, in their order; null when it cannot say. Errors: those of the threads. */
  rerank(forms: AnalyzedQuery['forms'], candidates: CandidateScores): Promise<Float64Array | null> {
    return this.#leastBusy().run('rerank', { forms, ...candidates });
  }

  #leastBusy(): SearcherPool {
    return this.#pools.reduce((best, pool) => (pool.load < best.load ? pool : best));
  }
}
