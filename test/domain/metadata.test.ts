import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type MetadataEdit,
  metadataEdit,
  type PageMetadata,
  pageMetadata,
  withAll,
  withEdit,
  withMore,
} from '../../src/domain/metadata.ts';

/** What is said of it; empty: it is taken. */
function faultsOf(metadata: unknown): string[] {
  const parsed = pageMetadata.safeParse(metadata);
  if (parsed.success) assert.deepEqual(parsed.data, metadata);
  return parsed.success ? [] : parsed.error.issues.map(({ message }) => message);
}

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
const nested = (depth: number): unknown => (depth === 0 ? 1 : { x: nested(depth - 1) });

test('any JSON object is metadata, and nothing else is', () => {
  for (const metadata of [{}, { a: null }, { '': ['x', 1.5, -0.25, { b: [] }] }, { n: 1.5e300, m: 5e-324 }]) {
    assert.deepEqual(faultsOf(metadata), []);
  }
  for (const other of [null, undefined, [], 'x', 1, true]) assert.equal(faultsOf(other).length, 1, String(other));
});

test('it holds 4,000 values at all depths, on 64 levels', () => {
  const tooMany = ['must not contain more than 4000 values'];
  assert.deepEqual(faultsOf(members(4000)), []);
  assert.deepEqual(faultsOf(members(4001)), tooMany);
  assert.deepEqual(faultsOf({ list: Array.from({ length: 3999 }, () => 0) }), []);
  assert.deepEqual(faultsOf({ list: Array.from({ length: 4000 }, () => 0) }), tooMany);
  assert.deepEqual(faultsOf(nested(64)), []);
  assert.deepEqual(faultsOf(nested(65)), ['must not nest deeper than 64 levels']);
});

test('it has 262,144 characters as JSON', () => {
  const tooLong = ['must have at most 262144 characters as JSON'];
  assert.deepEqual(faultsOf({ a: 'x'.repeat(262_144 - 8) }), []);
  assert.deepEqual(faultsOf({ a: 'x'.repeat(262_144 - 7) }), tooLong);
  assert.deepEqual(faultsOf({ ['x'.repeat(262_144)]: 1 }), tooLong);
});

test('a whole number that JSON would have changed is refused, at any depth', () => {
  const rounded = ['must not contain a whole number beyond ±9007199254740991, which would change: send it as a string'];
  for (const number of ['9007199254740991', '-9007199254740991', '0.1', '1.5e21', '1e300']) {
    assert.deepEqual(faultsOf(JSON.parse(`{"a":[{"b":${number}}]}`)), [], number);
  }
  for (const number of ['9007199254740992', '9007199254740993', '-12345678901234567890', '18446744073709551615']) {
    assert.deepEqual(faultsOf(JSON.parse(`{"a":[{"b":${number}}]}`)), rounded, number);
  }
});

test('no more of it is looked at than it may hold', () => {
  let looked = 0;
  const watched = new Proxy(members(100_000), {
    get: (target, name) => {
      looked++;
      return Reflect.get(target, name);
    },
  });
  assert.equal(pageMetadata.safeParse(watched).success, false);
  assert.ok(looked <= 4000, `${looked} members were read`);
});

test('what another submission says of a page is added to what is known, and changes none of it', () => {
  const known = { author: 'A', folder: null, tags: ['x', 'y'], highlights: [{ text: 'a' }], list: [1] };
  const more = {
    author: 'B',
    folder: 'F',
    tags: ['y', 'z'],
    highlights: [{ text: 'a' }, { text: 'b' }],
    list: [2],
    note: 'n',
  };
  assert.deepEqual(withMore(known, more), {
    author: 'A',
    folder: 'F',
    tags: ['x', 'y', 'z'],
    highlights: [{ text: 'a' }, { text: 'b' }],
    list: [1],
    note: 'n',
  });
  assert.deepEqual(withMore(null, more), more);
  for (const nothing of [null, {}, { author: 'C', tags: ['x'], other: null }])
    assert.equal(withMore(known, nothing), known);
  assert.deepEqual(withMore({ note: 'x' }, { constructor: 'McLaren' }), { note: 'x', constructor: 'McLaren' });
  assert.deepEqual(withMore({ tags: ['a'] }, { tags: ['b', 'b'] }), { tags: ['a', 'b'] });
  const full = { tags: Array.from({ length: 3900 }, (_, no) => no) };
  const cut = withMore(full, { tags: Array.from({ length: 200 }, (_, no) => -no - 1) });
  assert.equal(cut, full, 'more than a page may have');
});

