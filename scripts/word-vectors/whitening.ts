/**
 * The linear map that makes weighted word vectors uncorrelated with unit variance in running text: without it a few common
 * directions (register, topic breadth) dominate every mean vector. Computed once, when the file of word vectors is made.
 * The symmetric root (ZCA) is used because it does not depend on signs and order of eigenvectors.
 */

/** Sweeps until rotations vanish; Jacobi on 100 dimensions needs 8 to 10. */
const MAX_SWEEPS = 30;
/** Directions with less than this part of the mean variance are not blown up further; GloVe's smallest is about 0.1. */
const SMALLEST_VARIANCE = 0.01;

/** C^(-1/2) of the covariance `covariance` (symmetric, dim × dim, row-major); the identity when it is zero. */
export function whiteningMatrix(covariance: Float64Array, dim: number): Float32Array {
  const rotated = Float64Array.from(covariance);
  const vectors = new Float64Array(dim * dim);
  let trace = 0;
  for (let k = 0; k < dim; k++) {
    vectors[k * dim + k] = 1;
    trace += covariance[k * dim + k];
  }
  const matrix = new Float32Array(dim * dim);
  if (!(trace > 0)) return Float32Array.from(vectors);
  diagonalize(rotated, vectors, dim, trace * 1e-14);
  for (let e = 0; e < dim; e++) {
    const variance = Math.max(rotated[e * dim + e], (SMALLEST_VARIANCE * trace) / dim);
    const scale = 1 / Math.sqrt(variance);
    for (let i = 0; i < dim; i++) {
      for (let j = 0; j < dim; j++) matrix[i * dim + j] += scale * vectors[i * dim + e] * vectors[j * dim + e];
    }
  }
  return matrix;
}

/** Cyclic Jacobi: `a` becomes diagonal, the columns of `vectors` its eigenvectors. Source: Golub & Van Loan, 8.5. */
function diagonalize(a: Float64Array, vectors: Float64Array, dim: number, negligible: number): void {
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    let rotations = 0;
    for (let p = 0; p < dim; p++) {
      for (let q = p + 1; q < dim; q++) {
        const off = a[p * dim + q];
        if (Math.abs(off) <= negligible) continue;
        rotations++;
        const theta = (a[q * dim + q] - a[p * dim + p]) / (2 * off);
        const tangent = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const cosine = 1 / Math.sqrt(tangent * tangent + 1);
        const sine = tangent * cosine;
        rotateColumns(a, dim, p, q, cosine, sine);
        rotateRows(a, dim, p, q, cosine, sine);
        rotateColumns(vectors, dim, p, q, cosine, sine);
      }
    }
    if (rotations === 0) return;
  }
}

function rotateColumns(m: Float64Array, dim: number, p: number, q: number, cosine: number, sine: number): void {
  for (let k = 0; k < dim; k++) rotate(m, k * dim + p, k * dim + q, cosine, sine);
}

function rotateRows(m: Float64Array, dim: number, p: number, q: number, cosine: number, sine: number): void {
  for (let k = 0; k < dim; k++) rotate(m, p * dim + k, q * dim + k, cosine, sine);
}

function rotate(m: Float64Array, at: number, other: number, cosine: number, sine: number): void {
  const x = m[at];
  const y = m[other];
  m[at] = cosine * x - sine * y;
  m[other] = sine * x + cosine * y;
}
