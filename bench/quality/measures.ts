/** Means of measured values, and the significance of their differences. Deterministic. */
import { randomStream } from '../workload.ts';

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The value that a share of the values is not above. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export type PairedTest = {
  difference: number;
  wins: number;
  losses: number;
  /** Two-sided: how often random signs give a mean difference at least as large. */
  p: number;
};

const ROUNDS = 10_000;

/** Paired randomisation test (Fisher; Smucker, Allan & Carterette 2007) of b against a, values of the same queries. */
export function pairedTest(a: readonly number[], b: readonly number[], seed: number): PairedTest {
  const differences = b.map((value, i) => value - a[i]);
  const observed = Math.abs(differences.reduce((sum, value) => sum + value, 0));
  const random = randomStream(seed, 0, differences.length);
  let atLeast = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let sum = 0;
    for (const difference of differences) sum += random() < 0.5 ? difference : -difference;
    if (Math.abs(sum) >= observed - 1e-12) atLeast++;
  }
  return {
    difference: mean(differences),
    wins: differences.filter((value) => value > 0).length,
    losses: differences.filter((value) => value < 0).length,
    p: (atLeast + 1) / (ROUNDS + 1),
  };
}
