/** The extension in Firefox ESR: paired, captures, leaves out, delivers after the service was away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueOverview } from '../../extension/src/messages.ts';
import type { PageListResponse, PageResponse } from '../../src/domain/page.ts';
import { freePort } from '../free-port.ts';
import { RunningService, until } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { copyOfExtension, lookAtRealPopup } from './chromium.ts';
import { FirefoxWithExtension, firefoxExtension, skipFirefox } from './firefox.ts';
import { hiddenWords, rewritten, Site, seenWords, shownWords, unseenWords } from './site.ts';

test('what is read in Firefox is kept as it is shown, and what must not be is not', {
  skip: skipFirefox,
}, async (t) => {
  const scope = newestFirst(t);
  const settings = { SERVICE_BIND_PORT: String(await freePort()) };
  const service = await RunningService.start(scope, settings);
  await service.pauseVectors();
  const site = await Site.open(scope);
  site.pages.set('/rewritten', rewritten(''));
  let browser = await FirefoxWithExtension.start(scope, site);
  const news = 'http://news.example.org';
  const visits = async (): Promise<Record<string, number>> => {
    const { body } = await service.call<PageListResponse>('GET', '/v1/pages?limit=500');
    return Object.fromEntries(body.pages.map(({ canonical_url, visit_count }) => [canonical_url, visit_count]));
  };
  const textOf = async (url: string) => {
    const { body } = await service.call<PageListResponse>('GET', `/v1/pages?url=${encodeURIComponent(url)}`);
    return (await service.call<PageResponse>('GET', `/v1/pages/${body.pages[0].page_id}`)).body.body_text ?? '';
  };

  await t.test('it is paired by a code', async () => {
    const { body } = await service.call<{ code: string }>('POST', '/v1/codes', { purpose: 'pair' });
    const welcome = await browser.open(`${browser.pages}welcome.html`);
    await welcome.fill('Address of the service', service.url);
    await welcome.fill('Code', body.code);
    await welcome.click('Pair');
    await welcome.until(`document.body.textContent.includes('Paired with')`);
    await welcome.close();
    const options = await browser.open(`${browser.pages}options.html`);
    await options.fill('Seconds of active reading', '1');
    await options.until(`(await chrome.storage.local.get()).settings?.activeSeconds === 1`);
    await options.close();
  });
  let tab = await browser.open('about:blank');
  const read = async (url: string) => {
    await tab.goto(url);
    await tab.readUntil(async () => url in (await visits()), `${url} is kept`);
  };
  await t.test('an article, views of a program, shadow roots and frames', async () => {
    await read(`${news}/article/herons`);
    assert.match(await textOf(`${news}/article/herons`), /Paragraph 11 about herons/);
    await read(`${news}/spa/tides`);
    // Only somebody who is there reads a second view.
    await tab.clickOn('document.querySelector("h1")');
    await tab.evaluate('window.go("moons")');
    await tab.readUntil(async () => `${news}/spa/moons` in (await visits()), 'the second view is kept');
    await read(`${news}/editors`);
    assert.match(await textOf(`${news}/editors`), /Framed text about beechnuts/);
    assert.doesNotMatch(await textOf(`${news}/editors`), /Typed text/);
    await read(`${news}/shadow`);
    const text = await textOf(`${news}/shadow`);
    for (const there of shownWords) assert.match(text, new RegExp(there));
    for (const not of hiddenWords) assert.doesNotMatch(text, new RegExp(not));
    await read(`${news}/unseen`);
    const seen = await textOf(`${news}/unseen`);
    assert.deepEqual(
      [...seenWords, ...unseenWords].filter((word) => seen.includes(word)),
      seenWords,
    );
  });
  await t.test('what must not be captured is not', async () => {
    const unwanted: [url: string, rule: string][] = [
      [`${news}/members`, 'secret_field'],
      [`${news}/closed-login`, 'secret_field'],
      [`${news}/embed-login`, 'secret_field'],
      [`${news}/hidden-closed-login`, 'secret_field'],
      ['http://banking.first.example.org/article/accounts', 'kind'],
      [`${news}/login/again`, 'kind'],
    ];
    // Opens the tab that asks, before what is read has the focus.
    await browser.ask('queueOverview', null);
    for (const [url, rule] of unwanted) {
      await tab.goto(url);
      await tab.readUntil(async () => (await browser.decisionAt(url)) !== null, `it is decided about ${url}`);
      assert.equal((await browser.decisionAt(url))?.rule?.rule, rule, url);
      assert.equal(url in (await visits()), false, url);
    }
    // What was queued before this one has arrived before it.
    await read(`${news}/article/markers`);
    for (const [url] of unwanted) assert.equal(url in (await visits()), false, url);
  });
  await t.test('an endless feed once', async () => {
    await tab.goto(`${news}/feed`);
    await tab.activate();
    for (let n = 0; n < 10; n++) await tab.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await tab.readUntil(async () => `${news}/feed` in (await visits()), 'it is kept');
    assert.equal((await visits())[`${news}/feed`], 1);
  });
  await t.test('one that is written anew is captured as it is then, and followed as before', async () => {
    const url = `${news}/rewritten`;
    await browser.ask('changeSettings', { activeSeconds: 600 });
    await tab.goto(url);
    await tab.readUntil(() => browser.isWatched(url), 'the page is followed');
    await tab.evaluate(`dispatchEvent(new Event('rewrite'))`);
    for (let n = 0; n < 8; n++) await tab.turnWheel(1200);
    await tab.readUntil(async () => url in (await visits()), 'it is kept');
    const text = await textOf(url);
    assert.match(text, /Ocelots hunt at night[\s\S]*Their last paragraph/);
    assert.doesNotMatch(text, /lynx/i);
    await browser.ask('changeSettings', { activeSeconds: 1 });
  });
  await t.test('the popup tells of a page and forgets it; it and the options can be read by everybody', async () => {
    const url = `${news}/article/markers`;
    await tab.goto(url);
    await tab.activate();
    const control = await browser.control();
    await lookAtRealPopup((expression) => control.evaluate(expression), '.results');
    const popup = await browser.popupOf(url);
    await popup.until(`document.body.textContent.includes('You read this once')`);
    assert.deepEqual(await popup.accessibilityFaults(), []);
    await popup.click('Delete page');
    await popup.click('Delete');
    await popup.until(`document.body.textContent.includes('Deleted pages: 1')`);
    assert.equal(url in (await visits()), false);
    await popup.close();
    const options = await browser.open(`${browser.pages}options.html`);
    await options.until(`document.querySelector('#queue') && document.querySelector('#connection')`);
    assert.deepEqual(await options.accessibilityFaults(), []);
    await options.evaluate(`chrome.permissions.request = async (asked) => {
      globalThis.asked = asked;
      return false;
    }`);
    await options.click('Start');
    await options.until('globalThis.asked !== undefined');
    assert.deepEqual(await options.evaluate('globalThis.asked'), {
      permissions: ['history', 'bookmarks'],
      data_collection: ['bookmarksInfo'],
    });
    const { data_collection } = await options.evaluate<{ data_collection: string[] }>('chrome.permissions.getAll()');
    assert.deepEqual(data_collection.sort(), ['browsingActivity', 'searchTerms', 'websiteContent']);
    await options.close();
  });
  await t.test(
    'what is read while the service is away arrives when it is back, once, though the browser is killed',
    async () => {
      await browser.ask('queueOverview', null);
      await service.stop();
      const away = ['larks', 'owls', 'swifts'].map((topic) => `${news}/article/${topic}`);
      const queued = async () => (await browser.ask<QueueOverview>('queueOverview', null)).totals.items;
      for (const [at, url] of away.entries()) {
        await tab.goto(url);
        await tab.readUntil(async () => (await queued()) === at + 1, `${url} is queued`);
      }
      await browser.kill();
      browser = await FirefoxWithExtension.start(scope, site, { profile: browser.profile });
      assert.equal(await queued(), away.length);
      tab = await browser.open('about:blank');
      await service.start();
      await browser.ask('sendNow', null);
      const found = await visits();
      for (const url of away) assert.equal(found[url], 1, url);
      for (const [url, count] of Object.entries(found)) assert.equal(count, 1, url);
    },
  );
  await t.test('its history and bookmarks are imported, what was captured is not imported again', async () => {
    // Loaded, and left before it was read.
    await browser.ask('sendNow', null);
    await browser.ask('changeSettings', { activeSeconds: 600 });
    const glanced = `${news}/article/glances`;
    await tab.goto(`${news}/article/herons`);
    await tab.evaluate(`history.pushState(null, '', '/article/glances')`);
    await tab.goto('about:blank');
    const before = await visits();
    assert.equal(glanced in before, false);
    const marked = `${news}/article/marked`;
    const welcome = await browser.open(`${browser.pages}welcome.html`);
    await welcome.click('Start');
    await welcome.until(`document.body.textContent.includes('Import complete.')`);
    // It may read bookmarks now, and make some.
    await welcome.evaluate(`chrome.bookmarks.create({ title: 'Marked', url: ${JSON.stringify(marked)} })`);
    await welcome.evaluate(
      `chrome.bookmarks.create({ title: 'Bank', url: 'http://banking.first.example.org/marked' })`,
    );
    await welcome.click('Start');
    await until(async () => marked in (await visits()), 'the bookmark is imported');
    await welcome.close();
    const after = await visits();
    assert.equal(after[glanced], 1);
    assert.equal(after[marked], 1);
    for (const [url, count] of Object.entries(before)) assert.equal(after[url], count, url);
    assert.equal(
      Object.keys(after).some((url) => /\/login\/|banking|127\.0\.0\.1/.test(url)),
      false,
    );
  });
  await t.test('own matches are shown beside the results of a search engine that was chosen', async () => {
    const results =
      '<!doctype html><title>Results</title><style>div { display: none !important }</style><p>Results</p>';
    await browser.standIn('duckduckgo.com', results, "default-src 'none'; style-src 'unsafe-inline'");
    const options = await browser.open(`${browser.pages}options.html`);
    const box = `[...document.querySelectorAll('label')].find((l) => l.textContent === 'DuckDuckGo')`;
    // What stands above it comes late, and moves it.
    await options.until(`document.querySelector('#queue') && document.querySelector('#connection') && ${box}`);
    await options.clickOn(box);
    await options.until(`(await chrome.scripting.getRegisteredContentScripts()).length === 1`);
    await options.close();
    await tab.goto('https://duckduckgo.com/?q=herons+wade+slowly');
    await until(async () => (await tab.elements()).includes('All about herons'), 'the box is there');
    const [root, display] = await tab.evaluate<[unknown, string]>(`(() => {
      const host = document.documentElement.lastElementChild;
      return [host.shadowRoot, getComputedStyle(host).display];
    })()`);
    assert.deepEqual([root, display], [null, 'block']);
  });
});

/** Whether it is shown, too, that what is looked for would be there if the extension captured in private windows: npm run soak. */
const withControl = process.env.READBACK_TEST_ALL_POINTS === '1';

