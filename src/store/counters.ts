/** Sequence numbers of records. Each is taken by the transaction that uses it, so they are unique. */
import type { Databases, Table } from './environment.ts';

export type CounterName =
  | 'page'
  | 'job'
  | 'label'
  | 'blacklist'
  | 'watch'
  | 'claim'
  | 'space'
  | 'query'
  | 'cluster'
  | 'cluster_run'
  | 'opstamp'
  | 'entity'
  | 'merge';

export class Counters {
  readonly #numbers: Table<number, string>;
  /** Numbers taken by the current transaction; null outside of one. */
  #taken: Map<CounterName, number> | null = null;

  constructor(environment: Databases) {
    this.#numbers = environment.openDatabase('counters', {});
  }

  /** Numbers start at 1, so 0 can mean none. */
  peek(name: CounterName): number {
    return this.#taken?.get(name) ?? this.#numbers.get(name) ?? 1;
  }

  /** Writer only: runs a transaction's work, then stores the counters once. */
  during(work: () => void): void {
    const taken = new Map<CounterName, number>();
    this.#taken = taken;
    try {
      work();
      for (const [name, next] of taken) this.#numbers.put(name, next);
    } finally {
      this.#taken = null;
    }
  }

  /** Writer only: take `count` consecutive numbers; returns the first. */
  take(name: CounterName, count = 1): number {
    const first = this.peek(name);
    if (this.#taken === null) this.#numbers.put(name, first + count);
    else this.#taken.set(name, first + count);
    return first;
  }
}
