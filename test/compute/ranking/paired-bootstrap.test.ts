import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrapIntervals } from '../../../src/compute/ranking/replay-report.ts';
import { seededRandom } from '../../../src/compute/seeded-random.ts';

const near = (actual: number, expected: number, by: number) =>
  assert.ok(Math.abs(actual - expected) <= by, `${actual} is not ${expected}`);

test('what is always the same is sure, and two queries tell nothing between them', () => {
  assert.deepEqual(bootstrapIntervals([[0.25, 0.25, 0.25, 0.25]]), [{ low: 0.25, high: 0.25 }]);
  assert.deepEqual(bootstrapIntervals([[0, 1]]), [{ low: 0, high: 1 }]);
});

test('the mean of a hundred coins lies within the quantiles of the binomial distribution', () => {
  const coins = Array.from({ length: 100 }, (_, at) => at % 2);
  const [{ low, high }, negated] = bootstrapIntervals([coins, coins.map((coin) => -coin)]);
  // Binomial(100, 1/2): its quantiles of .025 and .975 are 40 and 60.
  near(low, 0.4, 0.011);
  near(high, 0.6, 0.011);
  near(negated.low, -high, 0.011);
  near(negated.high, -low, 0.011);
});

test('of a normal sample the interval is the mean and about two standard errors on either side', () => {
  const random = seededRandom(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const sample = Array.from({ length: 400 }, () => 0.1 + 0.3 * normal());
  const mean = sample.reduce((sum, value) => sum + value, 0) / sample.length;
  const variance = sample.reduce((sum, value) => sum + (value - mean) ** 2, 0) / sample.length;
  const error = Math.sqrt(variance / sample.length);
  const [{ low, high }] = bootstrapIntervals([sample]);
  near(low, mean - 1.96 * error, 0.15 * error);
  near(high, mean + 1.96 * error, 0.15 * error);
  assert.deepEqual(bootstrapIntervals([sample]), [{ low, high }], 'the same each time');
});

test('the true mean is within the interval in about 95 of 100 samples', () => {
  const random = seededRandom(5);
  const samples = 400;
  let held = 0;
  for (let sample = 0; sample < samples; sample++) {
    // Differences of nDCG: most queries none, some either way; their mean is .02.
    const differences = Array.from({ length: 60 }, () => {
      const drawn = random();
      return drawn < 0.2 ? 0.5 : drawn < 0.36 ? -0.5 : 0;
    });
    const [{ low, high }] = bootstrapIntervals([differences]);
    if (low <= 0.02 && 0.02 <= high) held++;
  }
  near(held / samples, 0.95, 0.03);
});