/** A page counts the seconds in which it was seen and had the focus, each longer than the extension's shortest time of reading. */
const countSeen = `(() => {
  globalThis.seen = 0;
  setInterval(() => document.visibilityState === 'visible' && document.hasFocus() && globalThis.seen++, 1000);
})()`;

test('nothing is captured in a private window of Firefox, whatever people allow', { skip: skipFirefox }, async (t) => {
  const scope = newestFirst(t);
  const site = await Site.open(scope);
  const spanning = copyOfExtension(
    scope,
    (manifest) => {
      manifest.incognito = 'spanning';
    },
    firefoxExtension,
  );
  const secret = 'http://news.example.org/article/secrets';
  const open = 'http://news.example.org/article/herons';
  const cases: [name: string, loaded: string, captured: string[]][] = [
    ['it is allowed', firefoxExtension, [open]],
    ['one that would run there is allowed: then it would be', spanning, [secret, open]],
  ];
  for (const [name, loaded, captured] of withControl ? cases : cases.slice(0, 1)) {
    await t.test(name, async (t) => {
      const scope = newestFirst(t);
      const browser = await FirefoxWithExtension.start(scope, site, { loaded, allowedInPrivate: true });
      // Nobody is there: what is captured stays.
      const connection = { address: 'http://127.0.0.1:9', token: 'none', name: 'Firefox', library: null };
      await browser.ask('connect', connection);
      await browser.ask('changeSettings', { activeSeconds: 1 });
      const queued = async () => (await browser.ask<QueueOverview>('queueOverview', null)).items.map(({ url }) => url);
      const shown = await browser.open('about:blank');
      const hidden = await browser.openPrivately(secret);
      await hidden.evaluate(countSeen);
      await hidden.readUntil(async () => (await hidden.evaluate<number>('globalThis.seen')) >= 4, 'it was seen');
      if (captured.length === 2) await hidden.readUntil(async () => (await queued()).includes(secret), 'it is queued');
      await shown.goto(open);
      await shown.readUntil(async () => (await queued()).includes(open), 'the other one is queued');
      assert.deepEqual(await queued(), captured);
    });
  }
});
