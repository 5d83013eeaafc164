import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { editDistance, editsBetween } from '../../../src/compute/text/edit-distance.ts';

/** Optimal string alignment by its whole table. */
function editsByTable(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replaced = table[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      table[i][j] = Math.min(table[i - 1][j] + 1, table[i][j - 1] + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        table[i][j] = Math.min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.length][b.length];
}

const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '木'), maxLength: 12 });
const long = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 60, maxLength: 150 });

test('edits up to a bound are those of the whole table, whatever was compared before', () => {
  fc.assert(
    fc.property(fc.oneof(words, long), fc.oneof(words, long), fc.nat(4), (a, b, most) => {
      assert.equal(editDistance(a, b, most), Math.min(editsByTable(a, b), most + 1));
      const [bytes, among] = [Buffer.from(a, 'latin1'), Buffer.from(`xx${b}yy`, 'latin1')];
      const expected = editsByTable(bytes.toString('latin1'), Buffer.from(b, 'latin1').toString('latin1'));
      assert.equal(editsBetween(bytes, bytes.length, among, 2, b.length, most), Math.min(expected, most + 1));
    }),
    { numRuns: 1000 },
  );
});
