/** A test that needs graphs: where `hnswlib-node` is not installed it says so and is skipped. */
import { type TestContext, test } from 'node:test';
import { graphLibraryFault } from '../../src/threads/shard-graph.ts';

export function graphTest(name: string, run: (t: TestContext) => void | Promise<void>): void {
  test(name, { skip: graphLibraryFault() ?? false }, run);
}