test('a user changes tags, note and highlights, and an import brings back nothing that was removed', () => {
  const [one, other] = [1, 9].map((start) => ({ quote: 'the same', start }));
  const many = Array.from({ length: 3990 }, (_, no) => no);
  const cases: [known: PageMetadata | null, edit: MetadataEdit, expected: PageMetadata | null | 'too_large'][] = [
    [null, { add_tags: [' a\n b ', 'A B'] }, { tags: ['a b'] }],
    [{ tags: 'Old' }, { add_tags: ['new'] }, { tags: ['Old', 'new'] }],
    [
      { tags: [{ name: 'X' }, 'y'], x: 1 },
      { remove_tags: ['x'] },
      { tags: ['y'], x: 1, removed_tags: [{ name: 'X' }] },
    ],
    [{ tags: [], removed_tags: ['x', 'z'] }, { add_tags: ['X'] }, { tags: ['X'], removed_tags: ['z'] }],
    [{ note: ['one', 'other'] }, { note: ' mine ' }, { note: 'mine' }],
    [{ note: 'n' }, { note: null }, { note: '' }],
    [{ highlights: [one] }, { add_highlights: [other, one] }, { highlights: [one, other] }],
    [{ highlights: [one, other] }, { remove_highlights: [one] }, { highlights: [other] }],
    [{ highlights: [one, 'q'] }, { remove_highlights: ['q'] }, { highlights: [one], removed_highlights: ['q'] }],
    [{ many }, { add_tags: many.slice(0, 20).map(String) }, 'too_large'],
    [null, {}, null],
    [null, { note: null, remove_tags: ['x'], remove_highlights: [one] }, null],
  ];
  for (const [known, edit, expected] of cases) assert.deepEqual(withEdit(known, edit), expected, JSON.stringify(edit));
  const unchanged = { tags: ['x'], note: 'n' };
  assert.equal(withEdit(unchanged, { add_tags: ['X'], note: 'n' }), unchanged);
  const edited = { tags: ['y'], removed_tags: ['X'], note: '', highlights: [one], removed_highlights: ['gone'] };
  const imported = { tags: ['x', 'Y', 'z'], note: 'other', highlights: ['The same', 'gone', 'new'] };
  assert.deepEqual(withMore(edited, imported), { ...edited, tags: ['y', 'z'], highlights: [one, 'new'] });
  for (const [has, more, expected] of [
    [[one], [one, other, other], [one, other]],
    [['the same'], [one, other], ['the same']],
    [[one], ['the same', other, 'the same'], [one, other]],
    [[], [one, 'the same', other], [one, other]],
  ])
    assert.deepEqual(withMore({ highlights: has }, { highlights: more })?.highlights, expected);
  const gone = { highlights: [], removed_highlights: [one] };
  assert.equal(withMore(gone, { highlights: [other] }), gone);
});

test('removed highlights are bounded like metadata', () => {
  for (const [element, isTaken] of [
    [nested(62), true],
    [nested(65), false],
    [members(3998), true],
    [members(4001), false],
    ['x'.repeat(262_144), false],
  ])
    assert.equal(metadataEdit.safeParse({ remove_highlights: [element] }).success, isTaken);
});

test('a merged page has the notes of both, without those that were removed', () => {
  for (const [note, other, expected] of [
    ['a', 'b', ['a', 'b']],
    ['', 'b', 'b'],
    ['a', '', 'a'],
    ['', '', ''],
    [null, 'b', 'b'],
  ])
    assert.deepEqual(withAll({ note }, { note: other }, {}), { note: expected });
});
