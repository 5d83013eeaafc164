/**
 * The dense floor: the cosine below which a hit says as much as chance. It depends on the model alone, is stored with it,
 * and cuts what enters a dense result. Definition: the 95th percentile of the cosines between queries and passages that are
 * unrelated (floor-sample.ts, every query with every other subject's passage, 760 pairs): one unrelated passage in
 * twenty still comes above it, so it removes noise and decides nothing about order.
 */
const FLOOR_QUANTILE = 0.95;

/** The floor from the unit vectors of the sample's passages, and of its queries by subject. */
export function floorOfSample(passages: readonly Float32Array[], queries: readonly Float32Array[][]): number {
  const cosines = queries
    .flatMap((ofSubject, subject) => {
      const others = passages.filter((_, other) => other !== subject);
      return ofSubject.flatMap((query) => others.map((passage) => dot(query, passage)));
    })
    .sort((a, b) => a - b);
  return cosines[Math.floor(cosines.length * FLOOR_QUANTILE)];
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}
