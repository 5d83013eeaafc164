import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GrowingTermTable } from '../../../src/compute/structures/growing-term-table.ts';
import { buildTermTable, lookupTerm } from '../../../src/compute/structures/term-table.ts';

test('terms of many tables get one number each, by which they are found in every table', () => {
  const someTerms = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 4 }), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(someTerms, { maxLength: 4 }), fc.string(), (dictionaries, other) => {
      const growing = new GrowingTermTable();
      const numbers = new Map<string, number>();
      const tables = dictionaries.map((terms) => buildTermTable(terms));
      dictionaries.forEach((terms, table) => {
        terms.forEach((term, id) => {
          const number = growing.addFrom(tables[table], id);
          assert.equal(number, numbers.get(term) ?? numbers.size);
          numbers.set(term, number);
        });
      });
      assert.equal(growing.size, numbers.size);
      for (const [term, number] of numbers) {
        assert.equal(growing.find(term), number);
        assert.equal(growing.text(number), term);
        for (const table of tables) assert.equal(growing.idIn(table, number), lookupTerm(table, term));
      }
      assert.equal(growing.find(other), numbers.get(other) ?? -1);
    }),
  );
});

test('a table that has grown finds everything', () => {
  const terms = Array.from({ length: 5000 }, (_, id) => `${id} ${'x'.repeat(id % 40)}`);
  const table = buildTermTable(terms);
  const growing = new GrowingTermTable();
  for (const id of terms.keys()) assert.equal(growing.addFrom(table, id), id);
  for (const [id, term] of terms.entries()) assert.equal(growing.find(term), id);
});
