import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { datetime, idOf, numberOf } from '../../src/domain/ids.ts';

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
  assert.deepEqual(
    wrong.map((id) => numberOf('page', id)),
    wrong.map(() => null),
  );
});

test('a datetime has an offset and is an instant of four-digit years in UTC', () => {
  const accepted = (text: string) => datetime.safeParse(text).success;
  assert.deepEqual(
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123+05:30', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'].map(
      accepted,
    ),
    [true, true, true, true],
  );
  assert.deepEqual(
    ['2026-01-01T00:00:00', '2026-01-01', 'now', '9999-12-31T23:59:59-10:00', '0000-01-01T00:00:00+10:00'].map(
      accepted,
    ),
    [false, false, false, false, false],
  );
});
