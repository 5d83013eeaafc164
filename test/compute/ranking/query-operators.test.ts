import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readOperators as readQuery, zoneFor } from '../../../src/compute/ranking/query-operators.ts';
import { timeOf } from '../../../src/compute/ranking/query-times.ts';

const plain = { phrases: [], must: [], mustNot: [], after: null, before: null, written: [], ignored: [] };
/** Without the words outside of operators. */
const readOperators = (...given: Parameters<typeof readQuery>) => {
  const { plain: _, ...read } = readQuery(...given);
  return read;
};
const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

test('a query with days is sent with the time zone, if that has an IANA name', () => {
  for (const [query, zone, sent] of [
    ['heron after:2026-03', 'Europe/Berlin', { tz: 'Europe/Berlin' }],
    ['heron BEFORE:monday', 'UTC', { tz: 'UTC' }],
    ['heron', 'Europe/Berlin', {}],
    ['heron after:2026-03', '+02:00', {}],
    ['heron after:2026-03', 'Etc/Unknown', {}],
  ] as const)
    assert.deepEqual(zoneFor(query, zone), sent, `${query} ${zone}`);
});

test('words outside of operators are those of no alternative, phrase, beginning or field', () => {
  for (const [query, words, titled] of [
    ['grey heron', 'grey heron', null],
    ['river heron OR egret "stands still" wad* title:bird -boat', 'river', null],
    ['heron OR egret', '', null],
    ['heron author:lima wad* "stands still" in:title', 'heron', 'heron stands still'],
    ['wad* in:title', '', null],
  ] as const) {
    const { plain: found, must } = readQuery(query);
    assert.equal(found, words, query);
    const inTitle = must.filter((each) => each.in === 'title' && each.text !== 'bird');
    assert.deepEqual(inTitle, titled === null ? [] : [{ in: 'title', text: titled }], query);
  }
});

/** `field text, field text` as what pages must hold. */
const holding = (fields: string) =>
  fields
    .split(', ')
    .map((field) => ({ in: field.slice(0, field.indexOf(' ')), text: field.slice(field.indexOf(' ') + 1) }));

test('each operator says what pages must hold, with and without a space, in any order', () => {
  assert.deepEqual(readOperators('grey heron'), { ...plain, text: 'grey heron' });
  assert.deepEqual(readOperators('site:example.com heron "stands still" -boat -"by the river" lang:de'), {
    ...plain,
    text: 'heron stands still',
    phrases: ['stands still'],
    must: holding('site example.com, phrase stands still, language de'),
    mustNot: holding('word boat, phrase by the river'),
    written: ['site:example.com', '"stands still"', '-boat', '-"by the river"', 'lang:de'],
  });
  const fields = 'heron title: "wading birds" AUTHOR:Lima -site: www.a.example -title:boat -lang:fr-CA';
  assert.deepEqual(readOperators(fields), {
    ...plain,
    text: 'heron wading birds Lima',
    must: holding('title wading birds, author Lima'),
    mustNot: holding('site a.example, title boat, language fr'),
    written: ['title: "wading birds"', 'AUTHOR:Lima', '-site: www.a.example', '-title:boat', '-lang:fr-CA'],
  });
  assert.deepEqual(readOperators('after:2024 before: 2024-06-30 heron'), {
    ...plain,
    text: 'heron',
    after: day('2024-01-01'),
    before: day('2024-06-30'),
    written: ['after:2024', 'before: 2024-06-30'],
  });
  assert.deepEqual(readOperators('after:2024-02 x').after, day('2024-02-01'));
  assert.deepEqual(readOperators('before:2024-02-03T04:05:00Z x').before, Date.parse('2024-02-03T04:05:00Z'));
  assert.deepEqual(readOperators('before:2024-02-03T04:05 x').before, Date.parse('2024-02-03T04:05:00Z'));
  assert.equal(readOperators('before:2024-02-03T04:05+02:00 x').before, Date.parse('2024-02-03T02:05:00Z'));
  const many = readOperators(Array.from({ length: 18 }, (_, no) => `-w${no}`).join(' '));
  assert.deepEqual([many.mustNot.length, many.text], [16, '-w16 -w17']);
  assert.deepEqual(many.ignored[1], { operator: '-w17', reason: 'only 16 operators are read' });
});

