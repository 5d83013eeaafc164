import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { queryBoolean, queryInteger } from '../../src/domain/query-values.ts';

const query = z.object({ limit: queryInteger({ min: 1, max: 1000, byDefault: 100 }) });
const limitOf = (limit: unknown) => query.safeParse({ limit }).data?.limit;

test('a decimal integer within its bounds is read, and nothing sent is the default', () => {
  assert.deepEqual(query.parse({}), { limit: 100 });
  fc.assert(
    fc.property(fc.integer({ min: -2000, max: 3000 }), (sent) => {
      assert.equal(limitOf(String(sent)), sent >= 1 && sent <= 1000 ? sent : undefined);
    }),
  );
});

test('other ways to write a number, nothing and more than one are refused', () => {
  for (const sent of ['0x10', '1e1', '1.0', '1.', ' 1', '1 ', '+1', '1_0', '', 'x', '١', 'Infinity', '9'.repeat(400)]) {
    assert.equal(limitOf(sent), undefined, sent);
  }
  for (const sent of [['1', '2'], ['1'], true, null]) assert.equal(limitOf(sent), undefined);
});

test('it is documented as an integer with bounds and default', () => {
  assert.deepEqual(z.toJSONSchema(query, { io: 'input' }).properties, {
    limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  });
});

test('a truth value is true, True, 1 or the opposite, nothing sent is the default, and it is documented as a boolean', () => {
  const flags = z.object({ all: queryBoolean({ byDefault: false }) });
  const read = (all: unknown) => flags.safeParse({ all }).data?.all;
  assert.deepEqual([read('true'), read('false'), read(undefined)], [true, false, false]);
  assert.deepEqual(['True', 'TRUE', '1', 'False', '0'].map(read), [true, true, true, false, false]);
  for (const sent of ['', '2', 'yes', 'constructor', null, ['true'], {}]) assert.equal(read(sent), undefined);
  assert.deepEqual(z.toJSONSchema(flags, { io: 'input' }).properties, { all: { type: 'boolean', default: false } });
});
