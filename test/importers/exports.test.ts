/**
 * The importers on exports of real programs. The counts were read from the files by hand: links with `grep -c '<A '`, rows of the
 * databases with SQL, records of the CSV with another parser (two titles of pocket.csv go over several lines), entries of the JSON by eye.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { skipReason } from '../../src/compute/import-progress.ts';
import type { ImportItem } from '../../src/domain/import.ts';
import { openSource } from '../../src/importers/open-source.ts';

const exportsDir = fileURLToPath(new URL('../../../shared/data/exports/', import.meta.url));

interface Expected {
  format: string;
  items: number;
  /** Of them, on the web: three links of the Firefox file are queries of its own (`place:`). */
  web: number;
  /** Items without a date: Safari and Instapaper (of before 2024) have none. */
  undated: number;
}

const expected: Record<string, Expected> = {
  'chrome-58-History.sqlite': { format: 'chromium', items: 1, web: 1, undated: 0 },
  'firefox-places.sqlite': { format: 'firefox', items: 1, web: 1, undated: 0 },
  'chromium_nested.htm': { format: 'bookmarks', items: 18, web: 18, undated: 0 },
  'firefox_nested.htm': { format: 'bookmarks', items: 24, web: 21, undated: 0 },
  'netscape_extended.htm': { format: 'bookmarks', items: 1, web: 1, undated: 0 },
  'safari_folded.htm': { format: 'bookmarks', items: 3, web: 3, undated: 3 },
  'shaarli_legacy.htm': { format: 'bookmarks', items: 2, web: 2, undated: 0 },
  'pocket.csv': { format: 'pocket', items: 7, web: 7, undated: 0 },
  'instapaper-export.csv': { format: 'instapaper', items: 4, web: 4, undated: 4 },
  'omnivore.json': { format: 'omnivore', items: 20, web: 20, undated: 0 },
  'linkwarden-export.json': { format: 'linkwarden', items: 6, web: 6, undated: 0 },
};

async function itemsOf(name: string): Promise<{ format: string; items: ImportItem[] }> {
  const source = await openSource(`${exportsDir}${name}`, null);
  const items: ImportItem[] = [];
  for await (const item of source.items()) items.push(item);
  return { format: source.format, items };
}

const skip = existsSync(exportsDir) ? false : 'the public exports are not beside the checkout';

for (const [name, counts] of Object.entries(expected)) {
  test(`${name} is recognised and read whole`, { skip }, async () => {
    const { format, items } = await itemsOf(name);
    const left = items.filter((item) => skipReason(item, { since: null, min_visits: 1 }) === null);
    const undated = items.filter(({ at }) => at === null).length;
    assert.deepEqual({ format, items: items.length, web: left.length, undated }, counts);
  });
}

test('dates, folders, tags and notes are those of the files', { skip }, async () => {
  const firefox = (await itemsOf('firefox_nested.htm')).items.find(({ url }) => url === 'http://xkcd.com/1332/');
  assert.deepEqual(firefox, {
    url: 'http://xkcd.com/1332/',
    title: 'xkcd: Slippery Slope',
    at: 1463687035_000,
    visits: null,
    metadata: { tags: ['xkcd', 'webcomic', 'slope', 'respect'], folder: 'Comics' },
    body_html: null,
    body_text: null,
    fault: null,
  });
  const chromium = (await itemsOf('chromium_nested.htm')).items.find(
    ({ url }) => url === 'http://www.php-fig.org/psr/',
  );
  assert.deepEqual([chromium?.at, chromium?.metadata], [1466013084_000, { folder: 'Dev/PHP' }]);
  const history = (await itemsOf('chrome-58-History.sqlite')).items[0];
  // visit_time 13161017367315765: microseconds since 1601, of which 11644473600 s are before 1970.
  assert.deepEqual([history.at, history.visits], [1516543767315, 1]);
  const places = (await itemsOf('firefox-places.sqlite')).items[0];
  assert.deepEqual([places.url, places.title, places.at], ['http://news.google.com/', 'Google News', 1309518981371]);
  const linkwarden = (await itemsOf('linkwarden-export.json')).items[2];
  assert.deepEqual(linkwarden.metadata, { folder: 'Tech/Frontend/Frameworks' });
  const pocket = (await itemsOf('pocket.csv')).items[6];
  assert.equal(pocket.title, 'Des abeilles pour résoudre les « conflits » entre les humains et les élépha');
  const safari = (await itemsOf('safari_folded.htm')).items[2];
  assert.deepEqual(
    [safari.url, safari.metadata],
    ['https://en.wikipedia.org/wiki/Main_Page', { folder: 'Autre Divers/doc' }],
  );
  const shaarli = (await itemsOf('shaarli_legacy.htm')).items[0];
  assert.deepEqual(shaarli.metadata, { tags: ['css'], note: 'simple on/off button' });
});

test('the same file has the same identity wherever it lies, and another file has another', { skip }, async () => {
  const one = await openSource(`${exportsDir}pocket.csv`, null);
  const same = await openSource(`${exportsDir}pocket.csv`, 'pocket');
  const other = await openSource(`${exportsDir}instapaper-export.csv`, null);
  assert.equal(one.id, same.id);
  assert.notEqual(one.id, other.id);
});
