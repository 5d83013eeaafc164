/** Real web pages, saved as browsers got them, through the whole service: found by their queries, and opened in a real browser at the passage. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { type BrowserContext, chromium } from 'playwright-core';
import { haveRealPages, realPagesDir, searchRealPages, shareWithin } from '../../bench/real-pages.ts';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { chromiumArgs, pageBrowserPath, skipChromium } from '../chromium.ts';
import { type Page, Site } from '../providers/small-web.ts';
import { newestFirst } from '../scope.ts';
import { patienceMs, RunningService, until } from './service.ts';

const skip = haveRealPages ? false : `the real pages are not at ${realPagesDir}`;
let service: RunningService;
const scope = newestFirst({ after });
before(async () => {
  service = await RunningService.start(scope);
  await service.pauseVectors();
});

test('32 saved web pages are indexed, and at least 95 % of the queries find theirs among the first three', {
  skip,
}, async (t) => {
  const { pages, queries, titles } = await searchRealPages((method, path, body) => service.call(method, path, body));
  assert.equal(pages, 32);
  const missed = queries.filter(({ rank }) => rank !== 1).map(({ query, rank, first }) => ({ query, rank, first }));
  t.diagnostic(`not first: ${JSON.stringify(missed)}`);
  assert.ok(shareWithin(queries, 3) >= 0.95, JSON.stringify(missed));
  assert.deepEqual(
    titles.filter(({ rank }) => rank !== 1),
    [],
    'a page is found first by its own title',
  );
});

/** Above each page, so that whatever is found is scrolled to. */
const space = '<style>html{padding-top:5000px!important}</style>';

/** Serves each saved page under the name of its file, with room above it. */
async function savedPages(t: TestContext): Promise<string> {
  const page: Page = (request, response) => {
    const path = join(realPagesDir, decodeURIComponent((request.url ?? '').slice(1)));
    if (!existsSync(path)) return void response.writeHead(404).end();
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(readFileSync(path, 'utf8').replace(/<\/head>/i, `${space}</head>`));
  };
  return (await Site.open(t, { '*': page })).url('');
}

/** A browser without the network, in which pages run no scripts: theirs are elsewhere. */
async function browserOf(t: TestContext, origin: string): Promise<BrowserContext> {
  const browser = await chromium.launch({
    executablePath: pageBrowserPath,
    args: [...chromiumArgs],
    timeout: patienceMs,
  });
  t.after(() => browser.close());
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1000, height: 800 } });
  context.setDefaultTimeout(patienceMs);
  await context.route('**/*', (route) =>
    route.request().isNavigationRequest() && route.request().url().startsWith(origin)
      ? route.continue()
      : route.abort(),
  );
  return context;
}

/** The text that is in the window, without white space; null while the window is at the top, '' for a page that shows nothing. */
const seenText = `(() => {
  if (document.body.getBoundingClientRect().height === 0) return '';
  if (scrollY === 0) return null;
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const isSeen = (box) => box.bottom > 0 && box.top < innerHeight && box.width > 0;
    if (Array.from(range.getClientRects()).some(isSeen)) seen.push(node.data);
  }
  return seen.join('').replace(/\\s+/g, '');
})()`;

test('the first passage of every second query, opened by its link, is what the browser shows', {
  skip: skip || skipChromium,
}, async (t) => {
  const origin = await savedPages(t);
  const browser = await browserOf(t, origin);
  const lines = readFileSync(join(realPagesDir, 'queries.jsonl'), 'utf8').trim().split('\n');
  const opened = new Set<string>();
  for (const { query } of lines.filter((_, at) => at % 2 === 0).map((line) => JSON.parse(line))) {
    const { body } = await service.call<SearchResponse>('POST', '/v1/search', { query, chunks_per_page: 1 });
    const [{ canonical_url, chunks }] = body.results;
    const [chunk] = chunks;
    assert.ok(chunk.link.startsWith(`${canonical_url}#:~:text=`), chunk.link);
    // Each has a host of its own, named after its file.
    const file = `${new URL(canonical_url).hostname.split('.')[0]}.html`;
    // Its formulas are pictures in the browser, so that a text that has some is not found there.
    if (file === 'wikipedia-3.html') continue;
    const page = await browser.newPage();
    await page.goto(`${origin}/${file}${chunk.link.slice(canonical_url.length)}`);
    let seen: string | null = null;
    await until(async () => {
      seen = await page.evaluate<string | null>(seenText);
      return seen !== null;
    }, `${query}: ${chunk.link} is found`);
    await page.close();
    if (seen === '') continue;
    opened.add(file);
    const [phrase] = chunk.link.slice(chunk.link.indexOf(':~:text=') + 8).split(',');
    const words = decodeURIComponent(phrase).replace(/\s+/g, '').toLowerCase();
    assert.ok(String(seen).toLowerCase().includes(words), `${query}: ${chunk.link} is not in the window`);
  }
  t.diagnostic(`pages opened at a passage: ${opened.size}`);
  assert.ok(opened.size >= 12);
  await service.stop();
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
});
