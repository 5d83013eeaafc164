/** What stands in front of a page is told from a page, above all from a page about it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { extractHtml } from '../../../src/compute/extraction/extract-html.ts';
import { recognizeWall, recognizeWallText } from '../../../src/compute/extraction/recognize-wall.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';
import { realPages, wallPages } from './wall-pages.ts';

const data = fileURLToPath(new URL('../../../../shared/data/', import.meta.url));
const skip = existsSync(data) ? false : `the public data sets are not at ${data}`;

const wallOf = (html: string) => recognizeWall({ ...extractHtml(html, 'https://example.com/'), html });

for (const [name, { wall, html }] of Object.entries(wallPages)) {
  test(`${name} is recognised as ${wall}`, () => assert.equal(wallOf(html), wall));
}

for (const [name, html] of Object.entries(realPages)) {
  test(`${name} stays a page`, () => assert.equal(wallOf(html), null));
}

test('hostile source is looked through in time in proportion', () => {
  assertGrowsInProportion(
    50_000,
    (count) => '<noscript>'.repeat(count * 0.4) + '<input '.repeat(count * 0.6) + "i'm ".repeat(count),
    (html) => {
      recognizeWall({ title: `${'we can'.repeat(80)}`, text: 'you need to '.repeat(120), html });
      recognizeWall({ title: null, text: '', html });
      recognizeWallText('you are blocked', 'the requested url you need to '.repeat(20));
    },
  );
});

test('of the saved pages none is taken for something else, whole or cut short', { skip }, () => {
  const saved = [
    ...readdirSync(`${data}html`).map((name) => `${data}html/${name}`),
    ...readdirSync(`${data}pages`).map((name) => `${data}pages/${name}`),
  ].filter((path) => /\.html(?:\.gz)?$/.test(path));
  assert.ok(saved.length > 100);
  for (const path of saved) {
    const bytes = readFileSync(path);
    const html = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
    const page = extractHtml(html, path);
    for (const length of [page.text.length, 1500, 600, 160, 80]) {
      assert.equal(recognizeWall({ ...page, text: page.text.slice(0, length), html }), null, `${path} ${length}`);
    }
  }
});

test('of short news and encyclopedia paragraphs none is taken for something else', { skip }, () => {
  let count = 0;
  for (const name of ['ag-news.jsonl', 'squad-articles.jsonl']) {
    for (const line of readFileSync(`${data}topics/${name}`, 'utf8').split('\n')) {
      if (line === '') continue;
      const { title, text } = JSON.parse(line);
      assert.equal(recognizeWall({ title: title || null, text, html: text }), null, line);
      count++;
    }
  }
  assert.equal(count, 5067);
});
