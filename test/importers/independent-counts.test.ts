/**
 * The importers beside another program: Python counts what a file has (count-items.py), of exports of real programs and of the profile
 * of a Chromium that has just been used. Skipped without Python, the exports, or Chromium.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { skipReason } from '../../src/compute/import-progress.ts';
import type { ImportItem } from '../../src/domain/import.ts';
import { visitsLeftOut } from '../../src/importers/read-history.ts';
import { chromiumArgs, chromiumPath, skipChromium } from '../chromium.ts';
import { redirectTo, Site } from '../providers/small-web.ts';
import { temporaryFolder } from '../scope.ts';
import { readItems } from './read-items.ts';

const exportsDir = fileURLToPath(new URL('../../../shared/data/exports/', import.meta.url));
const program = fileURLToPath(new URL('count-items.py', import.meta.url));
const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'no python3';
const noExports = existsSync(exportsDir) ? noPython : 'the public exports are not beside the checkout';
const noChromium = skipChromium === false ? noPython : skipChromium;

function counted(path: string): unknown {
  const { status, stdout, stderr } = spawnSync('python3', [program, path], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** Items, those left out as no web addresses, and those whose address an earlier item has. */
function countsOf(items: readonly ImportItem[]) {
  const reasons = items.map((item) => skipReason(item, { since: null, min_visits: 1 }));
  const web = items.filter((_, at) => reasons[at] === null).map(({ url }) => url);
  return {
    items: items.length,
    skipped: reasons.filter((reason) => reason === 'not a web address').length,
    again: web.length - new Set(web).size,
  };
}

for (const name of noExports === false ? readdirSync(exportsDir) : []) {
  test(`${name} has as many items, skipped ones and repeated addresses as Python counts`, async () => {
    const path = join(exportsDir, name);
    const { items } = await readItems(path);
    assert.deepEqual(countsOf(items), counted(path));
  });
}

test('a profile that Chromium has just written has the visits and bookmarks that were made', {
  skip: noChromium,
}, async (t) => {
  const served = await Site.open(t, {
    '/moved': redirectTo('/harbour'),
    '*': ({ url }, response) => {
      const frame = url === '/framed' ? '<iframe src="/inside"></iframe>' : '';
      response.setHeader('content-type', 'text/html').end(`<title>${url}</title><p>Text.</p>${frame}`);
    },
  });
  const site = served.url('');
  const profile = temporaryFolder(t);
  const began = Date.now();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath,
    args: [...chromiumArgs],
  });
  const page = await context.newPage();
  for (const path of ['/lighthouse', '/moved', '/framed', '/lighthouse']) await page.goto(site + path);
  await page.goto('chrome://bookmarks/');
  for (const path of ['/lighthouse', '/tide'])
    await page.evaluate(`chrome.bookmarks.create({ parentId: '1', title: '${path}', url: '${site}${path}' })`);
  await context.close();

  const path = join(profile, 'Default', 'History');
  const history = await readItems(path);
  assert.equal(history.format, 'chromium');
  assert.deepEqual(
    history.items.map(({ url, title }) => [url, title]),
    ['/lighthouse', '/harbour', '/framed', '/lighthouse'].map((shown) => [site + shown, shown]),
  );
  assert.ok(history.items.every(({ at }) => at !== null && at >= began - 1000 && at <= Date.now()));
  assert.deepEqual(countsOf(history.items), { items: 4, skipped: 0, again: 1 });
  assert.deepEqual(countsOf(history.items), counted(path));
  assert.equal((await visitsLeftOut(path, 'chromium'))['steps of a redirect'], 1);

  const bookmarks = await readItems(join(profile, 'Default', 'Bookmarks'));
  assert.equal(bookmarks.format, 'chromium-bookmarks');
  assert.deepEqual(bookmarks.items.map(({ url, title }) => [url, title]).sort(), [
    [`${site}/lighthouse`, '/lighthouse'],
    [`${site}/tide`, '/tide'],
  ]);
  assert.deepEqual(countsOf(bookmarks.items), counted(join(profile, 'Default', 'Bookmarks')));
});
