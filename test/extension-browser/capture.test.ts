/** What the extension captures in Chromium, and what never, against a real service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueOverview } from '../../extension/src/messages.ts';
import type { PageListResponse, PageResponse } from '../../src/domain/page.ts';
import { skipChromium } from '../chromium.ts';
import { RunningService, until, withoutModel } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { ChromiumWithExtension, copyOfExtension, readUntil } from './chromium.ts';
import { article, hiddenWords, Site, seenWords, shownWords, unseenWords } from './site.ts';

async function pagesOf(service: RunningService): Promise<Map<string, PageListResponse['pages'][number]>> {
  const { body } = await service.call<PageListResponse>('GET', '/v1/pages?limit=500');
  return new Map(body.pages.map((page) => [page.canonical_url, page]));
}

async function textOf(service: RunningService, url: string): Promise<PageResponse> {
  const { body } = await service.call<PageListResponse>('GET', `/v1/pages?url=${encodeURIComponent(url)}`);
  return (await service.call<PageResponse>('GET', `/v1/pages/${body.pages[0].page_id}`)).body;
}

/** Has a sound of a second, silent but not muted, that is played again and again, or not at all. */
const playing = (plays: boolean): string =>
  article(
    'nightingales',
    `<audio loop></audio><script>
      const bytes = new Uint8Array(8044);
      const view = new DataView(bytes.buffer);
      const text = (at, letters) => [...letters].forEach((letter, n) => { bytes[at + n] = letter.charCodeAt(0); });
      text(0, 'RIFF'); view.setUint32(4, 8036, true); text(8, 'WAVEfmt ');
      view.setUint32(16, 16, true); view.setUint16(20, 1, true); view.setUint16(22, 1, true);
      view.setUint32(24, 8000, true); view.setUint32(28, 8000, true); view.setUint16(32, 1, true); view.setUint16(34, 8, true);
      text(36, 'data'); view.setUint32(40, 8000, true);
      bytes.fill(128, 44);
      const audio = document.querySelector('audio');
      audio.src = URL.createObjectURL(new Blob([bytes], { type: 'audio/wav' }));
      if (${plays}) void audio.play();
    </script>`,
  );

