/**
 * Nothing is lost and nothing arrives twice: the service away for the whole run, the worker ended, the browser killed. READBACK_TEST_ALL_POINTS=1
 * (npm run soak) ends the worker at every step, reads all real pages and queues more.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { haveRealPages, realPagesDir } from '../../bench/real-pages.ts';
import type { QueueOverview } from '../../extension/src/messages.ts';
import type { PageListResponse } from '../../src/domain/page.ts';
import { skipChromium } from '../chromium.ts';
import { freePort } from '../free-port.ts';
import { RunningService, until, withoutModel } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { ChromiumWithExtension, haltingExtension } from './chromium.ts';
import { Site } from './site.ts';

/** Settings of a service that comes back at the same address. */
const fixedPort = async (): Promise<Record<string, string>> => ({
  ...withoutModel,
  SERVICE_BIND_PORT: String(await freePort()),
});

async function visitsOf(service: RunningService): Promise<Record<string, number>> {
  const { body } = await service.call<PageListResponse>('GET', '/v1/pages?limit=500');
  return Object.fromEntries(body.pages.map(({ canonical_url, visit_count }) => [canonical_url, visit_count]));
}

const overviewOf = (browser: ChromiumWithExtension) => browser.ask<QueueOverview>('queueOverview', null);

/** Queue pages as the content script does, from a page of the extension. */
async function queuePages(browser: ChromiumWithExtension, count: number): Promise<string[]> {
  const outcomes = await (await browser.control()).evaluate(async (count) => {
    const sent = Array.from({ length: count }, (_, n): Promise<unknown> => {
      const html = `<title>Queued ${n}</title><article><h1>Queued ${n}</h1>${`<p>Page ${n} of many tells of canals and their locks.</p>`.repeat(20)}</article>`;
      const url = `http://many.example.org/queued/${n}`;
      const request = { url, title: `Queued ${n}`, visitedAt: Date.now() + n, html, metadata: {}, byHand: false };
      return chrome.runtime.sendMessage({ name: 'captured', request });
    });
    return (await Promise.all(sent)).map((answer) => JSON.stringify(answer));
  }, count);
  assert.deepEqual(new Set(outcomes), new Set(['{"reply":{"outcome":"queued"}}']));
  return Array.from({ length: count }, (_, n) => `http://many.example.org/queued/${n}`);
}

/** Text of real pages that the browser lays out and nobody can see: clipped, transparent, of no height; with what stands before it. */
const unseenOn: Record<string, [before: string, unseen: string]> = {
  'aclu.html': [
    '',
    'Basic HTML Allowed HTML tags: <em> <strong> <blockquote> <cite> <p> <br> <ol> <ul> <li> Plain text No HTML tags allowed. Web page addresses and e-mail addresses turn into links automatically. Lines and paragraphs break automatically.',
  ],
  'cnet.html': ['', 'Advertising inRead invented by Teads'],
  'webmd-1.html': ['12 Natural Ways to Defeat Allergies', 'WebMD Allergy App'],
  'wordpress.html': ['Join 9,518 other subscribers', 'Email Address'],
};

/** As it is read: where lines and words end, and which letters a style makes capitals, is the browser's choice. */
const lettersOf = (text: string): string => text.replace(/\s+/g, '').toLowerCase();

/** Read a page in a tab of its own: whether it is queued. What is queued has to be what is shown. */
async function readPage(browser: ChromiumWithExtension, url: string): Promise<boolean> {
  const tab = await browser.context.newPage();
  await tab.goto(url);
  const { outcome } = await browser.decisionAt(url);
  const { shown, chosen } = await tab.evaluate(() => ({
    shown: document.body.innerText,
    chosen: [...document.querySelectorAll('select')].map(({ innerText }) => innerText),
  }));
  await tab.close();
  if (outcome !== 'queued') return false;
  let expected = lettersOf(shown);
  for (const choices of chosen) expected = expected.replace(lettersOf(choices), '');
  const [before, unseen] = (unseenOn[url.slice(url.lastIndexOf('/') + 1)] ?? ['', '']).map(lettersOf);
  expected = expected.replace(before + unseen, before);
  const html = await browser.queuedHtml(url);
  const queued = await (await browser.control()).evaluate(
    (html) => new DOMParser().parseFromString(html, 'text/html').body.textContent,
    html ?? '',
  );
  assert.equal(lettersOf(queued), expected, url);
  return true;
}

