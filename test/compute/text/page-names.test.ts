/** What a page mentions, from the spans that the encoder found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passagesToEmbed } from '../../../src/compute/embedding/embedding-text.ts';
import { type NameSpans, nameTypes } from '../../../src/compute/text/name-tags.ts';
import { namesOfPage, spansInPage } from '../../../src/compute/text/page-names.ts';

/** The text without its marks, and spans of what stands in `[person|…]`. */
function marked(text: string): { body: string; spans: NameSpans } {
  const spans: NameSpans = [];
  let body = '';
  for (const part of text.split(/(\[\w+\|[^\]]*\])/)) {
    const [, type, name] = /^\[(\w+)\|([^\]]*)\]$/.exec(part) ?? [];
    if (name !== undefined) spans.push(body.length, body.length + name.length, nameTypes.map(String).indexOf(type));
    body += name ?? part;
  }
  return { body, spans };
}

const cases: [what: string, text: string, names: string[]][] = [
  ['as they are written', 'In [place|São Paulo] and [place|Łódź].', ['São Paulo', 'Łódź']],
  ['without punctuation around them', 'She ("[person|"Ann Lee),]" said.', ['Ann Lee']],
  ['without a possessive', "[organization|Microsoft's] and [person|James’] words", ['Microsoft', 'James']],
  [
    'with the points of initials',
    'by [person|J. R. R. Tolkien.] Then [person|Martin Luther King Jr.]',
    ['J. R. R. Tolkien', 'Martin Luther King Jr.'],
  ],
  [
    'with brackets that are whole',
    'the [organization|Congress (India)], the [organization|Congress (India]',
    ['Congress (India)', 'Congress'],
  ],
  ['without soft hyphens', 'in [place|Schles\u00adwig]', ['Schleswig']],
  ['of scripts without capitals', '[place|東京] and [person|नरेन्द्र मोदी]', ['東京', 'नरेन्द्र मोदी']],
  ['none in lower case', 'the [other|support vector machine] and [other|iPhone 4]', ['iPhone 4']],
  ['none of addresses', 'at [organization|https://Example.com/About] or [organization|Node.js]', []],
  [
    'none within an address',
    'see http://news.example/[other|FullQuote.aspx]?a=1 (or http://b.example/)[place|Oslo]',
    ['Oslo'],
  ],
  [
    'none of one letter, no amount',
    'of [place|U.] and [other|US$3] to [organization|X Corp], [other|7 Up]',
    ['X Corp', '7 Up'],
  ],
  ['none of code', 'const [other|Map] = new [other|Map]({ a: [other|Set](), b: c => c });', []],
  ['none of a table of numbers', '[place|Oslo] 1200 3400 5600 7800', []],
  ['none of a menu', '[place|Home] | [other|News] | [other|Sport] | [other|Contact]', []],
  [
    'of prose in one line that begins like a menu',
    `Home | [other|News] | Sport | Contact ${'and so on '.repeat(40)} in [place|Oslo] ${'and so on '.repeat(40)}`,
    ['Oslo'],
  ],
  ['a surname with the full name', '[person|Ann Lee] spoke. [person|Lee] left.', ['Ann Lee+Lee']],
  ['an organisation by itself', '[person|Henry Ford] began [organization|Ford].', ['Henry Ford', 'Ford']],
  [
    'a surname of two people by itself',
    '[person|Ann Lee] and [person|Bo Lee]. [person|Lee] left.',
    ['Ann Lee', 'Bo Lee', 'Lee'],
  ],
];

test('names of a page', async (t) => {
  for (const [what, text, names] of cases) {
    await t.test(what, () => {
      const { body, spans } = marked(text);
      const found = namesOfPage(null, body, spans);
      const joined = found.map(({ forms }) => forms.map(([form]) => form).join('+'));
      assert.deepEqual(joined, names);
      for (const [form, [start, end]] of found.flatMap(({ forms }) => forms))
        assert.equal(body.slice(start, end).replaceAll('\u00ad', ''), form);
    });
  }
});

test('passages that overlap count a mention once, a name has the type that most mentions say, and a title counts without its site', () => {
  const { body, spans } = marked('[place|Paris] met [person|Paris] and [person|Paris].');
  const title = 'Notes of Oslo - Daily Planet';
  const ofTitle = [title.indexOf('Oslo'), title.indexOf('Daily')].flatMap((at, no) => [
    at,
    at + (no === 0 ? 4 : 12),
    2,
  ]);
  const inTitle = spansInPage(ofTitle, { title: title.length, bodyAt: title.length + 1, charStart: 0 });
  assert.deepEqual(namesOfPage(title, body, [...inTitle, ...spans, ...spans]), [
    { type: 'place', key: 'oslo', forms: [['Oslo', [-20, -16]]] },
    { type: 'person', key: 'paris', forms: [['Paris', [0, 5, 10, 15, 20, 25]]] },
  ]);
});

test('a title is placed as it was read: cut where it is long, and only with the first passage, wherever that begins', () => {
  const title = `In Oslo ${'and so on '.repeat(40)}`;
  const body = '  First words. Other words.';
  const chunks = [
    { section_title: null, char_start: 2, char_end: 14 },
    { section_title: null, char_start: 15, char_end: 27 },
  ];
  const places = passagesToEmbed(title, body, chunks).map((passage) => spansInPage([3, 7, 2], passage));
  assert.deepEqual(places, [[-298, -294, 2], []]);
  assert.deepEqual(namesOfPage(title, body, places.flat()), [
    { type: 'place', key: 'oslo', forms: [['Oslo', [-298, -294]]] },
  ]);
});

test('of many names the most mentioned are kept', () => {
  const { body, spans } = marked(
    Array.from({ length: 300 }, (_, at) => `[other|Name${at}x]`)
      .join(' and ')
      .concat(' [other|Name299x]'),
  );
  const found = namesOfPage(null, body, spans);
  assert.equal(found.length, 200);
  assert.ok(found.some(({ key }) => key === 'name299x'));
});
