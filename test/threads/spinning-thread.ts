/** A thread entry for the tests of the pool: a counter that it keeps, and work that takes a given time, or until it is let go on. */
import { beginTask, type Limited, moved, threadData } from '../../src/threads/thread-pool.ts';

let count = threadData<{ base: number }>().base;

export function next(): number {
  return ++count;
}

let kept = new Float32Array(0);

/** Numbers that are moved to the caller. */
export function give(length: number): Float32Array {
  kept = new Float32Array(length).fill(length);
  return moved(kept, [kept.buffer]);
}

/** How many of the numbers given last are still here. */
export function left(): number {
  return kept.length;
}

export function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Works until the first number of the shared memory is no 0 any more. */
export function hold(gate: Int32Array): void {
  Atomics.wait(gate, 0, 0);
}

/** Waits likewise and lets other tasks run; counts in the second number. */
export async function wait(gate: Int32Array): Promise<void> {
  Atomics.add(gate, 1, 1);
  const waiting = Atomics.waitAsync(gate, 0, 0);
  if (waiting.async) await waiting.value;
}

/** Works for so long, says when it begins, and may wait before. */
export function beginAndSpin(request: { idleMs: number; ms: number } & Limited): string {
  beginTask(request);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, request.idleMs);
  spin(request.ms);
  return 'done';
}
