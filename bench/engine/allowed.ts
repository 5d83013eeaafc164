/** The filters of the engine bench: a fixed pseudo-random share of the chunks, known to every engine as a number per chunk. */

/** Shares of the chunks that a filter allows. */
export const SHARES = [0.5, 0.1, 0.01, 0.001];

const BUCKETS = 10_000;

/** Uniform in 0..9,999, by the chunk's number alone. */
export function bucketOf(chunk: number): number {
  let mixed = Math.imul(chunk + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % BUCKETS;
}

/** Buckets below this are allowed by the filter of a share. */
export function bucketsOf(share: number): number {
  return Math.round(share * BUCKETS);
}
