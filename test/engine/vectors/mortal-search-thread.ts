/** A searcher thread that can be told to end: what a thread that died looks like from outside, with no native code under way. */
export * from '../../../src/threads/search-thread.ts';

export function end(): void {
  process.exit(1);
}
