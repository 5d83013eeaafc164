/** How sure a difference between two arms is that were measured on the same queries. Pure; called by the report of a replay. */
import type { Interval } from '../../domain/evaluation.ts';
import { seededRandom } from '../seeded-random.ts';

/** Enough for two digits of the ends. */
const usualResamples = 2000;
/** Draws in all: some 100 ms. */
const mostDraws = 20_000_000;
/** On either side of the interval. */
const tail = 0.025;

/**
 * The interval that holds the mean difference with 95 % confidence, of each measure; the queries drawn are the same for all of them.
 * Shapes: `differences` has a row for each measure with a number for each query, at least one.
 * Units:  those of the differences. The same for the same numbers: the seed is fixed.
 * Errors: none.
 * Source: Efron & Tibshirani 1993, percentile bootstrap; paired, as Sakai 2006 uses it for retrieval. Below some twenty queries it is too narrow.
 */
export function bootstrapIntervals(differences: readonly (readonly number[])[]): Interval[] {
  const queries = differences[0].length;
  const resamples = Math.max(200, Math.min(usualResamples, Math.floor(mostDraws / queries)));
  const random = seededRandom(queries);
  const means = differences.map(() => new Float64Array(resamples));
  for (let resample = 0; resample < resamples; resample++) {
    for (let drawn = 0; drawn < queries; drawn++) {
      const query = Math.floor(random() * queries);
      for (let measure = 0; measure < means.length; measure++)
        means[measure][resample] += differences[measure][query] / queries;
    }
  }
  return means.map((each) => {
    each.sort();
    return { low: each[Math.floor(tail * resamples)], high: each[Math.ceil((1 - tail) * resamples) - 1] };
  });
}
