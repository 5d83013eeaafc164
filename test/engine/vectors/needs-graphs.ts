/** Options of a test that needs graphs: where `hnswlib-node` is not installed it says so and is skipped. */
import { graphLibraryFault } from '../../../src/engine/vectors/shard-graph.ts';

export const needsGraphs = { skip: graphLibraryFault() ?? false };
