/** What stands in front of a page is told from a page, above all from a page about it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { extractHtml } from '../../../src/compute/extraction/extract-html.ts';
import { recognizeWall, recognizeWallText, type Wall } from '../../../src/compute/extraction/recognize-wall.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';
import { realPages, wallPages } from './wall-pages.ts';

const data = fileURLToPath(new URL('../../../../shared/data/', import.meta.url));
const skip = existsSync(data) ? false : `the public data sets are not at ${data}`;

/** One of four pages, in two lengths, and one of ten paragraphs are tried; all with `npm run soak -- --only extraction`. */
const triesAll = process.env.READBACK_TEST_ALL_PAGES === '1';

const wallOf = (html: string) => recognizeWall({ ...extractHtml(html, 'https://example.com/'), html });

for (const [name, { wall, html }] of Object.entries(wallPages)) {
  test(`${name} is recognised as ${wall}`, () => assert.equal(wallOf(html), wall));
}

for (const [name, html] of Object.entries(realPages)) {
  test(`${name} stays a page`, () => assert.equal(wallOf(html), null));
}

test('a text without its page is a wall if it says nothing else than its title, or what only walls say', () => {
  const walls: [title: string, text: string, wall: Wall][] = [
    ['404', '404', 'error_page'],
    ['404 | Example', '404 Not Found', 'error_page'],
    ['Page not found', 'Page not found\nThe page could not be found. Go to the home page.', 'error_page'],
    ['Page not found', 'The page you requested could not be found. Go to the home page.', 'error_page'],
    ['Just a moment...', 'Just a moment...', 'challenge'],
    ['Access denied', 'You do not have access to shop.example.\nError 1020\nRay ID: 8a1b2c3d4e5f', 'challenge'],
    ['Log in', 'Log in', 'login_wall'],
    ['Sign in', 'Email\nPassword\nForgot password?', 'login_wall'],
    ['Anmelden', 'Passwort vergessen?', 'login_wall'],
  ];
  for (const [title, text, wall] of walls) assert.equal(recognizeWallText(title, text), wall, `${title}: ${text}`);
  const pages: [title: string | null, text: string][] = [
    [null, '404'],
    ['404', '404 is the band that opened the festival. Their album could not be found in any shop.'],
    ['404', 'What a server says when it cannot find a page: the address does not exist, or no longer exists.'],
    ['Access denied', 'The error 1020 and its Ray ID: what a visitor who is kept out can tell the owner of the site.'],
    ['Log in', 'To log in, choose Card in the menu and type your password. If you forgot your password, ask the desk.'],
    ['Sign in', 'Email\nThe desk answers within a day, also about a password that somebody forgot.'],
    ['Error', 'To err is human. An essay in three parts.'],
  ];
  for (const [title, text] of pages) assert.equal(recognizeWallText(title, text), null, `${title}: ${text}`);
});

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
  for (const path of saved.filter((_, at) => triesAll || at % 4 === 0)) {
    const bytes = readFileSync(path);
    const html = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
    const page = extractHtml(html, path);
    for (const length of [page.text.length, 160, ...(triesAll ? [1500, 600, 80] : [])]) {
      assert.equal(recognizeWall({ ...page, text: page.text.slice(0, length), html }), null, `${path} ${length}`);
    }
  }
});

test('of short news and encyclopedia paragraphs none is taken for something else', { skip }, () => {
  let count = 0;
  for (const name of ['ag-news.jsonl', 'squad-articles.jsonl']) {
    for (const line of readFileSync(`${data}topics/${name}`, 'utf8').split('\n')) {
      if (line === '') continue;
      if (count++ % 10 > 0 && !triesAll) continue;
      const { title, text } = JSON.parse(line);
      assert.equal(recognizeWall({ title: title || null, text, html: text }), null, line);
    }
  }
  assert.equal(count, 5067);
});
