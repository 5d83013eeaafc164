/**
 * How long something takes, held against a bound. Whatever else a machine does only adds to it, a pause of the process as well as a
 * collection of garbage, so it is tried again where it was too long: what is too slow by itself is so each time.
 */
import assert from 'node:assert/strict';

const tries = 3;

/** What is timed, after something that is not; it is given what that gave. */
interface Timed<Prepared> {
  before: () => Promise<Prepared>;
  run: (prepared: Prepared) => unknown;
}

/** Run it until it took less than `ms`, three times at most; gives how long it took at least, ms. Errors: of `run`; when all were too long. */
export async function within<Prepared>(
  ms: number,
  timed: (() => unknown) | Timed<Prepared>,
  what = '',
): Promise<number> {
  const { before, run } = typeof timed === 'function' ? { before: async () => undefined, run: timed } : timed;
  let shortest = Number.POSITIVE_INFINITY;
  for (let count = 0; count < tries && shortest >= ms; count++) {
    const prepared = await before();
    const began = performance.now();
    await run(prepared as Prepared);
    shortest = Math.min(shortest, performance.now() - began);
  }
  assert.ok(shortest < ms, `${Math.round(shortest)} ms, not less than ${ms} ms ${what}`.trimEnd());
  return shortest;
}
