/** Pages that work against the extension, and what may be asked from beside a page; PDFs and videos. Chromium. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CDPSession } from 'playwright-core';
import type { QueueOverview } from '../../extension/src/messages.ts';
import type { PageListResponse, PageResponse } from '../../src/domain/page.ts';
import { skipChromium } from '../chromium.ts';
import { RunningService, until, withoutEntities } from '../process/service.ts';
import { ChromiumWithExtension } from './chromium.ts';
import { article, Site } from './site.ts';

const news = 'http://news.example.org';

/** Replaces what a content script might call, in the page's world; and listens for what it might give away. */
const overridden = article(
  'otters',
  `<script>
    const refuse = () => { throw new Error('refused by the page'); };
    for (const [owner, names] of [
      [Element.prototype, ['getAttribute', 'getAttributeNames', 'hasAttributes', 'checkVisibility', 'querySelectorAll', 'attachShadow']],
      [Document.prototype, ['querySelector', 'querySelectorAll', 'createElement', 'hasFocus']],
      [Storage.prototype, ['getItem']],
      [window, ['requestIdleCallback', 'setInterval', 'setTimeout', 'Date', 'Promise', 'Set']],
      [JSON, ['stringify', 'parse']],
      [Array.prototype, ['push', 'map', 'pop']],
      [String.prototype, ['slice', 'replaceAll', 'toWellFormed']],
    ]) for (const name of names) Object.defineProperty(owner, name, { value: refuse });
    for (const name of ['childNodes', 'localName', 'nodeType', 'nodeValue', 'title', 'visibilityState', 'shadowRoot']) {
      for (const { prototype } of [Node, Element, Document]) {
        if (Object.hasOwn(prototype, name)) Object.defineProperty(prototype, name, { get: refuse });
      }
    }
  </script>`,
);

/** Rewrites itself without an end, and puts its text under new elements each time. */
const restless = article(
  'beavers',
  `<script>
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      const old = document.querySelector('article');
      old.replaceWith(old.cloneNode(true));
      channel.port2.postMessage(null);
    };
    channel.port2.postMessage(null);
  </script>`,
);

/** Elements within elements, deeper than the service takes. */
const deep = article(
  'moles',
  `<script>
    let last = document.querySelector('article');
    for (let depth = 0; depth < 3000; depth++) last = last.appendChild(document.createElement('span'));
    last.textContent = 'The bottom of the burrow.';
  </script>`,
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
  const service = await RunningService.start(t, withoutEntities);
  const site = await Site.open(t);
  site.pages.set('/overridden', overridden);
  site.pages.set('/restless', restless);
  site.pages.set('/deep', deep);
  const browser = await ChromiumWithExtension.start(t, site);
  await browser.pair(service);
  await browser.setOptions({ seconds: 1 });
  const tab = await browser.context.newPage();
  const textOf = async (url: string) => {
    const { body } = await service.call<PageListResponse>('GET', `/v1/pages?url=${encodeURIComponent(url)}`);
    if (body.pages.length === 0) return null;
    return (await service.call<PageResponse>('GET', `/v1/pages/${body.pages[0].page_id}`)).body.body_text ?? '';
  };

  for (const [path, last] of [
    ['/overridden', /Paragraph 11 about otters/],
    ['/deep', /The bottom of the burrow/],
    ['/restless', /about beavers/],
  ] as const) {
    await t.test(`${path} is captured`, async () => {
      await tab.goto(`${news}${path}`);
      await tab.bringToFront();
      await until(async () => (await textOf(`${news}${path}`)) !== null, 'it is kept', 60_000);
      assert.match((await textOf(`${news}${path}`)) ?? '', last);
    });
  }
  await t.test('beside a page only that page can be handed in, and nothing can be read', async () => {
    await tab.goto(`${news}/article/herons`);
    const session = await browser.context.newCDPSession(tab);
    const send = (name: string, request: unknown) =>
      `Promise.race([chrome.runtime.sendMessage(${JSON.stringify({ name, request })}), new Promise((done) => setTimeout(done, 2000, 'silence'))])`;
    const page = { title: 'Forged', visitedAt: Date.now(), html: '<p>Forged</p>', metadata: {}, byHand: false };
    const asked = await besidePage(
      session,
      browser.id,
      `Promise.all([
        ${send('queueOverview', null)}, ${send('deleteItem', { id: 1 })}, ${send('changeSettings', { engines: [] })},
        ${send('pageState', { url: `${news}/deep` })}, ${send('captured', { ...page, url: 'http://other.example.org/forged' })},
        ${send('captured', { ...page, url: 7 })}, ${send('toString', null)}, ${send('ownMatches', null)},
      ])`,
    );
    const answers: unknown[] = JSON.parse(String(asked));
    assert.deepEqual(answers.at(-1), { reply: [] });
    for (const answer of answers.slice(0, -1))
      assert.ok(answer === null || answer === 'silence', JSON.stringify(answer));
    assert.equal(await textOf('http://other.example.org/forged'), null);
  });
  await t.test('a PDF and a video are queued by their address', async () => {
    await service.stop();
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
