/**
 * The dense floor: the cosine below which a hit says no more than chance. It depends on the model alone, is stored with it,
 * and cuts what enters a dense result. Definition: the 95th percentile of the cosines between queries and passages that are
 * unrelated (floor-sample.ts, every query with every other subject's passage, 760 pairs): one unrelated passage in
 * twenty still comes above it, so it removes noise and decides nothing about order.
 */
import type { LocalEmbedder, TermSequence } from './embed-local.ts';
import { FLOOR_SAMPLE } from './floor-sample.ts';

const FLOOR_QUANTILE = 0.95;

/**
 * Floors by dimension, from `floor_calibrated` of `node --import ./scripts/tsx-in-threads.mjs bench/embedding-quality.ts`: the fewer cells the sketch
 * has, the more stems collide. From 384 to 4,096 the measured values lie between .131 and .154 without order.
 */
const MEASURED_FLOORS: readonly (readonly [dim: number, floor: number])[] = [
  [100, 0.244],
  [200, 0.175],
  [256, 0.158],
  [384, 0.145],
];

/** Floor of the embedded model with `dim` dimensions: that of the largest measured dimension not above it. */
export function localFloor(dim: number): number {
  const [, floor] = MEASURED_FLOORS.findLast(([measured]) => measured <= dim) ?? MEASURED_FLOORS[0];
  return floor;
}

/** The floor of a model, from `embedder` and the analysis it is used with. Deterministic. */
export function calibrateFloor(embedder: LocalEmbedder, terms: (text: string) => TermSequence): number {
  const { dim } = embedder;
  const passages = FLOOR_SAMPLE.map(({ passage }) => {
    const { words, stems } = terms(passage);
    const row = new Float32Array(dim);
    embedder.embedDocument(words, stems, 0, words.length, row, 0);
    return row;
  });
  const queries = FLOOR_SAMPLE.map((subject) =>
    subject.queries.map((query) => {
      const { words, stems } = terms(query);
      return embedder.embedQuery(words, stems).vector;
    }),
  );
  return floorOfSample(passages, queries);
}

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
