/** Sends tasks to the searcher threads. The least busy one gets a task; a new one first gets segments and rows. */

import type { TextSketch } from '../compute/ranking/duplicate-pages.ts';
import type { Bitmap } from '../compute/structures/bitmap.ts';
import type { ScoredLabels } from '../compute/structures/top-k.ts';
import type { WordClause } from '../domain/query-clause.ts';
import type { MarkedPassage, MarkTask, NearestTask, RelatedTask } from '../threads/search-thread.ts';
import type { SharedPool } from '../threads/thread-pool.ts';
import type { IndexLog } from './index-log.ts';
import type { Candidates, Match, Retrieval } from './retrieve.ts';
import type { RelatedRow } from './vectors/row-graph.ts';
import type { SharedRows } from './vectors/vector-rows.ts';
import type { SegmentMember } from './words/segment.ts';

export type SearcherPool = SharedPool<typeof import('../threads/search-thread.ts')>;

let openings = 0;

export class Searchers {
  readonly #pools: readonly SearcherPool[];
  readonly #namespace: string;
  readonly #log: IndexLog;
  #members: readonly SegmentMember[] = [];
  readonly #rows = new Map<number, SharedRows>();
  readonly #renewals = new Map<SearcherPool, Promise<void>>();
  /** Rows that replaced others, by the numbers of those. */
  readonly #copies = new Map<number, number>();
  /** Graphs in use, by rows. Only the first searcher has them, and it gets the tasks that need them. */
  readonly #graphs = new Map<number, string>();
  /** Segment ids of each searcher after the last publication. */
  readonly #held = new Map<SearcherPool, ReadonlySet<number>>();

  /** `pools`: one pool per searcher, each of one thread. */
  constructor(pools: readonly SearcherPool[], namespace: string, log: IndexLog) {
    this.#pools = pools;
    this.#namespace = namespace;
    this.#log = log;
  }

  /** Make every searcher use exactly these segments. One publication runs at a time. Errors: those of the threads. */
  async publish(members: readonly SegmentMember[]): Promise<void> {
    this.#members = members;
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
    if (lacking.length > 0) await send(members.filter(({ id }) => lacking.includes(id)));
    this.#held.set(pool, new Set(ids));
  }

