/** Sequence numbers of records. Taken inside the transaction that uses them, so a number is never given twice. */
import type { Database } from 'lmdb';
import type { Environment } from './environment.ts';

export type CounterName = 'page' | 'job' | 'label' | 'blacklist' | 'watch' | 'claim' | 'space' | 'query' | 'opstamp';

export class Counters {
  readonly #numbers: Database<number, string>;

  constructor(environment: Environment) {
    this.#numbers = environment.openDatabase('counters', {});
  }

  /** The next number not yet taken. Numbers start at 1, so that 0 may mean none. */
  peek(name: CounterName): number {
    return this.#numbers.get(name) ?? 1;
  }

  /** Writer only: take `count` numbers in a row; the first is returned. */
  take(name: CounterName, count = 1): number {
    const first = this.peek(name);
    this.#numbers.put(name, first + count);
    return first;
  }

  /** Writer only: make sure that the next number is above `last`: repair only. */
  raiseAbove(name: CounterName, last: number): void {
    if (this.peek(name) <= last) this.#numbers.put(name, last + 1);
  }
}
