/** Pages that work against the extension, and what may be asked from beside a page; PDFs and videos. Chromium. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CDPSession } from 'playwright-core';
import type { QueueOverview } from '../../extension/src/messages.ts';
import type { PageListResponse, PageResponse } from '../../src/domain/page.ts';
import { skipChromium } from '../chromium.ts';
import { RunningService, until, withoutModel } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { ChromiumWithExtension, readUntil } from './chromium.ts';
import { article, rewritten, Site } from './site.ts';

const news = 'http://news.example.org';

/** What stands below the article of each page, by its path. */
const [, ...parts] = readFileSync(join(import.meta.dirname, '../fixtures/hostile-pages.html'), 'utf8').split(
  /^<!-- (\/[\w-]+): .* -->$/m,
);
const hostilePages = new Map(
  Array.from({ length: parts.length / 2 }, (_, at) => [
    parts[2 * at],
    article(parts[2 * at].slice(1), parts[2 * at + 1]),
  ]),
);

/** Evaluate in the world of the extension's content script of a tab, as whoever took it over could. */
async function besidePage(session: CDPSession, extension: string, expression: string): Promise<unknown> {
  const found = new Promise<number>((resolve) => {
    session.on('Runtime.executionContextCreated', ({ context }) => {
      if (context.origin === `chrome-extension://${extension}`) resolve(context.id);
    });
  });
  await session.send('Runtime.enable');
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `(async () => JSON.stringify(await (${expression})) ?? 'nothing')()`,
    contextId: await found,
    awaitPromise: true,
  });
  await session.send('Runtime.disable');
  assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
  return result.value;
}

