/**
 * The floor of a model: the cosine below which a hit says as much as chance. It depends on the model alone, is stored with it, and cuts
 * what enters a dense result. Definition: the 95th percentile of the cosines between queries and passages that are unrelated: one
 * unrelated passage in twenty still comes above it, so it removes noise and decides nothing about order.
 */
import { z } from 'zod';

/**
 * The file models/floor-sample.json: one passage and two queries for each of twenty subjects that have nothing to do with one another, so
 * that every query with every other subject's passage is unrelated, 760 pairs.
 */
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
