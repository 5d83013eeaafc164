/**
 * The searcher threads as callers use them: each task goes to the one with the least to do, and a thread that was
 * replaced is given the segments again before it answers. A publication sends each thread those segments only that it lacks.
 * Runs on the main thread; owned by the sparse index.
 */

import type { QueryClause } from '../domain/query-clause.ts';
import type { Judged, JudgeTask, MarkTask, TextQuery, TextResult } from '../threads/search-thread.ts';
import type { SharedPool } from '../threads/thread-pool.ts';
import type { AnalyzedQuery } from './analyze-query.ts';
import type { Marked } from './highlight.ts';
import type { IndexLog } from './index-log.ts';
import type { SegmentMember } from './words/segment-members.ts';

export type SearcherPool = SharedPool<typeof import('../threads/search-thread.ts')>;

export class Searchers {
  readonly #pools: readonly SearcherPool[];
  readonly #namespace: string;
  readonly #republish: () => Promise<void>;
  readonly #log: IndexLog;
  /** Ids of the segments that each holds, as of the last publication. */
  readonly #held = new Map<SearcherPool, ReadonlySet<number>>();

  /** `pools`: of one pinned thread each; `republish`: publishes the segments of now. */
  constructor(pools: readonly SearcherPool[], namespace: string, republish: () => Promise<void>, log: IndexLog) {
    this.#pools = pools;
    this.#namespace = namespace;
    this.#republish = republish;
    this.#log = log;
  }

  /** Bring every searcher to these segments and no others. One publication at a time. Errors: those of the threads. */
  async publish(members: readonly SegmentMember[]): Promise<void> {
    await Promise.all(this.#pools.map((pool) => this.#publishTo(pool, members)));
  }

  async #publishTo(pool: SearcherPool, members: readonly SegmentMember[]): Promise<void> {
    const namespace = this.#namespace;
    const ids = members.map(({ id }) => id);
    const send = (chosen: readonly SegmentMember[]) => {
      const added = chosen.map(({ id, segment: { buffer: segment }, deletions: { buffer: deletions } }) => ({
        id,
        segment,
        deletions,
      }));
      return pool.run('publish', { namespace, ids, added });
    };
    const held = this.#held.get(pool);
    const lacking = await send(members.filter(({ id }) => !held?.has(id)));
    // A thread that was replaced holds none.
    if (lacking.length > 0) await send(members.filter(({ id }) => lacking.includes(id)));
    this.#held.set(pool, new Set(ids));
  }

  /** For quiet times: give back what is not in use. */
  async releaseMemory(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.run('releaseMemory', undefined)));
  }

  /** Analyse a query and search for its terms, in one trip to a searcher. Errors: those of the threads. */
  async find(text: TextQuery): Promise<TextResult> {
    const searcher = this.#leastBusy();
    const ask = () => searcher.run('find', { namespace: this.#namespace, ...text });
    return (await ask()) ?? this.#again(ask);
  }

  /** The labels of the passages that hold each of these, ascending. Errors: those of the threads. */
  async locate(clauses: readonly QueryClause[]): Promise<Uint32Array[]> {
    const searcher = this.#leastBusy();
    const ask = () => searcher.run('locate', { namespace: this.#namespace, clauses });
    return (await ask()) ?? this.#again(ask);
  }

  /** Where passages have the words of a query: as of `index.markPassages`. Errors: those of the threads. */
  async mark(task: MarkTask): Promise<Marked[]> {
    const searcher = this.#leastBusy();
    const ask = () => searcher.run('mark', { namespace: this.#namespace, ...task });
    return (await ask()) ?? this.#again(ask);
  }

  /** Ask a searcher again that had no snapshot. */
  async #again<Answer>(ask: () => Promise<Answer | null>): Promise<Answer> {
    this.#log.warn({}, 'a searcher thread was lost: giving its successor the segments');
    await this.#republish();
    const again = await ask();
    if (again === null) throw new Error('a searcher did not take the segments it was given');
    return again;
  }

  /** Candidates judged: as of the task. Errors: those of the threads. */
  async judge(
    forms: AnalyzedQuery['forms'],
    candidates: JudgeTask['candidates'],
    wants: JudgeTask['wants'],
  ): Promise<Judged> {
    const searcher = this.#leastBusy();
    const ask = () => searcher.run('judge', { namespace: this.#namespace, forms, candidates, wants });
    return (await ask()) ?? this.#again(ask);
  }

  #leastBusy(): SearcherPool {
    return this.#pools.reduce((best, pool) => (pool.load < best.load ? pool : best));
  }
}
