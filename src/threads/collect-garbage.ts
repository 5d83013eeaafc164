/**
 * Collects a thread's garbage at a moment of our choosing. V8 counts no shared memory: a thread that allocates little, as a
 * searcher does while pages are indexed, keeps the merged segments it was shown for as long as it likes, hundreds of MB.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** A full collection: 10 to 40 ms for a thread with the language model. */
export function collectGarbage(): void {
  if (collect === undefined) {
    // The flag is read when a context is made; nothing else changes by it.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}

/**
 * For quiet times: collect twice, since the pages that the first collection empties are given back by the second. After
 * indexing a work thread had 38 to 49 MB of pages for 13 MB of old objects (bench/results/2026-11-engine-memory.md).
 */
export function giveBackMemory(): void {
  collectGarbage();
  collectGarbage();
}
