/**
 * The directions in which a sample of vectors differs most: pages are compared along these only. What a few hundred directions
 * leave out is mostly noise of single pages, and comparing takes a fraction of the time.
 * Source: subspace iteration on the sample's covariance; Halko, Martinsson & Tropp 2011, with power iterations.
 */

import { seededRandom } from '../seeded-random.ts';
import { dotOfRows, normalizeRow, type VectorTable } from './page-vectors.ts';

export interface PrincipalAxes {
  dim: number;
  count: number;
  /** count × dim, orthonormal, strongest first. */
  axes: Float32Array;
  mean: Float32Array;
}

/** Enough for the space that the strongest directions span; single directions need not have settled. */
const rounds = 6;
const seed = 7;

/** Share of the mean's squared length up to which the variance of a sample is rounding. */
const noVariance = 1e-9;

/**
 * The `count` strongest axes of a sample; all of its dimensions where there are no more. A sample that does not differ (one
 * vector, or copies of one) has its own direction for the only axis, from the origin: its vectors are alike, not nothing.
 */
export function principalAxes({ rows, count: samples, dim }: VectorTable, count: number): PrincipalAxes {
  const wanted = Math.min(count, dim, Math.max(1, samples - 1));
  const mean = new Float32Array(dim);
  for (let at = 0; at < samples * dim; at++) mean[at % dim] += rows[at] / samples;
  const covariance = covarianceOf(rows, samples, dim, mean);
  let variance = 0;
  for (let i = 0; i < dim; i++) variance += covariance[i * dim + i];
  if (variance <= noVariance * samples * dotOfRows(mean, 0, mean, 0, dim)) {
    const direction = mean.slice();
    normalizeRow(direction, 0, dim);
    return { dim, count: 1, axes: direction, mean: new Float32Array(dim) };
  }
  const random = seededRandom(seed);
  let axes = Float32Array.from({ length: wanted * dim }, () => random() - 0.5);
  orthonormalize(axes, wanted, dim);
  for (let round = 0; round < rounds; round++) {
    const next = new Float32Array(wanted * dim);
    for (let axis = 0; axis < wanted; axis++) {
      for (let i = 0; i < dim; i++) next[axis * dim + i] = dotOfRows(covariance, i * dim, axes, axis * dim, dim);
    }
    axes = next;
    orthonormalize(axes, wanted, dim);
  }
  return { dim, count: wanted, axes, mean };
}

/** A vector along the axes, of unit length, into target[to .. to + axes.count); false where nothing of it is left. */
export function projectRow(
  { axes, count, dim, mean }: PrincipalAxes,
  row: Float32Array,
  target: Float32Array,
  to: number,
): boolean {
  const centred = new Float32Array(dim);
  for (let i = 0; i < dim; i++) centred[i] = row[i] - mean[i];
  for (let axis = 0; axis < count; axis++) target[to + axis] = dotOfRows(axes, axis * dim, centred, 0, dim);
  return normalizeRow(target, to, count);
}

function covarianceOf(rows: Float32Array, samples: number, dim: number, mean: Float32Array): Float32Array {
  // Components as rows, so that the inner loop runs over neighbouring numbers.
  const columns = new Float32Array(dim * samples);
  for (let row = 0; row < samples; row++) {
    for (let i = 0; i < dim; i++) columns[i * samples + row] = rows[row * dim + i] - mean[i];
  }
  const covariance = new Float32Array(dim * dim);
  for (let i = 0; i < dim; i++) {
    for (let j = i; j < dim; j++) {
      const value = dotOfRows(columns, i * samples, columns, j * samples, samples);
      covariance[i * dim + j] = value;
      covariance[j * dim + i] = value;
    }
  }
  return covariance;
}

/** Rows made orthonormal by Gram-Schmidt, twice where rounding makes it needed; a direction that is lost is left as zeros. */
export function orthonormalize(axes: Float32Array, count: number, dim: number): void {
  for (let axis = 0; axis < count; axis++) {
    const at = axis * dim;
    for (let pass = 0; pass < 2; pass++) {
      for (let before = 0; before < axis; before++) {
        const share = dotOfRows(axes, at, axes, before * dim, dim);
        for (let i = 0; i < dim; i++) axes[at + i] -= share * axes[before * dim + i];
      }
      normalizeRow(axes, at, dim);
    }
  }
}
