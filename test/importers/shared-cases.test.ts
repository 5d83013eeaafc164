/** Small files that importers once read wrongly, from the test data beside the checkout. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ownTitle } from '../../src/domain/page.ts';
import { readItems } from './read-items.ts';

const cases = fileURLToPath(new URL('../../../shared/data/cases/', import.meta.url));
const skip = existsSync(cases) ? false : 'needs ../shared/data/cases next to the checkout';

/** File, its format, and of each entry the address and the title that names it. */
const files: [string, string, [string, string | null][]][] = [
  [
    'bookmark-title-with-tag/i3b.html',
    'bookmarks',
    [
      ['https://i3b.example.com/one', 'How the <title> element works'],
      ['https://i3b.example.com/two', 'Second'],
      ['https://i3b.example.com/three', 'Third'],
    ],
  ],
  [
    'bookmark-title-with-tag/i3c.html',
    'bookmarks',
    [
      ['https://i3c.example.com/one', 'One'],
      ['https://i3c.example.com/two', 'Second'],
    ],
  ],
  [
    'import-known-elsewhere/i7_raindrop.csv',
    'raindrop',
    [
      ['https://i7.example.com/locks', 'Locks, weirs and "ladders"'],
      ['https://i7.example.com/second', 'Second'],
    ],
  ],
  ['title-is-url/i18_bookmark_domain.html', 'bookmarks', [['http://127.0.0.1:9123/i18/c', null]]],
  ['title-is-url/i18_pocket_urltitle.csv', 'pocket', [['http://127.0.0.1:9123/i18/a', null]]],
  [
    'title-is-url/i18_ril.html',
    'pocket',
    [
      ['http://127.0.0.1:9123/i18/b', null],
      ['https://i18.example.com/arch', 'Archived one'],
    ],
  ],
];

for (const [file, format, expected] of files)
  test(`${file} is read whole, and an address is no title`, { skip }, async () => {
    const read = await readItems(`${cases}${file}`);
    const found = read.items.map(({ url, title }) => [url, ownTitle(title ?? null, url)]);
    assert.deepEqual([read.format, found], [format, expected]);
  });
