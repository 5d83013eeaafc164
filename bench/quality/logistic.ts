/** Logistic regression by Newton's method, with a small penalty on all weights but the bias. Deterministic. */

export interface Example {
  /** Without the bias. */
  features: readonly number[];
  /** 1 or 0. */
  label: number;
  weight: number;
}

const PENALTY = 1e-3;
const ROUNDS = 60;

/** The weights, the bias first. Errors: none; examples have features of one length, and at least one is given. */
export function fitLogistic(examples: readonly Example[]): number[] {
  const size = examples[0].features.length + 1;
  const weights = new Array<number>(size).fill(0);
  for (let round = 0; round < ROUNDS; round++) {
    const gradient = weights.map((weight, i) => (i === 0 ? 0 : PENALTY * weight));
    const hessian = weights.map((_, i) => weights.map((__, j) => (i === j ? PENALTY : 0)));
    for (const { features, label, weight } of examples) {
      const x = [1, ...features];
      const p = probability(weights, features);
      for (let i = 0; i < size; i++) {
        gradient[i] += weight * (p - label) * x[i];
        for (let j = 0; j < size; j++) hessian[i][j] += weight * p * (1 - p) * x[i] * x[j];
      }
    }
    const step = solve(hessian, gradient);
    for (let i = 0; i < size; i++) weights[i] -= step[i];
    if (Math.max(...step.map(Math.abs)) < 1e-7) break;
  }
  return weights;
}

export function probability(weights: readonly number[], features: readonly number[]): number {
  let logit = weights[0];
  for (let i = 0; i < features.length; i++) logit += weights[i + 1] * features[i];
  return 1 / (1 + Math.exp(-logit));
}

/** Gaussian elimination with pivoting. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const size = right.length;
  const rows = matrix.map((row, i) => [...row, right[i]]);
  for (let i = 0; i < size; i++) {
    let pivot = i;
    for (let k = i + 1; k < size; k++) if (Math.abs(rows[k][i]) > Math.abs(rows[pivot][i])) pivot = k;
    [rows[i], rows[pivot]] = [rows[pivot], rows[i]];
    for (let k = i + 1; k < size; k++) {
      const part = rows[k][i] / rows[i][i];
      for (let j = i; j <= size; j++) rows[k][j] -= part * rows[i][j];
    }
  }
  const solution = new Array<number>(size).fill(0);
  for (let i = size - 1; i >= 0; i--) {
    let rest = rows[i][size];
    for (let j = i + 1; j < size; j++) rest -= rows[i][j] * solution[j];
    solution[i] = rest / rows[i][i];
  }
  return solution;
}
