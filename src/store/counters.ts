/** Sequence numbers of records. Taken inside the transaction that uses them, so a number is never given twice. */
import type { Environment, Table } from './environment.ts';

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
  /** What the transaction under way has taken; null outside of one. */
  #taken: Map<CounterName, number> | null = null;

  constructor(environment: Environment) {
    this.#numbers = environment.openDatabase('counters', {});
  }

  /** The next number not yet taken. Numbers start at 1, so that 0 may mean none. */
  peek(name: CounterName): number {
    return this.#taken?.get(name) ?? this.#numbers.get(name) ?? 1;
  }

  /** Writer only: do the work of a transaction, in it. Numbers are written at its end, once however many were taken. */
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

  /** Writer only: take `count` numbers in a row; the first is returned. */
  take(name: CounterName, count = 1): number {
    const first = this.peek(name);
    this.#put(name, first + count);
    return first;
  }

  /** Writer only: make sure that the next number is above `last`: repair only. */
  raiseAbove(name: CounterName, last: number): void {
    if (this.peek(name) <= last) this.#put(name, last + 1);
  }

  #put(name: CounterName, next: number): void {
    if (this.#taken === null) this.#numbers.put(name, next);
    else this.#taken.set(name, next);
  }
}
