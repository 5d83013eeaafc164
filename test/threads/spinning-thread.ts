/** A thread entry for the tests of the pool: a counter that it keeps, and work that takes a given time. */
import { type Telling, tell, threadData } from '../../src/threads/thread-pool.ts';

let count = threadData<{ base: number }>().base;

export function next(): number {
  return ++count;
}

export function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Tells the count, and then works. */
export function tellAndSpin(request: { ms: number } & Telling): string {
  tell(request, ++count);
  spin(request.ms);
  return 'done';
}
