/** V8 does not count shared memory: a thread that allocates little would keep hundreds of MB of merged segments. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** 10 to 40 ms for a thread with the language model. */
export function collectGarbage(): void {
  if (collect === undefined) {
    // The flag is read when a context is created; nothing else changes.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}

/** The second collection returns pages that the first emptied: 38 to 49 MB for 13 MB of old objects after indexing. */
export function giveBackMemory(): void {
  collectGarbage();
  collectGarbage();
}
