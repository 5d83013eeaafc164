/**
 * The address bar, the context menu and the command key in Chromium: the browser's own events, dispatched in the worker, for nobody can
 * press what is outside of pages there. That the browser sends them is not shown here.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageListResponse } from '../../src/domain/page.ts';
import { skipChromium } from '../chromium.ts';
import { RunningService, until } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { ChromiumWithExtension } from './chromium.ts';
import { article, Site } from './site.ts';

const news = 'http://news.example.org';

test('the address bar, the menu and the command key do what they say', { skip: skipChromium }, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope);
  const site = await Site.open(scope);
  const browser = await ChromiumWithExtension.start(scope, site);
  await browser.pair(service);
  await service.add({ url: `${news}/article/herons`, body_html: article('herons') });
  const pages = async () => (await service.call<PageListResponse>('GET', '/v1/pages?limit=500')).body.pages;
  const worker = await browser.worker();
  /** Send an event of the browser to the listeners of the worker. */
  const dispatch = (event: string, ...values: unknown[]) =>
    worker.evaluate(
      ([event, values]) => {
        const [api, name] = event.split('.');
        const apis = chrome as unknown as Record<string, Record<string, { dispatch(...values: unknown[]): void }>>;
        apis[api][name].dispatch(...values);
      },
      [event, values] as const,
    );
  const shows = (address: RegExp) => () => browser.context.pages().some((page) => address.test(page.url()));

  await t.test('what is typed after the keyword is suggested by title', async () => {
    const suggested = await worker.evaluate(
      () =>
        new Promise<{ content: string; description: string }[]>((resolve) => {
          const { onInputChanged } = chrome.omnibox as unknown as {
            onInputChanged: { dispatch(text: string, suggest: typeof resolve): void };
          };
          onInputChanged.dispatch('herons wad', resolve);
        }),
    );
    assert.equal(suggested.length, 1);
    assert.match(suggested[0].content, /^http:\/\/news\.example\.org\/article\/herons#:~:text=/);
    assert.equal(suggested[0].description, 'All about herons — news.example.org');
  });
  await t.test('a suggestion that is taken is opened, and other words are searched for', async () => {
    await dispatch('omnibox.onInputEntered', `${news}/article/herons`, 'newForegroundTab');
    await until(shows(/^http:\/\/news\.example\.org\/article\/herons$/), 'the page is opened');
    await dispatch('omnibox.onInputEntered', 'grey birds', 'currentTab');
    await until(shows(/popup\.html\?search=grey%20birds$/), 'it is searched for');
  });
  await t.test('selected text is searched for', async () => {
    await dispatch('contextMenus.onClicked', { menuItemId: 'search', selectionText: 'slow & wading' }, undefined);
    await until(shows(/popup\.html\?search=slow%20%26%20wading$/), 'it is searched for');
  });
  for (const [name, event, value] of [
    ['the menu', 'contextMenus.onClicked', { menuItemId: 'save' }],
    ['the command key', 'commands.onCommand', 'save-page'],
  ] as const) {
    await t.test(`${name} saves the page at once, and marks the icon of its tab`, async () => {
      const url = `${news}/article/${event.split('.')[0].toLowerCase()}`;
      const tab = await browser.context.newPage();
      await tab.goto(url);
      await tab.bringToFront();
      const id = await worker.evaluate(async () => (await chrome.tabs.query({ active: true }))[0].id);
      await dispatch(event, value, { id, url, title: await tab.title() });
      await until(async () => (await pages()).some(({ canonical_url }) => canonical_url === url), 'it is kept');
      const badge = () => worker.evaluate((id) => chrome.action.getBadgeText({ tabId: id }), id);
      await until(async () => (await badge()) === '✓', 'the icon says so');
    });
  }
});
