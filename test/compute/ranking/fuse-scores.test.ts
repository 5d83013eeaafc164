import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuseScores } from '../../../src/compute/ranking/fuse-scores.ts';

const hits = (...pairs: [number, number][]) => ({
  labels: Uint32Array.from(pairs, ([label]) => label),
  scores: Float64Array.from(pairs, ([, score]) => score),
});
const none = hits();

interface Case {
  sparse?: typeof none;
  dense?: typeof none;
  cosines?: number[];
  floor?: number | null;
  weight?: number;
  covered?: number;
}

const cases: [title: string, given: Case, fused: string][] = [
  ['nothing found is nothing fused', {}, ''],
  [
    'words and cosines count half each, as shares of the best of the query',
    { sparse: hits([1, 8], [2, 4]), dense: hits([2, 0.9], [3, 0.7], [1, 0.6]), cosines: [0.6, 0.9] },
    '2 0.75, 1 0.625, 3 0.25',
  ],
  [
    'the nearest may be one that words alone found',
    { sparse: hits([1, 2], [2, 1]), dense: hits([3, 0.7]), cosines: [0.6, 0.9] },
    '2 0.75, 1 0.625, 3 0.25',
  ],
  [
    'words decide where none of what they found has a vector',
    { sparse: hits([1, 4], [2, 2]), dense: hits([3, 0.9]), cosines: [Number.NaN, Number.NaN] },
    '1 1, 2 0.5, 3 0',
  ],
  [
    'a passage without a vector is as near as its neighbours, and cosines count less',
    { sparse: hits([1, 4], [2, 3], [3, 2]), cosines: [0.9, Number.NaN, 0.7] },
    '1 1, 2 0.75, 3 0.5',
  ],
  [
    'and as its one neighbour at the ends',
    { sparse: hits([1, 4], [2, 4], [3, 2], [4, 1]), cosines: [Number.NaN, 0.9, 0.7, Number.NaN] },
    '1 1, 2 1, 3 0.5, 4 0.3125',
  ],
  ['words decide where the query has no vector', { sparse: hits([5, 4], [4, 1]) }, '5 1, 4 0.25'],
  [
    'cosines decide where no word is known, as for a question in another language',
    { dense: hits([7, 0.9], [6, 0.7]), cosines: [] },
    '7 0.5, 6 0.25',
  ],
  [
    'a cosine below the floor counts nothing, and not less than nothing',
    { sparse: hits([1, 1], [2, 1]), cosines: [0.1, 0.4] },
    '1 0.5, 2 0.5',
  ],
  [
    'words count less where they cover little of the query',
    { sparse: hits([1, 2], [2, 1]), dense: hits([3, 0.9]), cosines: [0.5, 0.5], covered: 0.25 },
    '3 0.5, 1 0.25, 2 0.125',
  ],
  [
    'an unknown floor is 0; another weight is given',
    { sparse: hits([1, 1]), dense: hits([2, 0.8]), cosines: [0.4], floor: null, weight: 0.25 },
    '1 0.875, 2 0.25',
  ],
];
for (const [
  title,
  { sparse = none, dense = none, cosines = null, covered = 1, floor = 0.5, weight },
  expected,
] of cases)
  test(title, () => {
    const fused = fuseScores({ sparse, dense, cosines, covered }, floor, weight);
    assert.equal(fused.map(({ label, score }) => `${label} ${Math.round(score * 1e9) / 1e9}`).join(', '), expected);
  });
