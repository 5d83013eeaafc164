/** Entry of the thread that builds neighbour graphs; called by src/engine/vectors/space-graph.ts. Ends when idle, which frees them. */
export { growGraph } from '../engine/vectors/graph-file.ts';