test('facts, beginnings, alternatives and words in the title', () => {
  const [heron, egret] = ['heron', 'egret'].map((text) => ({ in: 'word', text }));
  const tag = { in: 'tag', text: 'wet birds' };
  for (const [query, expected] of [
    ['tag:"Wet  Birds" x', { text: 'x', must: [tag] }],
    ['x -tag:"Wet Birds"', { text: 'x', mustNot: [tag] }],
    ['folder:Nature/Birds', { must: [{ in: 'folder', text: 'nature/birds' }] }],
    ['source:CLI', { must: [{ in: 'source', text: 'cli' }] }],
    ['type:PDF -type:video', { must: [{ in: 'type', text: 'pdf' }], mustNot: [{ in: 'type', text: 'video' }] }],
    ['is:Unread -is:starred', { must: [{ in: 'is', text: 'unread' }], mustNot: [{ in: 'is', text: 'starred' }] }],
    ['url:a.example/b', { must: [{ in: 'url', text: 'a.example/b' }] }],
    ['url:wading-birds', { must: [{ in: 'url', text: 'wading-birds' }] }],
    ['wad*', { text: 'wad', must: [{ in: 'prefix', text: 'wad' }] }],
    ['x -wad*', { text: 'x', mustNot: [{ in: 'prefix', text: 'wad' }] }],
    ['grey in:title heron', { text: 'grey heron', must: [{ in: 'title', text: 'grey heron' }] }],
    ['heron -in:title', { text: 'heron', mustNot: [{ in: 'title', text: 'heron' }] }],
    ['heron OR egret', { text: 'heron egret', must: [{ in: 'any', of: [heron, egret] }] }],
    [
      'tag:"wet birds" OR -heron OR egret',
      { text: 'egret', must: [{ in: 'any', of: [tag, { in: 'not', of: heron }, egret] }] },
    ],
    ['-after:2024', { mustNot: [{ in: 'after', at: day('2024-01-01') }] }],
    [
      'before:2024 OR egret',
      { text: 'egret', must: [{ in: 'any', of: [{ in: 'before', at: day('2024-01-01') }, egret] }] },
    ],
  ] as const)
    assert.deepEqual({ ...readOperators(query), written: [] }, { ...plain, text: '', ...expected }, query);
  assert.deepEqual(readOperators('a heron OR  "grey egret" b').written, ['heron OR  "grey egret"']);
  assert.deepEqual(readOperators('after:last week heron').written, ['after:last week']);
  assert.equal(readOperators('after:last heron').text, 'after:last heron');
  assert.deepEqual(readOperators('the law is: read it').must, []);
});

test('an operator that cannot be read is text, and reported', () => {
  for (const [query, reason] of [
    ['site:%%', 'it has no words'],
    ['lang:xx', 'not a known language'],
    ['before:tomorrow', 'not a date'],
    ['after:2024-13', 'not a date'],
    ['after:2023-02-29', 'not a date'],
    ['after:0099', 'not a date'],
    ['-before:blah', 'not a date'],
    ['title:""', 'it has no words'],
    ['type:essay', 'not one of html, pdf, video, audio, feed'],
    ['is:new', 'not one of starred, archived, unread, read'],
    ['in:body', 'only in:title is known'],
  ] as const) {
    const ignored = [{ operator: query, reason }];
    assert.deepEqual(readOperators(query), { ...plain, text: query, ignored }, query);
    const either = readOperators(`${query} OR heron`);
    assert.deepEqual([either.text, either.ignored], [`${query} heron`, ignored]);
  }
});

