/** Entry of the thread that builds neighbour graphs; called by src/engine/vectors/vector-space.ts. Ends when idle, which frees them. */
export { growGraph, isIntact } from '../engine/vectors/graph-file.ts';
