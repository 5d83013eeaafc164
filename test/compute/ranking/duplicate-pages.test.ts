/** Which pages are one result, in three scripts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ComparedPage, collapseDuplicates, sketchOf } from '../../../src/compute/ranking/duplicate-pages.ts';
import { wordBytes } from '../../../src/compute/text/word-bytes.ts';

const scripts: Record<string, { letters: string; between: string }> = {
  latin: { letters: 'abcdefghijklmnop', between: ' ' },
  cyrillic: { letters: 'абвгдежзиклмнопр', between: ' ' },
  chinese: { letters: '的一是不了人我在有他这中大来上国', between: '' },
};

/** Words that no other place of any text has. */
function wordAt(script: string, seed: number, place: number): string {
  const { letters } = scripts[script];
  const number = Math.imul(seed * 10_007 + place + 1, 0x9e37_79b1) >>> 0;
  // A character of an unspaced script is a word.
  if (scripts[script].between === '') return String.fromCodePoint(0x4e00 + (number % 20_000));
  return Array.from({ length: 8 }, (_, digit) => letters[(number >>> (4 * digit)) & 15]).join('');
}

function page(script: string, url: string, title: string | null, words: number, changed: readonly number[] = []) {
  const { between } = scripts[script];
  const text = Array.from({ length: words }, (_, at) => wordAt(script, changed.includes(at) ? 2 : 1, at)).join(between);
  return {
    canonical_url: url,
    title,
    content_hash: words === 0 ? null : text,
    ...sketchOf(Uint8Array.from(wordBytes(words === 0 ? (title ?? '') : text))),
    words,
  };
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

type Half = Parameters<typeof page> extends [string, ...infer Rest] ? Rest : never;
const home = 'https://site.example/story';
const rows: [what: string, same: boolean, a: Half, b: Half][] = [
  ...(
    'http://site.example/story https://www.site.example/story/ https://m.site.example/story ' +
    'https://amp.site.example/story https://site.example/amp/story https://site.example/story.amp ' +
    'https://site.example/print/story https://site.example/story?print=true https://site.example/story?view=print ' +
    'https://site.example/story/index.html'
  )
    .split(' ')
    .map((url): [string, boolean, Half, Half] => [url, true, [home, 'Story', 20], [url, 'Print: Story', 20]]),
  ['a view without a text', true, [home, 'Story', 0], ['http://site.example/story', 'Story', 0]],
  ['a view with another text', false, [home, 'Story', 100], ['http://site.example/story', 'Story', 100, range(0, 50)]],
  ['an unknown parameter', true, [home, 'Story', 100], [`${home}?visitor=8`, 'Story', 100]],
  ['a short text at two places', false, [home, 'Story', 40], ['https://site.example/other', 'Story', 40]],
  ['a part of a parameter', false, [`${home}?m=5`, 'Story', 40], [`${home}?m=6`, 'Story', 40]],
  ['one text, two titles', false, [home, 'Budget', 100], ['https://site.example/plan', 'Plan', 100]],
  ['an agency', true, [home, 'Story | One', 500], ['https://paper.example/77', 'Story – Two', 500, [9, 200]]],
  [
    'another story',
    false,
    [home, 'Story', 300],
    ['https://paper.example/77', 'Story', 300, range(0, 300).filter((at) => at % 20 === 0)],
  ],
  ['a moved page', true, ['https://site.example/2020/05/story', 'Story', 500], [home, 'Story', 500, [20]]],
  [
    'two products',
    false,
    ['https://shop.example/red', 'Red shirt - Shop', 300],
    ['https://shop.example/blue', 'Blue shirt - Shop', 300, [20]],
  ],
  [
    'products with the title of the shop',
    false,
    ['https://shop.example/red', 'Shop', 300],
    ['https://shop.example/blue', 'Shop', 300, range(20, 20)],
  ],
  [
    'products by number',
    false,
    ['https://shop.example/p/17', 'Shop', 500],
    ['https://shop.example/p/18', 'Shop', 500, [20]],
  ],
  [
    'versions in the address',
    false,
    ['https://docs.example/1.2/install', 'Install', 300],
    ['https://docs.example/1.3/install', 'Install', 300],
  ],
  [
    'versions on two hosts',
    false,
    ['https://v2.docs.example/install', 'Install', 300],
    ['https://v3.docs.example/install', 'Install', 300],
  ],
  [
    'versions in the title',
    false,
    ['https://docs.example/a', 'Install 1.2', 300],
    ['https://mirror.example/a', 'Install 1.3', 300],
  ],
  ['a page without titles', true, [home, null, 500], ['https://paper.example/77', null, 500, [9]]],
];

test('views of a page and nearly equal texts are one result; products, versions and short texts are not', () => {
  for (const script of Object.keys(scripts))
    for (const [what, same, a, b] of rows) {
      const facts: ComparedPage[] = [page(script, ...a), page(script, ...b)];
      const shown = collapseDuplicates([{ page_no: 0 }, { page_no: 1 }], ({ page_no }) => facts[page_no]);
      const told = shown.map(({ page_no, duplicates }) => `${page_no}: ${duplicates}`);
      assert.deepEqual(told, same ? ['0: 1'] : ['0: ', '1: '], `${script}: ${what}`);
    }
});

test('a page joins the best one that it equals, and pages that are not compared stay', () => {
  const facts = [
    page('latin', home, 'Story', 100),
    null,
    page('latin', 'https://site.example/other', 'Other', 100, range(0, 100)),
    page('latin', 'http://site.example/story', 'Story', 100),
    page('latin', 'http://site.example/other', 'Other', 100, range(0, 100)),
  ];
  const pages = facts.map((_, page_no) => ({ page_no, score: -page_no }));
  const shown = collapseDuplicates(pages, ({ page_no }) => facts[page_no]);
  const told = shown.map(({ page_no, score, duplicates }) => `${page_no} ${score}: ${duplicates}`);
  assert.deepEqual(told, ['0 0: 3', '1 -1: ', '2 -2: 4']);
});
