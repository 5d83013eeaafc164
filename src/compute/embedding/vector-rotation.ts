/**
 * A fixed rotation of vectors that spreads every component over all dimensions (random signs and fast Hadamard transforms), so
 * that the sign of each says about equally much. Lengths and angles stay as they are. Same dimension, same rotation, for ever:
 * stored rows depend on it.
 * Source: Ailon & Chazelle 2009, "The fast Johnson-Lindenstrauss transform"; Gao & Long 2024 (RaBitQ), for signs of it.
 */
export interface Rotation {
  /** Write the rotated source[offset .. offset + dim) to target[0 .. dim). */
  rotate(source: Float32Array, offset: number, target: Float32Array): void;
}

const SEED = 0x2545f491;

/** The rotation of `dim` dimensions: one transform if dim is a power of two; else two that overlap, twice. */
export function openRotation(dim: number): Rotation {
  const width = 2 ** Math.floor(Math.log2(dim));
  const starts = width === dim ? [0] : [0, dim - width, 0, dim - width];
  const rounds = starts.map((start, round) => ({ start, signs: randomSigns(dim, SEED + round) }));
  return {
    rotate(source, offset, target) {
      for (let i = 0; i < dim; i++) target[i] = source[offset + i];
      for (const { start, signs } of rounds) {
        for (let i = 0; i < dim; i++) target[i] *= signs[i];
        hadamard(target, start, width);
      }
    },
  };
}

/** In place over values[start .. start + width), width a power of two; lengths are kept. */
function hadamard(values: Float32Array, start: number, width: number): void {
  for (let half = 1; half < width; half *= 2) {
    for (let group = start; group < start + width; group += 2 * half) {
      for (let i = group; i < group + half; i++) {
        const first = values[i];
        const second = values[i + half];
        values[i] = first + second;
        values[i + half] = first - second;
      }
    }
  }
  const scale = 1 / Math.sqrt(width);
  for (let i = start; i < start + width; i++) values[i] *= scale;
}

/** xorshift32. */
function randomSigns(dim: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: dim }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state < 0 ? -1 : 1;
  });
}
