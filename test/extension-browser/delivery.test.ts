/** Nothing is lost and nothing arrives twice: the service away for the whole run, the worker ended, the browser killed. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { haveRealPages, realPagesDir } from '../../bench/real-pages.ts';
import type { QueueOverview } from '../../extension/src/messages.ts';
import type { PageListResponse } from '../../src/domain/page.ts';
import { skipChromium } from '../chromium.ts';
import { RunningService, type Scope, until, withoutEntities } from '../process/service.ts';
import { ChromiumWithExtension, haltingExtension } from './chromium.ts';
import { Site } from './site.ts';

/** Settings of a service that comes back at the same address. */
async function fixedPort(): Promise<Record<string, string>> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  await new Promise((resolve) => server.close(resolve));
  return { ...withoutEntities, SERVICE_BIND_PORT: String(address.port) };
}

async function visitsOf(service: RunningService): Promise<Record<string, number>> {
  const { body } = await service.call<PageListResponse>('GET', '/v1/pages?limit=500');
  return Object.fromEntries(body.pages.map(({ canonical_url, visit_count }) => [canonical_url, visit_count]));
}

function profileOf(scope: Scope): string {
  const profile = mkdtempSync(join(tmpdir(), 'readback-profile-'));
  scope.after(async () => rmSync(profile, { recursive: true, force: true, maxRetries: 20 }));
  return profile;
}

const overviewOf = (browser: ChromiumWithExtension) => browser.ask<QueueOverview>('queueOverview', null);

/** Queue pages as the content script does, from a page of the extension. */
async function queuePages(browser: ChromiumWithExtension, count: number): Promise<string[]> {
  const page = await browser.open('options.html');
  const outcomes = await page.evaluate(async (count) => {
    const answers: unknown[] = [];
    for (let n = 0; n < count; n++) {
      const html = `<title>Queued ${n}</title><article><h1>Queued ${n}</h1>${`<p>Page ${n} of many tells of canals and their locks.</p>`.repeat(20)}</article>`;
      const url = `http://many.example.org/queued/${n}`;
      const request = { url, title: `Queued ${n}`, visitedAt: Date.now() + n, html, metadata: {}, byHand: false };
      answers.push(await chrome.runtime.sendMessage({ name: 'captured', request }));
    }
    return answers.map((answer) => JSON.stringify(answer));
  }, count);
  await page.close();
  assert.deepEqual(new Set(outcomes), new Set(['{"reply":{"outcome":"queued"}}']));
  return Array.from({ length: count }, (_, n) => `http://many.example.org/queued/${n}`);
}

test('a browser that is killed with 200 pages queued, and starts again: all arrive once', {
  skip: skipChromium,
}, async (t) => {
  const service = await RunningService.start(t, await fixedPort());
  const site = await Site.open(t);
  const profile = profileOf(t);
  const first = await ChromiumWithExtension.start(t, site, { profile });
  await first.pair(service);
  await service.stop();
  const urls = await queuePages(first, 200);
  assert.equal((await overviewOf(first)).totals.items, 200);
  await first.kill();

  const second = await ChromiumWithExtension.start(t, site, { profile });
  assert.equal((await overviewOf(second)).totals.items, 200);
  await service.start();
  void second.ask('sendNow', null).catch(() => undefined); // the kill ends it
  await until(async () => Object.keys(await visitsOf(service)).length >= 40, 'some of them have arrived');
  await second.kill();

  const third = await ChromiumWithExtension.start(t, site, { profile });
  await third.ask('sendNow', null);
  assert.equal((await overviewOf(third)).totals.items, 0);
  assert.deepEqual(await visitsOf(service), Object.fromEntries(urls.map((url) => [url, 1])));
});

test('a worker that is stopped again and again while it sends: all arrive once', { skip: skipChromium }, async (t) => {
  const service = await RunningService.start(t, await fixedPort());
  const site = await Site.open(t);
  const browser = await ChromiumWithExtension.start(t, site);
  await browser.pair(service);
  await service.stop();
  const urls = await queuePages(browser, 120);
  await service.start();
  const control = await browser.context.newPage();
  const session = await browser.context.newCDPSession(control);
  await session.send('ServiceWorker.enable');
  let stops = 0;
  for (let arrived = 0; arrived < urls.length; arrived = Object.keys(await visitsOf(service)).length) {
    const asked = browser.ask('sendNow', null).catch(() => undefined); // the stop ends it
    const before = arrived;
    await until(async () => Object.keys(await visitsOf(service)).length > before, 'more have arrived');
    await session.send('ServiceWorker.stopAllWorkers');
    stops++;
    await asked;
  }
  await until(async () => {
    await browser.ask('sendNow', null);
    return (await overviewOf(browser)).totals.items === 0;
  }, 'the queue is empty');
  t.diagnostic(`stopped ${stops} times`);
  assert.deepEqual(await visitsOf(service), Object.fromEntries(urls.map((url) => [url, 1])));
});

/** How many items lie in the browser's database. */
const countItems = `(async () => {
  const result = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const database = await result(indexedDB.open('readback'));
  const count = await result(database.transaction('items').objectStore('items').count());
  database.close();
  return count;
})()`;