test('times are those of the user: weeks begin on Monday, months and weekdays are the last ones', () => {
  const now = Date.parse('2026-03-11T01:30:00Z'); // Tuesday evening in New York
  for (const [zone, value, expected] of [
    ['UTC', '2026', '2026-01-01T00:00Z'],
    ['America/New_York', '2026', '2026-01-01T05:00Z'],
    ['America/New_York', '2026-07-04', '2026-07-04T04:00Z'],
    ['America/New_York', '2026-07-04T12:00', '2026-07-04T16:00Z'],
    ['America/New_York', '2026-07-04T12:00Z', '2026-07-04T12:00Z'],
    ['UTC', 'today', '2026-03-11T00:00Z'],
    ['America/New_York', 'today', '2026-03-10T04:00Z'],
    ['America/New_York', 'yesterday', '2026-03-09T04:00Z'],
    ['America/New_York', '3d', '2026-03-07T05:00Z'],
    ['UTC', '7d', '2026-03-04T00:00Z'],
    ['UTC', '2 weeks ago', '2026-02-25T00:00Z'],
    ['UTC', '1m', '2026-02-11T00:00Z'],
    ['UTC', '2 years', '2024-03-11T00:00Z'],
    ['UTC', '12h', '2026-03-10T13:30Z'],
    ['UTC', 'last week', '2026-03-02T00:00Z'],
    ['UTC', 'this  Week', '2026-03-09T00:00Z'],
    ['UTC', 'last month', '2026-02-01T00:00Z'],
    ['UTC', 'this year', '2026-01-01T00:00Z'],
    ['UTC', 'wednesday', '2026-03-11T00:00Z'],
    ['UTC', 'last wednesday', '2026-03-04T00:00Z'],
    ['UTC', 'thu', '2026-03-05T00:00Z'],
    ['UTC', 'March', '2026-03-01T00:00Z'],
    ['UTC', 'last march', '2025-03-01T00:00Z'],
    ['UTC', 'april', '2025-04-01T00:00Z'],
    ['UTC', 'sept 2024', '2024-09-01T00:00Z'],
    // Clocks skip this midnight.
    ['America/Sao_Paulo', '2017-10-15', '2017-10-15T03:00Z'],
    // Clocks show this midnight twice.
    ['America/Havana', '2025-11-02', '2025-11-02T04:00Z'],
    ['UTC', 'ma', null],
    ['UTC', 'last', null],
    ['UTC', 'last 2024', null],
    ['UTC', 'monday 2024', null],
    ['UTC', '7x', null],
    ['UTC', '2024-02-03T25:00', null],
  ] as const)
    assert.equal(timeOf(value, { now, zone }), expected && Date.parse(expected), `${zone} ${value}`);
});

test('the name of a site is not searched for', () => {
  const site = { in: 'site', text: 'example.com' };
  const written = ['site:https://www.example.com/a?b'];
  assert.deepEqual(readOperators(written[0]), { ...plain, text: '', must: [site], written });
});

test('what is no operator is text', () => {
  const words =
    'well-known - -- site: lang: mysite:example.com http://example.com/a C++ "" " -"" --all ---all -#tag a=-1';
  const others = ['a - b', 'note: this', 'an "open quote', '12" pipe', 'mount --all', '--"a phrase"', 'a -.net'];
  const signs = ['a –all', 'x-y -- z', '--site:example.com', '-"open'];
  for (const text of [...words.split(' '), ...others, ...signs])
    assert.deepEqual(readOperators(text), { ...plain, text }, text);
});

test('any query is read: nothing of its words is lost, and no time is needed beyond its length', () => {
  const parts = '" - : site title: lang: before: heron 2024 de * “ ” a.example 😀'.split(' ');
  const pieces = fc.constantFrom(...parts, ' ', '  ', ' OR ', 'after:last ', '\n');
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const { written: _written, ...read } = readOperators(parts.join(''));
      const said = JSON.stringify(read);
      assert.equal(said.includes('heron'), parts.join('').includes('heron'));
    }),
    { numRuns: 800 },
  );
  for (const piece of ['a OR ', 'after:last ', '"a', 'site:', '-', '" ', 'title: ', 'a"', '“'])
    readOperators(piece.repeat(4000 / piece.length));
});
