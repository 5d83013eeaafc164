import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { featureCount, type LineFeatures } from '../../../src/compute/entities/name-features.ts';
import {
  bestTags,
  encodeNameTagger,
  type NameTagger,
  openNameTagger,
  tagCount,
} from '../../../src/compute/entities/name-tagger.ts';

/** All lists of tags in which no name goes on that was not begun. */
function possible(length: number): number[][] {
  if (length === 0) return [[]];
  return possible(length - 1).flatMap((tags) =>
    [0, 1, 2].flatMap((tag) => (tag === 2 && (tags.at(-1) ?? 0) === 0 ? [] : [[...tags, tag]])),
  );
}

function worth({ transitions, weights }: NameTagger, features: LineFeatures, tags: readonly number[]): number {
  let sum = 0;
  for (const [i, tag] of tags.entries()) {
    for (const feature of features[i]) sum += weights[feature * tagCount + tag];
    if (i > 0) sum += transitions[tags[i - 1] * tagCount + tag];
  }
  return sum;
}

const weight = fc.integer({ min: -100, max: 100 });
const someTagger = fc.record({
  transitions: fc.array(weight, { minLength: 9, maxLength: 9 }),
  weights: fc.array(weight, { minLength: 12, maxLength: 12 }),
});
const someLine = fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }), { maxLength: 6 });

test('of all ways to tag a line the one that is worth most is found', () => {
  fc.assert(
    fc.property(someTagger, someLine, (tagger, features) => {
      const most = Math.max(...possible(features.length).map((tags) => worth(tagger, features, tags)));
      const best = [...bestTags(tagger, features)];
      assert.ok(
        best.every((tag, i) => tag !== 2 || (best[i - 1] ?? 0) !== 0),
        best.join(),
      );
      assert.equal(worth(tagger, features, best), most);
    }),
  );
});

test('a file has the weights as they are to each other, and is refused with any byte changed', () => {
  const weights = new Float64Array(featureCount * tagCount);
  weights.set([0.5, -0.25, 1]);
  const file = encodeNameTagger({ weights, transitions: [2, 0, -2, 0, 0, 0, 0, 0, 1] });
  const opened = openNameTagger(file);
  assert.equal(opened.weights.length, weights.length);
  const unit = opened.transitions[0] / 2;
  for (const [at, value] of [0.5, -0.25, 1].entries()) assert.ok(Math.abs(opened.weights[at] / unit - value) < 1e-3);
  assert.deepEqual(
    [opened.transitions[2], opened.transitions[8] * 2],
    [-opened.transitions[0], opened.transitions[0] + 1],
  );
  fc.assert(
    fc.property(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const damaged = file.slice();
      damaged[at] ^= flip;
      assert.throws(() => openNameTagger(damaged), { code: 'name_tagger_format' });
    }),
  );
  assert.throws(() => openNameTagger(file.subarray(1)), { code: 'name_tagger_format' });
});
