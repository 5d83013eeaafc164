import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { datetime, idOf, instantOf, numberOf, queryBoolean, queryInteger } from '../../src/domain/values.ts';

test('an id reads back as its number, and ids sort as their numbers do', () => {
  fc.assert(
    fc.property(fc.nat(0xffffffff), fc.nat(0xffffffff), (a, b) => {
      assert.equal(numberOf('page', idOf('page', a)), a);
      assert.equal(idOf('job', a) < idOf('job', b), a < b);
    }),
  );
});

test('what is no id of the kind, or of a number that no record can have, is null', () => {
  const wrong = [
    '',
    'pg_',
    'pg_0000001',
    'pg_000000001',
    'jb_00000001',
    'pg_0000000u',
    'pg_zzzzzzzz',
    'PG_00000001',
    'pg_0000000A',
  ];
  const numbers = wrong.map((id) => numberOf('page', id));
  assert.deepEqual(
    numbers,
    wrong.map(() => null),
  );
});

test('a datetime is read in every spelling of ISO 8601 that carries an offset', () => {
  const spellings = [
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01t00:00:00z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00.123456+05:30', '2025-12-31T18:30:00.123Z'],
    ['2026-01-01T00:00:00+0530', '2025-12-31T18:30:00.000Z'],
    ['2026-01-01T00:00:00-08', '2026-01-01T08:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ];
  for (const [text, instant] of spellings) {
    assert.equal(datetime.safeParse(text).success, true, text);
    assert.equal(new Date(instantOf(text)).toISOString(), instant);
  }
});

test('what is no datetime, naive, or no instant that can be given out again is refused, with the cause', () => {
  const causes: [string, RegExp][] = [
    ['2026-01-01T00:00:00', /must carry a UTC offset/],
    ['2026-01-01', /ISO 8601/],
    ['now', /ISO 8601/],
    ['2026-02-31T00:00:00Z', /exist/],
    ['2026-01-01T25:00:00Z', /exist/],
    ['9999-12-31T23:59:59-10:00', /0000 to 9999/],
    ['0000-01-01T00:00:00+10:00', /0000 to 9999/],
  ];
  for (const [text, cause] of causes) {
    const { error } = datetime.safeParse(text);
    assert.match(error?.issues[0]?.message ?? 'accepted', cause, text);
  }
});

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
