/**
 * Shared memory of some MB that lives as long as it is wanted and is then given back. A plain SharedArrayBuffer comes out of
 * malloc: once glibc has freed a large block it keeps those up to 32 MB in the arena of each thread, and a living block beside
 * them pins them there. After 30,000 chunks had been indexed that was a sixth of the resident memory (bench/results/2026-11-engine-memory.md). A growable one is
 * mapped by V8 itself and unmapped when it is collected; its maximum is its length, so it never grows.
 */
export function allocateSharedBytes(length: number): SharedArrayBuffer {
  return new SharedArrayBuffer(length, { maxByteLength: length });
}
