import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildTermTable, lookupTerm, slotCount, termOf } from '../../../src/compute/structures/term-table.ts';

test('every term is found under its index and reads back, any other string is -1', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'grapheme' })), fc.array(fc.string()), (terms, others) => {
      const table = buildTermTable(terms);
      terms.forEach((term, id) => {
        assert.equal(lookupTerm(table, term), id);
        assert.equal(termOf(table, id), term);
      });
      for (const other of others) assert.equal(lookupTerm(table, other), terms.indexOf(other));
    }),
  );
});

test('names of object prototypes are ordinary terms', () => {
  const table = buildTermTable(['constructor', '__proto__', 'hasOwnProperty', '']);
  const rows = ['constructor', '__proto__', 'hasOwnProperty', '', 'toString'].map((term) => lookupTerm(table, term));
  assert.deepEqual(rows, [0, 1, 2, 3, -1]);
});

test('a repeated term is refused', () => {
  assert.throws(() => buildTermTable(['a', 'b', 'a']), /given twice/);
});

test('slots are a power of two with a load factor of at most one half', () => {
  for (const count of [0, 1, 2, 3, 1000, 1024, 1025]) {
    const slots = slotCount(count);
    assert.equal(slots & (slots - 1), 0);
    assert.ok(slots >= count * 2 && slots >= 4);
  }
});
