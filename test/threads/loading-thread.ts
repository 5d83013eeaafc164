/** A thread that loads until it is let go, or cannot be loaded. */
import { threadData } from '../../src/threads/thread-pool.ts';

/** The second is set when loading has begun, the first when it may end; null: it fails. */
const { closed } = threadData<{ closed: Int32Array | null }>();
if (closed === null) throw new Error('this module cannot be loaded');
Atomics.store(closed, 1, 1);
await Atomics.waitAsync(closed, 0, 0).value;

export function answer(): string {
  return 'loaded';
}
