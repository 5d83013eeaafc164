/** A shard thread that can be told to end: what a thread that died looks like from outside, with no native code under way. */
export * from '../../../src/threads/shard-thread.ts';

export function end(): void {
  process.exit(1);
}
