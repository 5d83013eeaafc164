/**
 * The searcher threads for callers: each task goes to the least busy one, and a replaced thread gets the segments again before it
 * answers. A publication sends each thread only the segments it lacks. Runs on the main thread; owned by the sparse index.
 */

import type { QueryClause } from '../domain/query-clause.ts';
import type { MarkTask, TextQuery, TextResult } from '../threads/search-thread.ts';
import type { SharedPool } from '../threads/thread-pool.ts';
import type { Marked } from './highlight.ts';
import type { IndexLog } from './index-log.ts';
import type { SegmentMember } from './words/segment-members.ts';

export type SearcherPool = SharedPool<typeof import('../threads/search-thread.ts')>;

export class Searchers {
  readonly #pools: readonly SearcherPool[];
  readonly #namespace: string;
  readonly #republish: () => Promise<void>;
  readonly #log: IndexLog;
  /** Segment ids of each searcher, as of the last publication. */
  readonly #held = new Map<SearcherPool, ReadonlySet<number>>();

  /** `pools`: one pinned thread each; `republish`: publishes the current segments. */
  constructor(pools: readonly SearcherPool[], namespace: string, republish: () => Promise<void>, log: IndexLog) {
    this.#pools = pools;
    this.#namespace = namespace;
    this.#republish = republish;
    this.#log = log;
  }

  /** Make every searcher use exactly these segments. One publication at a time. Errors: those of the threads. */
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
    // A replaced thread has none.
    if (lacking.length > 0) await send(members.filter(({ id }) => lacking.includes(id)));
    this.#held.set(pool, new Set(ids));
  }

  /** Free unused memory, in quiet times. */
  async releaseMemory(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.run('releaseMemory', undefined)));
  }

  /** Analyse a query and search, in one round trip. Errors, also below: those of the threads, the signal's reason. */
  find(text: TextQuery, signal?: AbortSignal): Promise<TextResult> {
    return this.#ask((searcher, namespace) => searcher.run('find', { namespace, ...text }, { signal }));
  }

  /** Labels of passages matching each clause, ascending. */
  locate(clauses: readonly QueryClause[], signal?: AbortSignal): Promise<Uint32Array[]> {
    return this.#ask((searcher, namespace) => searcher.run('locate', { namespace, clauses }, { signal }));
  }

  /** As of `index.markPassages`. */
  mark(task: MarkTask, signal?: AbortSignal): Promise<Marked[]> {
    return this.#ask((searcher, namespace) => searcher.run('mark', { namespace, ...task }, { signal }));
  }

  /** Ask the least busy searcher, and again if it had no snapshot. */
  async #ask<Answer>(task: (searcher: SearcherPool, namespace: string) => Promise<Answer | null>): Promise<Answer> {
    const searcher = this.#leastBusy();
    const answer = await task(searcher, this.#namespace);
    if (answer !== null) return answer;
    this.#log.warn({}, 'a searcher thread was lost: giving its successor the segments');
    await this.#republish();
    const again = await task(searcher, this.#namespace);
    if (again === null) throw new Error('a searcher did not take the segments it was given');
    return again;
  }

  #leastBusy(): SearcherPool {
    return this.#pools.reduce((best, pool) => (pool.load < best.load ? pool : best));
  }
}
