import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addStemToSketch } from '../../../src/compute/embedding/stem-sketch.ts';

function code(stem: string, cells: number): Float64Array {
  const sketch = new Float64Array(cells);
  addStemToSketch(stem, 1, sketch);
  return sketch;
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, k) => sum + value * b[k], 0);
}

test('the code of a stem is the same for ever', () => {
  // A change here moves every stored vector: raise LOCAL_MODEL_VERSION.
  const filled = (stem: string) => [...code(stem, 32).entries()].filter(([, value]) => value !== 0);
  // biome-ignore format: pairs of cell and sign
  assert.deepEqual(filled('zxqv'), [[4, 1], [5, -1], [16, 1], [17, 1], [18, -1], [19, -1], [22, -1], [26, 1]]);
  // biome-ignore format: pairs of cell and sign
  assert.deepEqual(filled('日本'), [[1, 1], [15, 1], [18, -2], [20, -1], [23, 1]]);
});

test('codes of different stems are nearly orthogonal, the code of one adds up', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 40, maxLength: 40 }), (stems) => {
      const codes = stems.map((stem) => code(stem, 924));
      let total = 0;
      for (let i = 0; i < codes.length; i++) {
        assert.ok(dot(codes[i], codes[i]) >= 4 && dot(codes[i], codes[i]) <= 16);
        for (let j = 0; j < i; j++) total += Math.abs(dot(codes[i], codes[j]));
      }
      // 64 pairs of cells in 924 places: 0.07 of a cell meets on average, against 8 for a stem with itself.
      assert.ok(total / (20 * 39) < 0.3);
    }),
    { numRuns: 50 },
  );
  const twice = new Float64Array(924);
  addStemToSketch('water', 0.25, twice);
  addStemToSketch('water', 0.75, twice);
  assert.deepEqual(twice, code('water', 924));
});
