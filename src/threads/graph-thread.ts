/** Entry of the thread that builds neighbour graphs for space-graph.ts. Ends when idle, which frees them. */
export { growGraph } from '../engine/vectors/graph-file.ts';