const tabsAtOnce = 4;
const allPoints = process.env.READBACK_TEST_ALL_POINTS === '1';
/** Several batches of what is sent at once. */
const queuedAtLeast = allPoints ? 200 : 80;
const stepsApart = allPoints ? 1 : 4;
/** It shows a password field: its style sheet, which would hide the form, is nowhere. */
const withPassword = 'ars-1.html';
const realFiles = [...Object.keys(unseenOn), withPassword, 'lwn-1.html', 'wikipedia-3.html', 'hukumusume.html'];

test('the service is away while real pages and many more are read, and the browser is killed, twice', {
  skip: skipChromium,
}, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope, await fixedPort());
  const site = await Site.open(scope);
  const first = await ChromiumWithExtension.start(scope, site);
  const { profile } = first;
  await first.pair(service);
  await first.setOptions({ seconds: 1 });
  await service.stop();
  const read: string[] = [];

  await t.test(
    'what is captured is what is shown',
    {
      skip: haveRealPages ? false : `the real pages are not at ${realPagesDir}`,
    },
    async () => {
      const files = readFileSync(join(realPagesDir, 'pages.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line): string => JSON.parse(line).file)
        .filter((file) => allPoints || realFiles.includes(file));
      for (const file of files) site.pages.set(`/${file}`, readFileSync(join(realPagesDir, file), 'utf8'));
      const left: string[] = [];
      const next = files.values();
      const reader = async () => {
        for (const file of next) {
          const url = `http://real.example.org/${file}`;
          ((await readPage(first, url)) ? read : left).push(url);
        }
      };
      await Promise.all(Array.from({ length: tabsAtOnce }, reader));
      assert.deepEqual(left, [`http://real.example.org/${withPassword}`]);
    },
  );
  await t.test('a browser that is killed with pages queued has them when it starts again', async () => {
    read.push(...(await queuePages(first, queuedAtLeast - read.length)));
    assert.equal((await overviewOf(first)).totals.items, queuedAtLeast);
    await first.kill();
  });
  const second = await ChromiumWithExtension.start(scope, site, { profile });
  await t.test('one that is killed while it sends them sends the others, and none twice', async () => {
    assert.equal((await overviewOf(second)).totals.items, queuedAtLeast);
    await service.start();
    void second.ask('sendNow', null).catch(() => undefined); // the kill ends it
    await until(async () => Object.keys(await visitsOf(service)).length >= 20, 'some of them have arrived');
    await second.kill();
    const third = await ChromiumWithExtension.start(scope, site, { profile });
    await third.ask('sendNow', null);
    assert.deepEqual((await overviewOf(third)).counts, { waiting: 0, refused: 0 });
    assert.deepEqual(await visitsOf(service), Object.fromEntries(read.map((url) => [url, 1])));
  });
});

/** How many items lie in the browser's database. */
const countItems = `(async () => {
  const result = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const database = await result(indexedDB.open('readback'));
  const count = await result(database.transaction('items').objectStore('items').count());
  database.close();
  return count;
})()`;

test('a worker that is ended between two steps, from the capture to the answer: all arrive once', {
  skip: skipChromium,
}, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope, withoutModel);
  const site = await Site.open(scope);
  const browser = await ChromiumWithExtension.start(scope, site, { loaded: haltingExtension(scope) });
  await browser.pair(service);
  const control = await browser.control();
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
  for (let isHalted = true; isHalted; round += stepsApart) {
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
  t.diagnostic(`ended at every ${stepsApart}th step of ${round - stepsApart}`);
  assert.ok(round > 10);
  assert.deepEqual(await visitsOf(service), Object.fromEntries(urls.map((url) => [url, 1])));
});
