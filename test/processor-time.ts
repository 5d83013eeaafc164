/**
 * What something costs, told on any machine: how it grows with what it is given. Counted is the processor's time of this process, so
 * that nothing else that the machine does is in it; a collection of garbage is, so the least of some tries counts.
 */
import assert from 'node:assert/strict';

/** How much more the larger one of two inputs is. In proportion means about 8 times the time; by the square, 64 times. */
const growth = 8;
/** Between the two, and nearer to the square: what is kept of the larger one outlives collections, whose threads are counted, too (28 times was seen). */
const mostGrowth = 40;
const tries = 5;
/** Of the larger one, which falls to a collection more often; the first that is in proportion ends them. */
const largeTries = 25;
/**
 * What is done in less, for inputs of tens of thousands, does not go by their square, ms: that would be 100 million steps and more. What fits a cache
 * in the smaller input only, or is collected in the larger one only, takes 40 times as long on some machines, and tens of ms at most.
 */
const noiseMs = 100;

/** The least processor time that it took in some tries, ms; after a first one that is not counted. */
export function leastProcessorMs(run: () => unknown, count = tries): number {
  run();
  let least = Number.POSITIVE_INFINITY;
  for (let no = 0; no < count; no++) least = Math.min(least, processorMs(run));
  return least;
}

/** The processor time that it takes once, ms. */
export function processorMs(run: () => unknown): number {
  const began = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

/**
 * Assert that the time of `run` grows about as its input does. `inputOf` makes an input of a size, outside of what is counted.
 * Errors: of `run`; when an input of `size` takes far more than 8 times what one of an eighth takes.
 */
export function assertGrowsInProportion<Input>(
  size: number,
  inputOf: (size: number) => Input,
  run: (input: Input) => unknown,
  what = '',
  mostTries = largeTries,
): void {
  const large = inputOf(size);
  let small: Input | undefined;
  let said = '';
  for (let no = 0; no < mostTries; no++) {
    const largeMs = processorMs(() => run(large));
    if (largeMs <= noiseMs) return;
    // Anew each time: a machine that becomes busy meanwhile is slower with both.
    small ??= inputOf(Math.ceil(size / growth));
    const input = small;
    const smallMs = leastProcessorMs(() => run(input));
    if (largeMs <= smallMs * mostGrowth) return;
    said = `${largeMs.toFixed(1)} ms for ${growth} times what takes ${smallMs.toFixed(1)} ms`;
  }
  assert.fail(`${said}: ${what}`);
}