test('what is read in Chromium is kept as it is shown, and what must not be is not', {
  skip: skipChromium,
}, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope, withoutModel);
  const site = await Site.open(scope);
  const browser = await ChromiumWithExtension.start(scope, site);
  await browser.pair(service);
  await browser.setOptions({ seconds: 1 });
  const news = 'http://news.example.org';

  /** Read pages, each in a tab of its own: those that playwright drives are all seen and have the focus. */
  const read = (...urls: string[]) =>
    Promise.all(
      urls.map(async (url) => {
        const tab = await browser.context.newPage();
        await tab.goto(url);
        await readUntil(tab, async () => (await pagesOf(service)).has(url), `${url} is kept`);
        return tab;
      }),
    );
  const unwanted: string[] = [];
  /** Stays until the extension has decided, by this rule, that the page is not kept. */
  const readInVain = async (url: string, rule: Record<string, unknown>) => {
    const tab = await browser.context.newPage();
    await tab.goto(url);
    assert.deepEqual(await browser.decisionAt(url), { outcome: 'excluded', rule });
    const { item, sent } = await browser.ask<{ item: unknown; sent: unknown }>('pageState', { url });
    assert.deepEqual([item, sent], [null, null], url);
    unwanted.push(url);
    await tab.close();
  };

  await t.test(
    'an article, views of a program, shadow roots, frames, forms that nobody sees: as they are shown',
    async () => {
      const hidden = [`${news}/hidden-login`, `${news}/hidden-empty-login`];
      const [program] = await read(
        `${news}/spa/tides`,
        `${news}/article/herons`,
        `${news}/shadow`,
        `${news}/unseen`,
        ...hidden,
      );
      const page = await textOf(service, `${news}/article/herons`);
      assert.equal(page.title, 'All about herons');
      assert.match(page.body_text ?? '', /Paragraph 11 about herons/);
      assert.equal(page.source, 'extension');
      assert.equal(page.metadata?.language, 'en');

      // Only somebody who is there reads a second view.
      await program.mouse.move(200, 200);
      await program.evaluate('go("moons")');
      await until(async () => (await pagesOf(service)).has(`${news}/spa/moons`), 'the second view is kept');
      assert.match((await textOf(service, `${news}/spa/tides`)).body_text ?? '', /What the view tides tells/);
      assert.equal((await textOf(service, `${news}/spa/tides`)).title, 'View tides of the sea');
      const second = await textOf(service, `${news}/spa/moons`);
      assert.equal(second.title, 'View moons');
      assert.doesNotMatch(second.body_text ?? '', /tides tells/);
      assert.match(second.body_text ?? '', /What the view moons tells/);

      const text = (await textOf(service, `${news}/shadow`)).body_text ?? '';
      for (const there of shownWords) assert.match(text, new RegExp(there));
      for (const not of hiddenWords) assert.doesNotMatch(text, new RegExp(not));
      const seen = (await textOf(service, `${news}/unseen`)).body_text ?? '';
      assert.deepEqual(
        [...seenWords, ...unseenWords].filter((word) => seen.includes(word)),
        seenWords,
      );
    },
  );
  await t.test('a page that is longer than what is sent, cut', async () => {
    const [tab] = await read(`${news}/huge`);
    await tab.close();
    const page = await textOf(service, `${news}/huge`);
    assert.equal(page.metadata?.cut, true);
    assert.ok((page.body_text ?? '').length > 500_000);
  });
  await t.test('an endless feed once', async () => {
    const tab = await browser.context.newPage();
    await tab.goto(`${news}/feed`);
    for (let n = 0; n < 10; n++) await tab.mouse.wheel(0, 2000);
    await readUntil(tab, async () => (await pagesOf(service)).has(`${news}/feed`), 'it is kept');
    assert.equal((await pagesOf(service)).get(`${news}/feed`)?.visit_count, 1);
  });
  await t.test('forms for passwords and cards, local addresses, banks, sign-in pages are not', async () => {
    // Hidden ones in shadow roots count once they are filled in.
    const secret = ['members', 'pay-by-card', 'open-login', 'closed-login', 'hidden-open-login', 'hidden-closed-login'];
    await Promise.all([
      ...secret.map((path) => readInVain(`${news}/${path}`, { rule: 'secret_field' })),
      readInVain(`http://127.0.0.1:${site.port}/article/routers`, { rule: 'local' }),
      readInVain('http://banking.first.example.org/article/accounts', { rule: 'kind', kind: 'bank' }),
      readInVain(`${news}/login/again`, { rule: 'kind', kind: 'sign_in' }),
    ]);
  });
  await t.test('a local site is, once it is allowed', async () => {
    await browser.setOptions({ allow: ['127.0.0.1'] });
    await read(`http://127.0.0.1:${site.port}/article/routers`);
  });
  await t.test('a site that was forgotten is not', async () => {
    await service.call('POST', '/v1/forget', { domain: 'gone.example.org' });
    await browser.ask('syncRules', null);
    await readInVain('http://gone.example.org/article/past', { rule: 'blacklist', pattern: 'gone.example.org' });
  });
  await t.test('one whose media play is read on without a sign of a person', async () => {
    // Longer than a page is active by having been opened.
    await browser.setOptions({ seconds: 17 });
    for (const path of ['/still', '/playing']) {
      site.pages.set(path, playing(path === '/playing'));
      const tab = await browser.context.newPage();
      await tab.goto(news + path);
    }
    await until(async () => (await pagesOf(service)).has(`${news}/playing`), 'it is kept');
    assert.equal(await browser.outcomeAt(`${news}/still`), null);
    await browser.setOptions({ seconds: 1 });
  });
  await t.test('nothing while paused; by hand it is', async () => {
    const options = await browser.open('popup.html?search=');
    await options.getByRole('button', { name: 'Pause for an hour' }).click();
    await options.getByRole('button', { name: 'Resume' }).waitFor();
    await options.close();
    const tab = await browser.context.newPage();
    await tab.goto(`${news}/article/pauses`);
    const decision = await browser.decisionAt(`${news}/article/pauses`);
    assert.equal(decision.outcome === 'excluded' && decision.rule.rule, 'paused');
    const popup = await browser.popupOf(`${news}/article/pauses`);
    await popup.getByRole('button', { name: 'Save now' }).click();
    await until(async () => (await pagesOf(service)).has(`${news}/article/pauses`), 'it is kept');
    await popup.close();
    const badge = async () => (await browser.worker()).evaluate(() => chrome.action.getBadgeText({}));
    await until(async () => (await badge()) === 'II', 'the icon says so');
    await browser.ask('changeSettings', { pausedUntil: Date.now() + 1000 });
    await until(async () => (await badge()) === '', 'and no more once the pause has ended');
  });
  await t.test('each of them once, and none that was to be left out but those that were allowed later', async () => {
    const allowed = `http://127.0.0.1:${site.port}/article/routers`;
    const kept = await pagesOf(service);
    assert.deepEqual(
      unwanted.filter((url) => kept.has(url)),
      [allowed],
    );
    for (const { canonical_url, visit_count } of (await pagesOf(service)).values())
      assert.equal(visit_count, 1, canonical_url);
  });
});