  /** Makes rows searchable until `closeRows`; returns their number. `before`: rows whose graph also serves these. */
  async openRows(shared: SharedRows, before: number | null = null): Promise<number> {
    const id = ++openings;
    this.#rows.set(id, shared);
    const graph = before === null ? undefined : this.#graphs.get(before);
    const opened = await Promise.allSettled(this.#pools.map((pool) => this.#openIn(pool, id, shared, before)));
    const failed = opened.find((each) => each.status === 'rejected');
    if (failed !== undefined) {
      await this.closeRows(id).catch(() => {});
      throw failed.reason;
    }
    if (graph !== undefined) this.#graphs.set(id, graph);
    if (before !== null) this.#copies.set(before, id);
    return id;
  }

  #openIn(pool: SearcherPool, id: number, shared: SharedRows, before: number | null): Promise<void> {
    const reader = 1 + this.#pools.indexOf(pool); // 0 is the writer
    return pool.run('openRows', { namespace: this.#namespace, id, shared, reader, before });
  }

  /** Use a checked graph file of these rows; false without the package. Errors: those of thread and file. */
  async openGraph(id: number, path: string): Promise<boolean> {
    const [owner] = this.#pools;
    const open = (searcher: SearcherPool, namespace: string) => searcher.run('openGraph', { namespace, id, path });
    const isUsed = await this.#askOf(owner, open, id);
    if (isUsed && this.#rows.has(id)) this.#graphs.set(id, path);
    return isUsed;
  }

  async closeGraph(id: number): Promise<void> {
    this.#graphs.delete(id);
    await this.#pools[0].run('closeGraph', { namespace: this.#namespace, id });
  }

  async closeRows(id: number): Promise<void> {
    this.#graphs.delete(id);
    if (!this.#rows.delete(id)) return;
    await Promise.all(this.#pools.map((pool) => pool.run('closeRows', { namespace: this.#namespace, id })));
  }

  async releaseMemory(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.run('releaseMemory', undefined)));
  }

  /** Passages for a query by words and, if given, a vector. Errors, also below: of threads; the signal's reason. */
  find(request: Retrieval, signal?: AbortSignal): Promise<Candidates> {
    const { vectors } = request;
    const ask = (searcher: SearcherPool, namespace: string, rows: number) => {
      const current = { ...request, vectors: vectors && { ...vectors, rows } };
      return searcher.run('find', { namespace, ...current }, { signal });
    };
    return this.#ask(ask, vectors?.rows);
  }

  /** The rows nearest to a vector, or to the mean of rows: best first, ties by label. */
  nearest(task: NearestTask, signal?: AbortSignal): Promise<ScoredLabels<Float32Array>> {
    const ask = (searcher: SearcherPool, namespace: string, rows: number) =>
      searcher.run('nearest', { namespace, ...task, rows }, { signal });
    return this.#ask(ask, task.rows);
  }

  /** Rows that are mutual near neighbours of at least one of these. */
  related(task: RelatedTask, signal?: AbortSignal): Promise<RelatedRow[]> {
    const ask = (searcher: SearcherPool, namespace: string, rows: number) =>
      searcher.run('related', { namespace, ...task, rows }, { signal });
    return this.#ask(ask, task.rows);
  }

  match(query: Match, signal?: AbortSignal): Promise<Bitmap> {
    const { vectors } = query;
    const ask = (searcher: SearcherPool, namespace: string, rows: number) =>
      searcher.run('match', { namespace, ...query, vectors: vectors && { ...vectors, rows } }, { signal });
    return this.#ask(ask, vectors?.rows);
  }

  /** Sketches of the pages with these labels, as of `sketchPages`. */
  sketch(labels: readonly number[], signal?: AbortSignal): Promise<ReadonlyMap<number, TextSketch>> {
    return this.#ask((searcher, namespace) => searcher.run('sketch', { namespace, labels }, { signal }));
  }

  /** Labels of passages matching each clause, ascending. */
  locate(clauses: readonly WordClause[], signal?: AbortSignal): Promise<Uint32Array[]> {
    return this.#ask((searcher, namespace) => searcher.run('locate', { namespace, clauses }, { signal }));
  }

  mark(task: MarkTask, signal?: AbortSignal): Promise<MarkedPassage[]> {
    return this.#ask((searcher, namespace) => searcher.run('mark', { namespace, ...task }, { signal }));
  }

  /** Ask the least busy searcher, or the one with the graph of `rows`. Ask again if its thread is new. */
  async #ask<Answer>(
    task: (searcher: SearcherPool, namespace: string, rows: number) => Promise<Answer | null>,
    rows = 0,
  ): Promise<Answer> {
    return this.#askOf(this.#graphs.has(rows) ? this.#pools[0] : this.#leastBusy(), task, rows);
  }

  async #askOf<Answer>(
    searcher: SearcherPool,
    task: (searcher: SearcherPool, namespace: string, rows: number) => Promise<Answer | null>,
    rows: number,
  ): Promise<Answer> {
    const answer = await task(searcher, this.#namespace, rows);
    if (answer !== null) return answer;
    await this.#renew(searcher);
    let current = rows;
    for (let copy = this.#copies.get(rows); copy !== undefined; copy = this.#copies.get(copy)) current = copy;
    const again = await task(searcher, this.#namespace, current);
    if (again === null) throw new Error('a searcher could not open its segments');
    return again;
  }

  /** Give a new thread everything, once for all tasks that found it new. */
  #renew(searcher: SearcherPool): Promise<void> {
    const running = this.#renewals.get(searcher);
    if (running !== undefined) return running;
    const renewal = this.#giveAll(searcher).finally(() => this.#renewals.delete(searcher));
    this.#renewals.set(searcher, renewal);
    return renewal;
  }

  async #giveAll(searcher: SearcherPool): Promise<void> {
    this.#log.warn({}, 'a searcher thread was lost: giving its successor segments and vectors');
    await this.#publishTo(searcher, this.#members);
    for (const [id, shared] of this.#rows) await this.#openIn(searcher, id, shared, null);
    if (searcher !== this.#pools[0]) return;
    // Until the graph is open, searches are exact.
    const namespace = this.#namespace;
    for (const [id, path] of this.#graphs) {
      searcher.run('openGraph', { namespace, id, path }).catch((error) => {
        this.#graphs.delete(id);
        this.#log.warn({ err: error }, 'a vector graph can no longer be used');
      });
    }
  }

  #leastBusy(): SearcherPool {
    return this.#pools.reduce((best, pool) => (pool.load < best.load ? pool : best));
  }
}
