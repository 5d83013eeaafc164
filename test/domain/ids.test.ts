import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { datetime, idOf, instantOf, numberOf } from '../../src/domain/ids.ts';

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