/** Whether it is shown, too, that what is looked for would be there if the extension captured in private windows: npm run soak. */
const withControl = process.env.READBACK_TEST_ALL_POINTS === '1';

/** Tells its server once it was seen and had the focus for some seconds, each longer than the extension's shortest time of reading. */
const telling = article(
  'secrets',
  `<script>
    let left = 4;
    const look = () => {
      if (document.visibilityState === 'visible' && document.hasFocus()) left--;
      if (left === 0) void fetch('/was-seen');
      else setTimeout(look, 1000);
    };
    look();
  </script>`,
);

test('nothing is captured in a private window of Chromium, whatever people allow', {
  skip: skipChromium,
}, async (t) => {
  const scope = newestFirst(t);
  const spanning = copyOfExtension(scope, (manifest) => {
    manifest.incognito = 'spanning';
  });
  const url = 'http://news.example.org/secrets';
  const cases: [name: string, loaded: string | undefined, captured: string[]][] = [
    ['it is allowed', undefined, []],
    ['one that would run there is allowed: then it would be', spanning, [url]],
  ];
  for (const [name, loaded, captured] of withControl ? cases : cases.slice(0, 1)) {
    await t.test(name, async (t) => {
      const scope = newestFirst(t);
      const site = await Site.open(scope);
      site.pages.set('/secrets', telling);
      const first = await ChromiumWithExtension.start(scope, site, { loaded });
      assert.equal(await first.allowInPrivate(), loaded === spanning);
      // It counts from the next start on.
      await first.context.close();
      const browser = await ChromiumWithExtension.start(scope, site, { loaded, profile: first.profile });
      // Nobody is there: what is captured stays.
      await browser.connect({ address: 'http://127.0.0.1:9', token: 'none', name: 'Chromium', library: null });
      await browser.setOptions({ seconds: 1 });
      await (await browser.control()).evaluate((url) => void chrome.windows.create({ incognito: true, url }), url);
      await until(async () => site.asked.has('/was-seen'), 'it was seen');
      const queued = async () => (await browser.ask<QueueOverview>('queueOverview', null)).items.map(({ url }) => url);
      if (captured.length > 0) await until(async () => (await queued()).length > 0, 'it is queued');
      assert.deepEqual(await queued(), captured);
    });
  }
});
