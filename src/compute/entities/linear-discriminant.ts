/**
 * Fisher's linear discriminant with a shrunken pooled covariance: a closed form, so fitting is deterministic and needs no tuning.
 * Source: Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 4.3.
 */

/** Part of the mean variance that is added to every direction: with some hundred samples of a class the covariance is noisy. */
const shrinkage = 0.1;

/**
 * Fit to samples by class; classes count alike, whatever their number of samples.
 * Shapes: `samples[class][i]` has length `dim`. The result gives each class's share, which sum to 1.
 */
export function fitDiscriminant(
  samples: readonly (readonly Float64Array[])[],
  dim: number,
): (vector: Float64Array) => number[] {
  const means = samples.map((ofClass) => {
    const mean = new Float64Array(dim);
    for (const vector of ofClass) for (let k = 0; k < dim; k++) mean[k] += vector[k] / ofClass.length;
    return mean;
  });
  const covariance = pooledCovariance(samples, means, dim);
  const weights = means.map((mean) => solve(covariance, mean));
  const offsets = means.map((mean, at) => -dot(weights[at], mean) / 2);
  return (vector) => {
    const scores = weights.map((weight, at) => offsets[at] + dot(weight, vector));
    const highest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - highest));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / sum);
  };
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

function pooledCovariance(
  samples: readonly (readonly Float64Array[])[],
  means: readonly Float64Array[],
  dim: number,
): Float64Array[] {
  const covariance = Array.from({ length: dim }, () => new Float64Array(dim));
  const centred = new Float64Array(dim);
  samples.forEach((ofClass, at) => {
    const share = 1 / (ofClass.length * samples.length);
    for (const vector of ofClass) {
      for (let k = 0; k < dim; k++) centred[k] = vector[k] - means[at][k];
      for (let i = 0; i < dim; i++) {
        const row = covariance[i];
        const weighted = centred[i] * share;
        for (let j = 0; j <= i; j++) row[j] += weighted * centred[j];
      }
    }
  });
  let trace = 0;
  for (let i = 0; i < dim; i++) trace += covariance[i][i];
  for (let i = 0; i < dim; i++) {
    for (let j = 0; j < i; j++) covariance[j][i] = covariance[i][j];
    covariance[i][i] += (shrinkage * trace) / dim;
  }
  return covariance;
}

/** x of `matrix` x = `right` by Gaussian elimination; the matrix is positive definite, so no pivoting is needed. */
function solve(matrix: readonly Float64Array[], right: Float64Array): Float64Array {
  const size = right.length;
  const rows = matrix.map((row, i) => Float64Array.of(...row, right[i]));
  for (let pivot = 0; pivot < size; pivot++) {
    for (let i = pivot + 1; i < size; i++) {
      const factor = rows[i][pivot] / rows[pivot][pivot];
      if (factor === 0) continue;
      for (let j = pivot; j <= size; j++) rows[i][j] -= factor * rows[pivot][j];
    }
  }
  const solution = new Float64Array(size);
  for (let i = size - 1; i >= 0; i--) {
    let rest = rows[i][size];
    for (let j = i + 1; j < size; j++) rest -= rows[i][j] * solution[j];
    solution[i] = rest / rows[i][i];
  }
  return solution;
}
