/**
 * A model's floor, stored with it: the 95th percentile of the cosines of unrelated queries and passages, below which
 * dense hits are dropped. One unrelated passage in twenty is above: it removes noise, it does not rank.
 */
import { z } from 'zod';

/** models/floor-sample.json: a passage and two queries for each of 20 unrelated subjects, so 760 unrelated pairs. */
export const floorSample = z.array(z.strictObject({ passage: z.string(), queries: z.tuple([z.string(), z.string()]) }));

const FLOOR_QUANTILE = 0.95;

/** The floor from the unit vectors of the sample's passages, and of its queries by subject. */
export function floorOfSample(passages: readonly Float32Array[], queries: readonly Float32Array[][]): number {
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, each, at) => sum + each * b[at], 0);
  const cosines = queries
    .flatMap((ofSubject, subject) => {
      const others = passages.filter((_, other) => other !== subject);
      return ofSubject.flatMap((query) => others.map((passage) => dot(query, passage)));
    })
    .sort((a, b) => a - b);
  return cosines[Math.floor(cosines.length * FLOOR_QUANTILE)];
}