test('a worker that is ended between any two steps, from the capture to the answer: all arrive once', {
  skip: skipChromium,
}, async (t) => {
  const service = await RunningService.start(t, withoutEntities);
  const site = await Site.open(t);
  const browser = await ChromiumWithExtension.start(t, site, { loaded: haltingExtension(t) });
  await browser.pair(service);
  const control = await browser.open('options.html');
  const session = await browser.context.newCDPSession(control);
  await session.send('ServiceWorker.enable');
  const urls: string[] = [];
  /** Hand in the pages of a round as their content scripts do; those do it again where nobody answers. */
  const capture = (round: number, from: number) =>
    control.evaluate(
      ([round, from]) => {
        const sent = [1, 2, 3].map((n) => {
          const url = `http://steps.example.org/${round}/${n}`;
          const html = `<title>${url}</title><article><p>Page ${n} of round ${round} tells of canals and their locks.</p></article>`;
          const request = { url, title: url, visitedAt: from + n, html, metadata: {}, byHand: false };
          return chrome.runtime.sendMessage({ name: 'captured', request }).catch(() => null);
        });
        Object.assign(globalThis, { answered: false });
        return void Promise.all(sent).then(() => Object.assign(globalThis, { answered: true }));
      },
      [round, from] as const,
    );
  let round = 0;
  for (let isHalted = true; isHalted; round++) {
    assert.ok(round < 200, 'it comes to an end');
    urls.push(...[1, 2, 3].map((n) => `http://steps.example.org/${round}/${n}`));
    const from = Date.now();
    await control.evaluate((haltAfter) => chrome.storage.local.set({ haltAfter, halted: false }), round);
    await capture(round, from);
    const isOver = async () =>
      (await control.evaluate('answered')) === true && (await control.evaluate(countItems)) === 0;
    await until(async () => {
      isHalted = await control.evaluate(
        async () => (await chrome.storage.local.get<{ halted: boolean }>('halted')).halted,
      );
      return isHalted || (await isOver());
    }, `step ${round} is reached, or all is sent`);
    await control.evaluate(() => chrome.storage.local.remove('haltAfter'));
    await session.send('ServiceWorker.stopAllWorkers');
    await capture(round, from);
    await until(async () => {
      await browser.ask('sendNow', null);
      return isOver();
    }, 'all is sent');
  }
  t.diagnostic(`ended at each of ${round - 1} steps`);
  assert.ok(round > 10);
  assert.deepEqual(await visitsOf(service), Object.fromEntries(urls.map((url) => [url, 1])));
});

/** The text of what is queued of an address; null where nothing is. */
const queuedText = (url: string): string => `(async () => {
  const result = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const database = await result(indexedDB.open('readback'));
  const items = await result(database.transaction('items').objectStore('items').getAll());
  const item = items.find((item) => item.url === ${JSON.stringify(url)});
  const html = item && (await result(database.transaction('bodies').objectStore('bodies').get(item.id)));
  database.close();
  return html ? new DOMParser().parseFromString(html, 'text/html').body.textContent : null;
})()`;

/** As it is read: where lines and words end, and which letters a style makes capitals, is the browser's choice. */
const lettersOf = (text: string): string => text.replace(/\s+/g, '').toLowerCase();

test('the service is away while 32 real pages are read, and starts at the end: what is captured is what is shown', {
  skip: skipChromium || (haveRealPages ? false : `the real pages are not at ${realPagesDir}`),
}, async (t) => {
  const service = await RunningService.start(t, await fixedPort());
  const site = await Site.open(t);
  const files = readFileSync(join(realPagesDir, 'pages.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line): { file: string } => JSON.parse(line));
  for (const { file } of files) site.pages.set(`/${file}`, readFileSync(join(realPagesDir, file), 'utf8'));
  const browser = await ChromiumWithExtension.start(t, site);
  await browser.pair(service);
  await browser.setOptions({ seconds: 1 });
  await service.stop();
  const control = await browser.open('options.html');
  const tab = await browser.context.newPage();
  // The pages' own pictures and scripts are nowhere.
  await tab.route('**', (route) =>
    new URL(route.request().url()).host === 'real.example.org' ? route.continue() : route.abort(),
  );
  const read: string[] = [];
  const left: string[] = [];
  for (const { file } of files) {
    const url = `http://real.example.org/${file}`;
    await tab.goto(url, { waitUntil: 'load' });
    await tab.bringToFront();
    const decision = await browser.decisionAt(url);
    (decision.outcome === 'queued' ? read : left).push(url);
    if (decision.outcome !== 'queued') continue;
    const { shown, chosen } = await tab.evaluate(() => ({
      shown: document.body.innerText,
      chosen: [...document.querySelectorAll('select')].map(({ innerText }) => innerText),
    }));
    let expected = lettersOf(shown);
    for (const choices of chosen) expected = expected.replace(lettersOf(choices), '');
    assert.equal(lettersOf((await control.evaluate(queuedText(url))) as string), expected, url);
  }
  // Its style sheet, which would hide the form, is nowhere.
  assert.deepEqual(left, ['http://real.example.org/ars-1.html'], 'it shows a password field');
  await service.start();
  await browser.ask('sendNow', null);
  assert.deepEqual(await visitsOf(service), Object.fromEntries(read.map((url) => [url, 1])));
  assert.deepEqual((await overviewOf(browser)).counts, { waiting: 0, refused: 0 });
});