test('a page can neither keep itself from being read as it is shown, nor ask for more than a page may', {
  skip: skipChromium,
}, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope, withoutModel);
  const site = await Site.open(scope);
  for (const [path, page] of hostilePages) site.pages.set(path, page);
  const login = '<div><input type="password" value="typed"></div></form>';
  site.pages.set('/named-login', (hostilePages.get('/named') ?? '').replace('</form>', login));
  site.pages.set('/rewritten', rewritten(''));
  site.pages.set('/rewritten-meanwhile', rewritten('<p>Lynxes listen.</p>'.repeat(5000)));
  const browser = await ChromiumWithExtension.start(scope, site);
  await browser.pair(service);
  await browser.setOptions({ seconds: 1 });
  const tab = await browser.context.newPage();
  const textOf = async (url: string) => {
    const { body } = await service.call<PageListResponse>('GET', `/v1/pages?url=${encodeURIComponent(url)}`);
    if (body.pages.length === 0) return null;
    return (await service.call<PageResponse>('GET', `/v1/pages/${body.pages[0].page_id}`)).body.body_text ?? '';
  };

  for (const [path, last] of [
    ['/overridden', /Paragraph 11 about overridden/],
    ['/deep', /The bottom of the burrow/],
    ['/restless', /about restless/],
    ['/meddling', /Paragraph 11 about meddling/],
    ['/restless-frames', /Paragraph 11 about restless-frames/],
    ['/silencing', /Paragraph 11 about silencing/],
  ] as const) {
    await t.test(`${path} is captured`, async () => {
      await tab.goto(`${news}${path}`);
      await tab.bringToFront();
      await readUntil(tab, async () => (await textOf(`${news}${path}`)) !== null, 'it is kept');
      assert.match((await textOf(`${news}${path}`)) ?? '', last);
    });
  }
  await t.test('nor can it hide a field for a password behind names, or tens of thousands of elements', async () => {
    for (const path of ['/named-login', '/login-behind-many', '/object-login', '/embed-login']) {
      await tab.goto(`${news}${path}`);
      await tab.bringToFront();
      const decision = await browser.decisionAt(`${news}${path}`);
      assert.deepEqual(decision, { outcome: 'excluded', rule: { rule: 'secret_field' } }, path);
    }
  });
  await t.test('a page that scrolls by itself is not read for it, one that a person scrolls is', async () => {
    await browser.setOptions({ seconds: 600 });
    const itself = await browser.context.newPage();
    await itself.goto(`${news}/self-scrolling`);
    await tab.goto(`${news}/long`);
    await tab.bringToFront();
    await browser.tabOf(`${news}/long`);
    for (let n = 0; n < 8; n++) await tab.mouse.wheel(0, 1200);
    assert.deepEqual(await browser.decisionAt(`${news}/long`), { outcome: 'queued' });
    assert.equal(await browser.outcomeAt(`${news}/self-scrolling`), null);
    await itself.close();
  });
  await t.test('a page that changes its address by itself makes up no pages that somebody read', async () => {
    await browser.setOptions({ seconds: 1 });
    await tab.goto(`${news}/spa/tides`);
    await tab.bringToFront();
    assert.deepEqual(await browser.decisionAt(`${news}/spa/tides`), { outcome: 'queued' });
    const session = await browser.context.newCDPSession(tab);
    // A minute in which nobody does anything. Each step asks for the time.
    const later =
      '(() => { const { now } = Date; let asked = 0; Date.now = () => now() + 60_000 + 0 * (globalThis.asked = ++asked); })()';
    await besidePage(session, browser.id, later);
    await tab.evaluate('go("moons")');
    const moons = `${news}/spa/moons`;
    await browser.tabOf(moons);
    const isOver = async () =>
      Number(await besidePage(session, browser.id, 'globalThis.asked')) > 20 ||
      (await browser.outcomeAt(moons)) !== null;
    await until(isOver, 'steps were taken');
    assert.equal(await browser.outcomeAt(moons), null);
    await tab.bringToFront();
    await tab.mouse.move(100, 100);
    assert.deepEqual(await browser.decisionAt(moons), { outcome: 'queued' });
  });
  await t.test('one that takes all of its elements away for a while is read when they are back', async () => {
    await browser.setOptions({ seconds: 5 });
    await tab.goto(`${news}/vanishing`);
    await tab.bringToFront();
    await tab.mouse.wheel(0, 1200);
    await readUntil(tab, async () => (await textOf(`${news}/vanishing`)) !== null, 'it is kept');
    assert.match((await textOf(`${news}/vanishing`)) ?? '', /Paragraph 11 about vanishing/);
  });
  await t.test('beside a page only that page can be handed in, and nothing can be read', async () => {
    await tab.goto(`${news}/article/herons`);
    const session = await browser.context.newCDPSession(tab);
    const send = (name: string, request: unknown) => `chrome.runtime.sendMessage(${JSON.stringify({ name, request })})`;
    /** What may be left without an answer. */
    const sendOrNot = (name: string, request: unknown) =>
      `Promise.race([${send(name, request)}, new Promise((done) => setTimeout(done, 2000, 'silence'))])`;
    const page = { title: 'Forged', visitedAt: Date.now(), html: '<p>Forged</p>', metadata: {}, byHand: false };
    const asked = await besidePage(
      session,
      browser.id,
      `Promise.all([
        ${sendOrNot('queueOverview', null)}, ${sendOrNot('deleteItem', { id: 1 })}, ${sendOrNot('changeSettings', { engines: [] })},
        ${sendOrNot('pageState', { url: `${news}/deep` })}, ${sendOrNot('captured', { ...page, url: 'http://other.example.org/forged' })},
        ${sendOrNot('captured', { ...page, url: 7 })}, ${sendOrNot('toString', null)}, ${send('ownMatches', null)},
      ])`,
    );
    const answers: unknown[] = JSON.parse(String(asked));
    assert.deepEqual(answers.at(-1), { reply: [] });
    for (const answer of answers.slice(0, -1))
      assert.ok(answer === null || answer === 'silence', JSON.stringify(answer));
    assert.equal(await textOf('http://other.example.org/forged'), null);
  });
  /** What is queued of a page, as it was written. */
  const htmlOf = async (url: string, load = true) => {
    if (load) {
      await tab.goto(url);
      await tab.bringToFront();
    }
    assert.deepEqual(await browser.decisionAt(url), { outcome: 'queued' });
    return (await browser.queuedHtml(url)) ?? '';
  };
  await t.test('names of elements stand before nothing that is captured', async () => {
    await browser.setOptions({ seconds: 1 });
    await service.stop();
    const html = await htmlOf(`${news}/named`);
    assert.match(html, /<title>All about named<[\s\S]*Paragraph 11 about named[\s\S]*The form of the sett/);
  });
  await t.test('one that is written anew is captured as it is then, and followed as before', async () => {
    await browser.setOptions({ seconds: 600 });
    await tab.goto(`${news}/rewritten`);
    await tab.bringToFront();
    await browser.tabOf(`${news}/rewritten`);
    await tab.evaluate(`dispatchEvent(new Event('rewrite'))`);
    for (let n = 0; n < 8; n++) await tab.mouse.wheel(0, 1200);
    const html = await htmlOf(`${news}/rewritten`, false);
    assert.match(html, /<title>All about ocelots<[\s\S]*Ocelots hunt at night[\s\S]*Their last paragraph/);
    assert.doesNotMatch(html, /lynx/i);
  });
  await t.test('and so is one that is written anew while it is captured', async () => {
    const url = `${news}/rewritten-meanwhile`;
    await tab.goto(url);
    await tab.bringToFront();
    const id = await browser.tabOf(url);
    // A step of its work at a time, and the page changes before the tenth.
    await besidePage(
      await browser.context.newCDPSession(tab),
      browser.id,
      `(() => {
        let now = 0;
        performance.now = () => now += 1000;
        let steps = 0;
        requestIdleCallback = (begin) => {
          if (++steps === 10) dispatchEvent(new Event('rewrite'));
          setTimeout(begin);
        };
      })()`,
    );
    assert.equal(await browser.captureIn(id), 'queued');
    const html = (await browser.queuedHtml(url)) ?? '';
    assert.match(html, /<title>All about ocelots<[\s\S]*Ocelots hunt at night[\s\S]*Their last paragraph/);
    assert.doesNotMatch(html, /lynx/i);
    await browser.setOptions({ seconds: 1 });
  });
  await t.test('what is typed into a frame that is edited as a whole is not captured', async () => {
    const html = await htmlOf(`${news}/editors`);
    assert.match(html, /Framed text about beechnuts/);
    assert.doesNotMatch(html, /Typed text/);
  });
  await t.test('a page with a field for a password that never stands still is not saved by its address', async () => {
    const url = `${news}/members`;
    await tab.goto(url);
    await tab.bringToFront();
    const tabId = await browser.tabOf(url);
    // Another address before each step of the work.
    const restless = `(() => {
      let n = 0;
      requestIdleCallback = (begin) => {
        history.replaceState(null, '', '/members?n=' + ++n);
        setTimeout(begin);
      };
    })()`;
    await besidePage(await browser.context.newCDPSession(tab), browser.id, restless);
    const saved = await browser.ask('saveTab', { tabId, url, title: 'Members' });
    assert.deepEqual(saved, { outcome: 'failed' });
    const { items } = await browser.ask<QueueOverview>('queueOverview', null);
    assert.deepEqual(
      items.filter((item) => item.url.includes('/members')),
      [],
    );
  });
  await t.test('a page that cannot be stored is told, and tried again later and later', async () => {
    const worker = await browser.worker();
    await worker.evaluate(`{
      self.tried = [];
      chrome.runtime.onMessage.addListener(({ name, request }) => {
        if (name === 'captured') self.tried.push(request.url);
        return false;
      });
      self.realAdd = IDBObjectStore.prototype.add;
      IDBObjectStore.prototype.add = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
    }`);
    const triesOf = (url: string) =>
      worker.evaluate<number>(`self.tried.filter((each) => each === ${JSON.stringify(url)}).length`);
    const urls = ['gnus', 'kudus'].map((topic) => `${news}/article/${topic}`);
    await tab.goto(urls[0]);
    await tab.bringToFront();
    assert.deepEqual(await browser.decisionAt(urls[0]), { outcome: 'failed' });
    const session = await browser.context.newCDPSession(tab);
    await besidePage(session, browser.id, '(() => { const now = Date.now(); Date.now = () => now; })()');
    const tries = await triesOf(urls[0]);
    const popup = await browser.popupOf(urls[0]);
    await popup.getByText('this browser could not store it').waitFor();
    await popup.close();
    const other = await browser.context.newPage();
    await other.goto(urls[1]);
    await until(async () => (await triesOf(urls[1])) >= 2, 'where time passes it is tried again');
    assert.ok((await triesOf(urls[0])) <= tries + 1, 'where none passes it is not, but for what was under way');
    await worker.evaluate('IDBObjectStore.prototype.add = self.realAdd');
    await until(async () => (await browser.decisionAt(urls[1])).outcome === 'queued', 'it is stored at last');
    await other.close();
  });
  await t.test('what an invisible element says of itself is not captured', async () => {
    const html = await htmlOf(`${news}/invisible`);
    assert.match(html, /<b title="Shown cherries">Cherries/);
    const left = /gooseberries|quinces|medlars|loganberries|greengages|plums|pears/i.exec(html);
    assert.equal(left, null);
  });
  await t.test('a PDF and a video are queued by their address', async () => {
    await browser.context.route('https://www.youtube.com/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: article('a video') }),
    );
    site.pages.set('/paper.pdf', article('a paper'));
    const urls = ['https://www.youtube.com/watch?v=herons', `${news}/paper.pdf`];
    for (const url of urls) {
      await tab.goto(url);
      await tab.bringToFront();
      assert.deepEqual(await browser.decisionAt(url), { outcome: 'queued' });
    }
    const { items } = await browser.ask<QueueOverview>('queueOverview', null);
    assert.deepEqual(
      // The page before may have been read, too.
      items
        .filter(({ url }) => urls.includes(url))
        .map(({ url, size }) => [url, size])
        .sort(),
      urls.map((url): [string, number] => [url, 0]).sort(),
    );
  });
});
