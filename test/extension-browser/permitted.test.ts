/** What people allow by a click, in Chromium: own matches on result pages of search engines, and the import of history and bookmarks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { PageListResponse } from '../../src/domain/page.ts';
import { skipChromium } from '../chromium.ts';
import { RunningService, realEncoder, until } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { ChromiumWithExtension, permittedExtension } from './chromium.ts';
import { article, Site } from './site.ts';

const news = 'http://news.example.org';
const boxName = 'From your library';

/** A page that stands in for a search engine's, hostile to what others put into it. */
const resultPage = {
  contentType: 'text/html',
  headers: { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" },
  body: '<!doctype html><title>Results</title><style>div, aside, html > * { display: none !important; visibility: hidden !important } body { display: block !important }</style><main><p>Results</p></main>',
};

interface AxNode {
  role?: { value?: unknown };
  name?: { value?: unknown };
}

/** Roles and names that assistive technology is told of a tab. */
async function told(tab: Page): Promise<string[]> {
  const session = await tab.context().newCDPSession(tab);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: AxNode[] };
  await session.detach();
  return nodes.map(({ role, name }) => `${role?.value}: ${name?.value}`);
}

const hasBox = async (tab: Page) => (await told(tab)).includes(`complementary: ${boxName}`);

test('history and bookmarks are imported by the rules, and own matches are shown on result pages, where they are relevant', {
  skip: skipChromium,
}, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope, realEncoder);
  const site = await Site.open(scope);
  const browser = await ChromiumWithExtension.start(scope, site, { loaded: permittedExtension(scope) });
  await browser.context.route('https://*/**', (route) => route.fulfill(resultPage));
  const tab = await browser.context.newPage();

  await t.test('history and bookmarks are imported, by the rules', async () => {
    await tab.goto(`${news}/article/glances`);
    await tab.goto(`${news}/login/again`);
    await (await browser.worker()).evaluate(async (news) => {
      await chrome.bookmarks.create({ title: 'Marked', url: `${news}/article/marked` });
      await chrome.bookmarks.create({ title: 'Marked bank', url: 'http://banking.first.example.org/accounts' });
    }, news);
    await browser.pair(service);
    const welcome = await browser.open('welcome.html');
    await welcome.getByRole('button', { name: 'Start' }).click();
    await welcome.getByText('Import complete.').waitFor();
    await welcome.close();
    const { body } = await service.call<PageListResponse>('GET', '/v1/pages?limit=500');
    assert.deepEqual(body.pages.map(({ canonical_url, visit_count }) => [canonical_url, visit_count]).sort(), [
      [`${news}/article/glances`, 1],
      [`${news}/article/marked`, 1],
    ]);
  });
  await service.add({ url: `${news}/article/herons`, body_html: article('herons') });
  const logged = async () => (await service.call<{ runs: unknown[] }>('GET', '/v1/admin/query-log')).body.runs.length;
  // What the worker sends to the service to be searched for.
  await (await browser.worker()).evaluate(() => {
    const { fetch } = self;
    const searched: string[] = [];
    self.fetch = (input, init) => {
      if (String(input).endsWith('/v1/search')) searched.push(JSON.parse(String(init?.body)).query);
      return fetch(input, init);
    };
    Object.assign(self, { searched });
  });
  const queries = async () =>
    (await browser.worker()).evaluate(() => (self as unknown as { searched: string[] }).searched);
  const registered = async () =>
    (await browser.worker()).evaluate(async () => (await chrome.scripting.getRegisteredContentScripts()).length);

  await t.test('off at first: nothing is loaded there', async () => {
    assert.equal(await registered(), 0);
  });
  await t.test('a relevant page is shown, by its passage, and the service gets the query alone', async () => {
    const options = await browser.open('options.html');
    await options.getByRole('checkbox', { name: 'DuckDuckGo' }).press(' '); // what comes late moves it from under a click
    await until(async () => (await registered()) === 1, 'the box is loaded on its pages');
    await options.close();
    await tab.goto('https://duckduckgo.com/?q=herons+wade+slowly&t=private&ia=web');
    await until(() => hasBox(tab), 'the box is there');
    const names = await told(tab);
    assert.ok(names.includes('link: All about herons'), names.join('\n'));
    assert.ok(names.includes('button: Close results from your library'));
    assert.deepEqual(await queries(), ['herons wade slowly']);
    assert.equal(await logged(), 0);
  });
  await t.test('the page cannot read it, and its styles do not reach it', async () => {
    const seen = await tab.evaluate(() => {
      const host = document.documentElement.lastElementChild as HTMLElement;
      const { display, visibility, position } = getComputedStyle(host);
      return { root: host.shadowRoot, text: document.documentElement.textContent, display, visibility, position };
    });
    assert.equal(seen.root, null);
    assert.doesNotMatch(seen.text ?? '', /herons/);
    assert.deepEqual([seen.display, seen.visibility, seen.position], ['block', 'visible', 'fixed']);
  });
  await t.test('nothing is shown where nothing read is about it, and on engines that were not chosen', async () => {
    const other = await browser.context.newPage();
    await other.goto('https://duckduckgo.com/?q=quantum+chromodynamics+lattice');
    await until(async () => (await queries()).includes('quantum chromodynamics lattice'), 'it was asked for');
    const third = await browser.context.newPage();
    await third.goto('https://www.bing.com/search?q=herons+of+bing');
    // Whatever was asked before this one was answered before it.
    await tab.goto('https://duckduckgo.com/?q=slow+herons');
    await until(() => hasBox(tab), 'the box is there');
    assert.equal(await hasBox(other), false);
    assert.equal(await hasBox(third), false);
    assert.equal((await queries()).includes('herons of bing'), false);
  });
  await t.test('nothing once it is switched off', async () => {
    const options = await browser.open('options.html');
    await options.getByRole('checkbox', { name: 'DuckDuckGo' }).press(' '); // what comes late moves it from under a click
    await until(async () => (await registered()) === 0, 'nothing is loaded any more');
  });
});
