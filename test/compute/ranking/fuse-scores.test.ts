import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FEWEST_QUERIES,
  fuseScores,
  type KnownItem,
  learnWeight,
  WEIGHTS,
} from '../../../src/compute/ranking/fuse-scores.ts';
import { seededRandom } from '../../../src/compute/seeded-random.ts';

const hits = (...pairs: [number, number][]) => ({
  labels: Uint32Array.from(pairs, ([label]) => label),
  scores: Float64Array.from(pairs, ([, score]) => score),
});
const none = hits();

test('the score by words is a share of the best, the cosine one of what is above the floor', () => {
  const fused = fuseScores(hits([1, 8], [2, 4]), hits([2, 0.6], [3, 0.4]), { weight: 1, floor: 0.2 });
  assert.deepEqual(
    fused.map(({ label, score }) => [label, Math.round(score * 1e6) / 1e6]),
    [
      [1, 0.5],
      [2, 0.5],
      [3, 0.125],
    ],
  );
});

test('a model that is worth nothing changes no order by words, and its own hits come after', () => {
  const fused = fuseScores(hits([5, 3], [4, 2.9999]), hits([9, 1], [4, 1]), { weight: 0, floor: 0 });
  assert.deepEqual(
    fused.map(({ label }) => label),
    [5, 4, 9],
  );
});

test('one side alone, and none at all, are answered', () => {
  assert.deepEqual(fuseScores(none, none, { weight: 1, floor: null }), []);
  assert.deepEqual(
    fuseScores(none, hits([2, 0.5], [1, 0.4]), { weight: 0, floor: null }).map(({ label }) => label),
    [2, 1],
  );
  assert.equal(fuseScores(hits([1, 2]), none, { weight: 0, floor: 1 })[0].label, 1);
});

/** Words that find the page at rank 1 or 2, and vectors as asked. */
function knownItems(count: number, dense: (page: number) => ReturnType<typeof hits>): KnownItem[] {
  return Array.from({ length: count }, (_, at) => {
    const sparse = at % 2 === 0 ? hits([at, 4], [at + 1, 3.5]) : hits([at + 1, 4], [at, 3.5]);
    return { sparse, dense: dense(at), pageOf: (label) => label, page: at };
  });
}

test('a model that finds what words miss counts', () => {
  assert.equal(
    learnWeight(
      knownItems(100, (page) => hits([page, 0.9])),
      0.2,
    ) > 0.1,
    true,
  );
});

test('random vectors count nothing, and neither does what is better by chance', () => {
  const random = seededRandom(7);
  const chance = knownItems(200, () => hits([1000 + Math.floor(random() * 1000), 0.5]));
  assert.equal(learnWeight(chance, 0.2), 0);
  const twoOfHundred = knownItems(100, (page) => (page === 1 || page === 3 ? hits([page, 0.9]) : none));
  assert.equal(learnWeight(twoOfHundred, 0.2), 0);
});

test('a model that is always wrong counts nothing', () => {
  assert.equal(
    learnWeight(
      knownItems(100, (page) => hits([page + 1, 0.9])),
      0.2,
    ),
    0,
  );
});

test('too few queries tell nothing', () => {
  const items = knownItems(FEWEST_QUERIES, (page) => hits([page, 0.9]));
  assert.equal(learnWeight(items.slice(1), 0), 0);
  assert.equal(WEIGHTS.includes(learnWeight(items, 0)), true);
});
