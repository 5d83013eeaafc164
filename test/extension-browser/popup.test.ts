/** The popup and the options in Chromium, against a real service: what they say of a page, undo, search, forget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageState } from '../../extension/src/messages.ts';
import type { Settings } from '../../extension/src/settings.ts';
import type { PageListResponse, PageResponse } from '../../src/domain/page.ts';
import { skipChromium } from '../chromium.ts';
import { RunningService, realEncoder, until } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { ChromiumWithExtension, readUntil } from './chromium.ts';
import { Site } from './site.ts';

const news = 'http://news.example.org';

test('the popup tells of a page, finds others, and forgets', { skip: skipChromium }, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope, realEncoder);
  const site = await Site.open(scope);
  const browser = await ChromiumWithExtension.start(scope, site);
  const tab = await browser.context.newPage();
  /** What the service is told by any part of the extension: method, path and body. */
  const told: string[] = [];
  const { url: address } = service;
  browser.context.on('request', (request) => {
    const { origin, pathname, search } = new URL(request.url());
    if (origin === address) told.push(`${request.method()} ${pathname}${search} ${request.postData() ?? ''}`);
  });
  const pages = async () => (await service.call<PageListResponse>('GET', '/v1/pages?limit=500')).body.pages;

  await t.test('not paired: it says so, and nothing is captured', async () => {
    await tab.goto(`${news}/article/early`);
    const popup = await browser.popupOf(`${news}/article/early`);
    await popup.getByText('Not connected').waitFor();
    await popup.close();
  });
  await t.test('it is paired by a code', async () => {
    const newCode = async () =>
      (await service.call<{ code: string }>('POST', '/v1/codes', { purpose: 'pair' })).body.code;
    const page = await browser.open('welcome.html');
    await page.getByText('Advanced').click();
    await page.getByLabel('Address of the service').fill(service.url);
    for (const [codeOf, said] of [
      [async () => 'AAAA-AAAA', 'This code is wrong'],
      [newCode, 'Paired with'],
    ] as const) {
      await page.getByRole('textbox', { name: 'Code', exact: true }).fill(await codeOf());
      await page.getByRole('button', { name: 'Pair', exact: true }).click();
      await page.getByText(said).waitFor();
    }
    await page.close();
  });
  await t.test('options are stored as they are changed, and go into a file and out of it', async () => {
    const options = await browser.open('options.html');
    const seconds = options.getByLabel('Seconds of active reading');
    await seconds.fill('1');
    await seconds.blur();
    await options.getByLabel('Name of a site').fill('two words');
    await options.getByRole('button', { name: 'Never capture' }).press('Enter');
    await options.getByText('Not a site name').waitFor();
    await options.getByLabel('Name of a site').fill('diary.example.org');
    await options.getByRole('button', { name: 'Never capture' }).press('Enter');
    await options.getByLabel('Remove the rule for diary.example.org').waitFor();
    const stored = () =>
      options.evaluate(async () => (await chrome.storage.local.get<{ settings: Settings }>('settings')).settings);
    await until(async () => (await stored()).activeSeconds === 1, 'the seconds are stored');
    const before = await stored();
    assert.deepEqual(before.sites, { 'diary.example.org': 'off' });

    const saved = options.waitForEvent('download');
    await options.getByRole('button', { name: 'Export' }).press('Enter');
    const file = await (await saved).path();
    await browser.ask('changeSettings', { activeSeconds: 99, sites: {}, onlyAllowed: true });
    await options.getByLabel('Import', { exact: true }).setInputFiles(file);
    await until(async () => (await stored()).activeSeconds === 1, 'the file is read');
    assert.deepEqual(await stored(), before);

    await options.getByLabel('Import', { exact: true }).setInputFiles({
      name: 'other.json',
      mimeType: 'application/json',
      buffer: Buffer.from('{"activeSeconds": 0}'),
    });
    await options.getByText('This file has no valid settings').waitFor();
    assert.deepEqual(await stored(), before);
    await options.close();
  });
  await t.test('a page that was read before says when and how often', async () => {
    const page = { url: `${news}/article/herons`, body_extracted: 'Herons wade slowly.', title: 'All about herons' };
    for (const month of ['01', '02', '03']) {
      await service.call('POST', '/v1/pages', { ...page, fetched_at: `2026-${month}-05T12:00:00Z` });
    }
    const other = { url: `${news}/article/storks`, body_extracted: 'Storks wade as herons do.', title: 'Storks' };
    await service.call('POST', '/v1/pages', other);
    await tab.goto(page.url);
    await tab.bringToFront();
    await readUntil(tab, async () => (await pages()).some(({ visit_count }) => visit_count === 4), 'the visit arrived');
    const isNoted = async () => (await browser.ask<PageState>('pageState', { url: page.url })).sent !== null;
    await until(isNoted, 'it is noted that it has arrived');
    const popup = await browser.popupOf(page.url);
    await popup.getByText('Read 4 times since 5 Jan 2026.').waitFor();
    const asked = () => told.some((each) => each.includes('/v1/search') && each.includes('All about herons'));
    await until(asked, 'related pages are looked for');
    await popup.getByText('Captured on').waitFor();
    await popup.getByLabel('Add tags').fill('birds, wetland');
    await popup.getByLabel('Add tags').press('Enter');
    await popup.getByRole('button', { name: 'Remove tag birds' }).click();
    await popup.getByRole('button', { name: 'Remove tag birds' }).waitFor({ state: 'detached' });
    await popup.getByLabel('Note', { exact: true }).fill('Seen at dawn');
    await popup.getByLabel('Note', { exact: true }).blur();
    const metadata = async () => {
      const [{ page_id }] = (await pages()).filter(({ canonical_url }) => canonical_url === page.url);
      return (await service.call<PageResponse>('GET', `/v1/pages/${page_id}`)).body.metadata;
    };
    await until(async () => (await metadata())?.note === 'Seen at dawn', 'the note is stored');
    assert.deepEqual((await metadata())?.tags, ['wetland']);
    const { sent } = await browser.ask<{ sent: unknown }>('pageState', { url: `${page.url}?utm_source=x#part` });
    assert.ok(sent, 'an address is looked up as the service compares it');
    await popup.close();
  });
  await t.test('the side panel follows the tab that is shown', async () => {
    const panel = await browser.open('panel.html');
    await tab.bringToFront();
    await panel.getByRole('heading', { name: 'All about herons' }).waitFor();
    const other = await browser.context.newPage();
    await panel.getByRole('heading', { name: 'All about herons' }).waitFor({ state: 'detached' });
    await other.close();
    await tab.bringToFront();
    await panel.setViewportSize({ width: 300, height: 700 });
    const isWider = () => panel.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(await isWider(), false, 'it fits a narrow panel');
    const options = await panel.evaluate(() => chrome.sidePanel.getOptions({}));
    assert.match(String(options.path), /panel\.html$/);
    await panel.close();
  });
  await t.test('search while typing finds passages, and links to them', async () => {
    await until(async () => (await pages()).every(({ status }) => status === 'indexed'), 'the pages can be found');
    const popup = await browser.open('popup.html?search=');
    await popup.getByRole('searchbox').pressSequentially('herons wad');
    const result = popup.getByRole('list', { name: 'Results' }).getByRole('link').first();
    await result.waitFor();
    assert.match(String(await result.getAttribute('href')), /^http:\/\/news\.example\.org\/article\/herons#:~:text=/);
    await popup.getByRole('searchbox').fill('zyxwvut');
    await popup.getByText('No results.').waitFor();
    await popup.getByRole('searchbox').fill('herons -herons ');
    await popup.getByText('All matching pages are excluded by -herons.').waitFor();
    await popup.getByRole('searchbox').fill('slowlyy');
    await popup.getByText('Showing results for “slowly”.').waitFor();
    await popup.getByRole('button', { name: 'Search for “slowlyy” instead' }).click();
    await popup.getByText('No results.').waitFor();
    await popup.close();
    const { body } = await service.call<{ runs: unknown[] }>('GET', '/v1/admin/query-log');
    assert.deepEqual(body.runs, [], 'neither what is typed nor what is looked for by itself is logged');
  });
  await t.test('what comes late moves nothing that can be clicked', async () => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await browser.context.route(`${service.url}/**`, async (route) => {
      await held;
      await route.continue();
    });
    const popup = await browser.popupOf(`${news}/article/herons`);
    await popup.getByText('Captured on').waitFor();
    const places = () =>
      popup.evaluate(() =>
        [...document.querySelectorAll('header, input, button, footer')].map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return [element.textContent, x, y, width, height];
        }),
      );
    const early = await places();
    letGo();
    await popup.getByText('Read 4 times since').waitFor();
    await popup.getByRole('list', { name: 'Related pages' }).waitFor();
    assert.ok(early.length > 5);
    assert.deepEqual((await places()).slice(0, early.length), early);
    await browser.context.unroute(`${service.url}/**`);
    await popup.close();
  });
  await t.test(
    'of a page that is never captured the service is told nothing, before it is read and while paused',
    async () => {
      await browser.setOptions({ seconds: 600 });
      await tab.goto(`${news}/members?token=reset-abc`);
      let popup = await browser.popupOf(`${news}/members?token=reset-abc`);
      await popup.getByText('Not captured yet').waitFor();
      await popup.close();
      await browser.ask('changeSettings', { pausedUntil: 'forever' });
      await tab.goto('http://banking.example.org/article/accounts');
      popup = await browser.popupOf('http://banking.example.org/article/accounts');
      await popup.getByText('on the built-in list (banks and payments)').waitFor();
      await popup.getByRole('button', { name: 'Resume' }).click();
      await popup.getByRole('button', { name: 'Pause', exact: true }).waitFor();
      await popup.close();
      // The popup of a page that may be captured does tell of it, later.
      await tab.goto(`${news}/article/newts`);
      popup = await browser.popupOf(`${news}/article/newts`);
      const isTold = () =>
        ['GET /v1/pages?', 'POST /v1/search'].every((call) =>
          told.some((each) => each.startsWith(call) && each.includes('newts')),
        );
      await until(isTold, 'it is told of');
      await popup.close();
      assert.deepEqual(
        told.filter((each) => /reset-abc|gardens|accounts/.test(each)),
        [],
      );
      await browser.setOptions({ seconds: 1 });
    },
  );
  await t.test('an excluded page says by which rule, and is captured once its site is allowed', async () => {
    const url = 'http://banking.example.org/article/loans';
    await tab.goto(url);
    await browser.decisionAt(url); // until it is opened anew nothing of it is captured
    const popup = await browser.popupOf(url);
    await popup.getByText('on the built-in list (banks and payments)').waitFor();
    assert.equal(
      told.some((each) => each.includes('loans')),
      false,
      'the service is not asked about it',
    );
    await popup.getByRole('button', { name: 'Always capture banking.example.org' }).click();
    await popup.getByText('Not captured yet').waitFor();
    await popup.close();
    await tab.reload();
    await tab.bringToFront();
    await readUntil(tab, async () => (await pages()).some(({ canonical_url }) => canonical_url === url), 'it is kept');
  });
  await t.test('a site that is switched off is not captured', async () => {
    await tab.goto('http://blog.example.org/article/moss');
    await tab.bringToFront();
    const popup = await browser.popupOf('http://blog.example.org/article/moss');
    const box = popup.getByRole('checkbox', { name: 'Capture pages on blog.example.org' });
    await box.uncheck();
    await popup.close();
    const ruleOf = async (path: string) =>
      (await browser.ask<PageState>('pageState', { url: `http://blog.example.org${path}` })).exclusion;
    await until(async () => (await ruleOf('/article/moss'))?.rule === 'site', 'it is switched off');
    const again = await browser.popupOf('http://blog.example.org/article/moss');
    assert.equal(await again.getByRole('checkbox', { name: 'Capture pages on blog.example.org' }).isChecked(), false);
    await again.getByText('you switched blog.example.org off').waitFor();
    await again.close();
    assert.deepEqual(await ruleOf('/other'), { rule: 'site', site: 'blog.example.org' });
  });
  await t.test('where a site above is switched off, its switch is shown, and turns it on again', async () => {
    await browser.ask('switchSite', { site: 'example.net', to: 'off' });
    await tab.goto('http://pond.example.net/article/newts');
    const popup = await browser.popupOf('http://pond.example.net/article/newts');
    const box = popup.getByRole('checkbox', { name: 'Capture pages on example.net' });
    assert.equal(await box.isChecked(), false);
    await box.click();
    await popup.getByRole('checkbox', { name: 'Capture pages on pond.example.net' }).waitFor();
    const state = await browser.ask<{ exclusion: unknown }>('pageState', { url: 'http://pond.example.net/other' });
    assert.equal(state.exclusion, null);
    await popup.close();
  });
  await t.test('a page is forgotten after a question, and not captured again', async () => {
    const url = `${news}/article/herons`;
    await tab.goto(url);
    const popup = await browser.popupOf(url);
    // Enter twice forgets nothing.
    await popup.getByRole('button', { name: 'Delete page' }).focus();
    await popup.keyboard.press('Enter');
    await popup.getByRole('alertdialog', { name: 'Delete' }).waitFor();
    await popup.keyboard.press('Enter');
    await popup.getByRole('alertdialog', { name: 'Delete' }).waitFor({ state: 'detached' });
    assert.equal(await popup.locator(':focus').textContent(), 'Delete page');
    assert.ok((await pages()).some(({ canonical_url }) => canonical_url === url));
    await popup.getByRole('button', { name: 'Delete page' }).click();
    await popup.getByRole('button', { name: 'Delete', exact: true }).click();
    await popup.getByText('Deleted pages: 1').waitFor();
    await popup.getByText('was deleted and is blocked').waitFor();
    assert.equal(
      (await pages()).some(({ canonical_url }) => canonical_url === url),
      false,
    );
    await popup.close();
  });
  await t.test('a page is forgotten, and its lines here, though the popup is closed at once', async () => {
    const url = `${news}/article/lapwings`;
    const isKept = async () => (await pages()).some(({ canonical_url }) => canonical_url === url);
    const here = () => browser.ask<Pick<PageState, 'sent' | 'exclusion'>>('pageState', { url });
    await tab.goto(url);
    await tab.bringToFront();
    await readUntil(tab, async () => (await isKept()) && (await here()).sent !== null, 'it is captured');
    const popup = await browser.popupOf(url);
    await popup.getByRole('button', { name: 'Delete page' }).click();
    await popup.getByRole('button', { name: 'Delete', exact: true }).click();
    await popup.close();
    await until(async () => !(await isKept()), 'the service has forgotten it');
    // The rule comes first, that nothing is captured while the lines go.
    await until(async () => {
      const { exclusion, sent } = await here();
      return exclusion?.rule === 'blacklist' && sent === null;
    }, 'and so has the browser');
  });
  await t.test('while the service is away a page waits, and can be taken out', async () => {
    await service.stop();
    const idle = await browser.open('popup.html?search=');
    await idle.getByText('The service does not answer').waitFor();
    await idle.close();
    await tab.goto(`${news}/article/foxes`);
    await tab.bringToFront();
    const counted = async () => (await browser.ask<{ totals: { items: number } }>('queueOverview', null)).totals.items;
    await browser.open('options.html');
    await tab.bringToFront();
    const isQueued = async () => {
      await tab.bringToFront();
      return (await counted()) === 1;
    };
    await readUntil(tab, isQueued, 'it is queued');
    const popup = await browser.popupOf(`${news}/article/foxes`);
    await popup.getByText('Captured; waiting to be sent.').waitFor();
    await popup.getByText('The service does not answer').waitFor();
    await popup.getByRole('button', { name: 'Undo' }).click();
    await popup.getByRole('button', { name: 'Save now' }).waitFor();
    assert.equal(await counted(), 0);
    await popup.close();
    const kept = {
      url: `${news}/article/wolves`,
      title: 'Wolves',
      visitedAt: Date.now(),
      html: null,
      metadata: {},
      byHand: false,
    };
    await browser.ask('captured', kept);
    assert.equal(await counted(), 1);
  });
  await t.test('a token that was revoked is told, and nothing is lost', async () => {
    await service.start();
    const { body } = await service.call<{ tokens: { id: string; source: string }[] }>('GET', '/v1/tokens');
    const paired = body.tokens.find(({ source }) => source === 'paired');
    await service.call('DELETE', `/v1/tokens/${paired?.id}`);
    // The service is at another address now: it is paired anew after its old one failed.
    const state = await browser.ask<{ problem: { kind: string } | null } | null>('sendNow', null);
    // Or somebody else has that address now.
    assert.ok(['unreachable', 'unauthorized'].includes(String(state?.problem?.kind)));
    await browser.pair(service);
    await until(
      async () => (await pages()).some(({ canonical_url }) => canonical_url === `${news}/article/wolves`),
      'it has arrived',
    );
    const tokens = await service.call<{ tokens: { id: string; source: string }[] }>('GET', '/v1/tokens');
    for (const { id, source } of tokens.body.tokens)
      if (source === 'paired') await service.call('DELETE', `/v1/tokens/${id}`);
    const page = { url: `${news}/kept`, title: 'Kept', visitedAt: Date.now(), html: null, metadata: {}, byHand: false };
    await browser.ask('captured', page);
    const refused = await browser.ask<{ problem: { kind: string } | null } | null>('sendNow', null);
    assert.equal(refused?.problem?.kind, 'unauthorized');
    const badge = await (await browser.worker()).evaluate(() => chrome.action.getBadgeText({}));
    assert.equal(badge, '!');
    await browser.pair(service);
    await until(async () => (await pages()).some(({ canonical_url }) => canonical_url === page.url), 'it has arrived');
  });
  await t.test('a service that is back is told as connected, and gets what waits', async () => {
    const page = { url: `${news}/back`, title: 'Back', visitedAt: Date.now(), html: null, metadata: {}, byHand: false };
    const pauseSending = (notBefore: number) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('readback');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const problem = { kind: 'unreachable', detail: 'it was away' };
          const transaction = opening.result.transaction('meta', 'readwrite');
          transaction.objectStore('meta').put({ failures: 1, notedAt: Date.now(), notBefore, problem }, 'send');
          transaction.oncomplete = () => resolve();
          transaction.onerror = () => reject(transaction.error);
        };
      });
    await browser.ask('sendNow', null); // what is being sent would end the pause
    const options = await browser.open('options.html');
    await options.evaluate(pauseSending, Date.now() + 24 * 3600_000);
    await browser.ask('captured', page);
    assert.equal((await browser.ask<PageState>('pageState', { url: page.url })).item?.state, 'waiting');
    const popup = await browser.open('popup.html?search=');
    await popup.getByText('Connected to').waitFor();
    await until(async () => (await pages()).some(({ canonical_url }) => canonical_url === page.url), 'it has arrived');
    await popup.close();
    await options.close();
  });
  await t.test('a code that gives no right to write is told, with the token to revoke', async () => {
    const { body } = await service.call<{ code: string }>('POST', '/v1/codes', { purpose: 'pair', scopes: ['read'] });
    const welcome = await browser.open('welcome.html');
    await welcome.getByRole('button', { name: 'Pair with another' }).click();
    await welcome.getByText('Advanced').click();
    await welcome.getByLabel('Address of the service').fill(service.url);
    await welcome.getByLabel('Name of this browser there').fill('A reader');
    await welcome.getByRole('textbox', { name: 'Code', exact: true }).fill(body.code);
    await welcome.getByRole('button', { name: 'Pair', exact: true }).click();
    await welcome.getByText('The token of this code, “A reader”, may only read. Revoke it').waitFor();
    await welcome.close();
  });
});
