/** Several people, one browser: nothing that one was shown is there for the next. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { token as anna, RunningService, until } from '../process/service.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
import {
  accessibilityFaults,
  openPage,
  results,
  searchBox,
  searchFor,
  sharedBrowser,
  skip,
  titles,
} from './browser.ts';

const ben = 'token-of-ben-4711';
const carl = { laptop: 'token-of-carl-4712', phone: 'token-of-carl-4713' };
const texts: Record<string, string[]> = {
  [anna]: ['Anna on lighthouses', 'The lighthouse keeper trims the lamp each night.'],
  [ben]: ['Ben on lighthouses', 'A lighthouse was built on the rock by engineers.'],
};

async function enter(page: Page, token: string): Promise<void> {
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function signOut(page: Page): Promise<void> {
  // By a key: what stands above it comes late, and moves it from under a click.
  await page.getByRole('button', { name: 'Sign out' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
}

const shared = sharedBrowser();
let service: RunningService;
const scope = newestFirst({ after });
/** A library of each, which are open. */
before(async () => {
  if (skip !== false) return;
  // Of one name: what tells them apart is the library.
  const laptops = Object.entries({ anna, ben, carl: carl.laptop }).map(([library, token]) => ({
    name: 'laptop',
    token,
    library,
  }));
  service = await RunningService.start(scope, {
    SERVICE_AUTH_TOKEN: '',
    SERVICE_AUTH_TOKENS: JSON.stringify([...laptops, { name: 'phone', token: carl.phone, library: 'carl' }]),
    SERVICE_LIBRARIES__DIR: temporaryFolder(scope),
  });
  for (const { token } of laptops) {
    const isOpen = async () => (await service.call('GET', '/v1/jobs', undefined, { token })).status === 200;
    await until(isOpen, 'the library is open');
  }
});

test('who signs in after another, or over the view of another, finds nothing of theirs', { skip }, async () => {
  for (const [token, [title, body_extracted]] of Object.entries(texts)) {
    const call = <Body>(method: string, path: string, body?: object) =>
      service.call<Body>(method, path, body, { token });
    const page = { url: `https://${title.slice(0, 3).toLowerCase()}.example/`, title, body_extracted };
    const { page_id } = (await call<{ page_id: string }>('POST', '/v1/pages', page)).body;
    const isIndexed = async () =>
      (await call<{ status: string }>('GET', `/v1/pages/${page_id}/status`)).body.status === 'indexed';
    await until(isIndexed, 'the page is indexed');
  }
  // A request of a session that has ended is told of by the browser itself.
  const { page } = await openPage(shared.browser, service, { allowed: /401 \(Unauthorized\)/ });
  await page.goto(service.url);
  const foundBy = async (token: string) => {
    await enter(page, token);
    await searchBox(page).waitFor();
    await searchFor(page, 'lighthouse');
    assert.deepEqual(await titles(page), [texts[token][0]]);
  };
  await foundBy(anna);
  await page.getByRole('link', { name: 'Stored text' }).click();
  await page.locator('.prose').waitFor();

  await page.evaluate(() => {
    location.hash = '#/system';
  });
  await signOut(page);
  await page.getByRole('heading', { name: 'Sign in to your library' }).waitFor();
  assert.equal(new URL(page.url()).hash, '#/search', 'the address is nobody’s');
  await foundBy(ben);
  const seen: string[] = [];
  for (let n = 0; n < 4 && new URL(page.url()).origin === new URL(service.url).origin; n++) {
    seen.push((await page.locator('body').innerText()).toLowerCase());
    await page.goBack().catch(() => undefined); // to where the browser began
    if (/#\/search\?/.test(page.url())) await until(async () => (await results(page).count()) === 1, 'what Ben finds');
  }
  assert.ok(seen.length > 1);
  for (const text of seen) assert.doesNotMatch(text, /keeper|anna/);

  await page.goto(`${service.url}/#/search?q=lighthouse`);
  await until(async () => (await titles(page)).join() === texts[ben][0], 'what Ben finds');

  // In another tab of the same browser Anna takes the place of Ben, whose tab is looked at no more.
  const other = await page.context().newPage();
  await other.goto(`${service.url}/#/system`);
  await signOut(other);
  await page.getByRole('heading', { name: 'Sign in to your library' }).waitFor();
  assert.doesNotMatch(await page.locator('body').innerText(), /Ben/, 'nothing of Ben is left');
  await enter(other, anna);
  await searchBox(other).waitFor();
  await searchBox(page).waitFor();
  await until(async () => (await results(page).count()) === 0, 'the tab of Ben has begun anew');
  await searchFor(page, 'lighthouse');
  assert.deepEqual(await titles(page), [texts[anna][0]]);
  await other.evaluate(() => {
    location.hash = '#/system';
  });
  await signOut(other);
  await page.getByRole('heading', { name: 'Sign in to your library' }).waitFor();
  await enter(other, ben);
  await searchBox(other).waitFor();
  await other.close();
  await until(async () => (await results(page).count()) === 0, 'the tab of Anna, too');
  await searchFor(page, 'lighthouse');
  type Sessions = { sessions: { id: string }[] };
  const { body } = await service.call<Sessions>('GET', '/v1/sessions', undefined, { token: ben });
  for (const { id } of body.sessions) await service.call('DELETE', `/v1/sessions/${id}`, undefined, { token: ben });
  await page.getByRole('button', { name: 'Related' }).click();
  const over = page.getByRole('dialog', { name: 'Your session has ended' });
  await over.waitFor();
  await enter(page, anna);
  await over.waitFor({ state: 'detached' });
  await searchBox(page).waitFor();
  assert.equal(await results(page).count(), 0, 'the next begins anew');
  assert.equal(await searchBox(page).inputValue(), '');
});

test('a link to another library asks who is signed in, one to the same library does not', { skip }, async () => {
  const { page, show } = await openPage(shared.browser, service, { allowed: /409|401/ });
  const linkOf = async (token: string) => {
    const { body } = await service.call<{ url: string }>('POST', '/v1/codes', { purpose: 'session' }, { token });
    return new URL(body.url).hash;
  };
  const libraryNow = () =>
    page.evaluate(async () => {
      const answer = await fetch('/v1/sessions', { headers: { 'x-readback': 'console' } });
      const { sessions }: { sessions: { current: boolean; library: string }[] } = await answer.json();
      return sessions.find(({ current }) => current)?.library;
    });
  await page.goto(`${service.url}/${await linkOf(anna)}`);
  await searchBox(page).waitFor();
  assert.equal(await libraryNow(), 'anna');

  const question = page.getByRole('dialog', { name: 'Switch library?' });
  /** In the page as it is, and in one that is loaded with the link. */
  const ways: ((hash: string) => Promise<unknown>)[] = [
    show,
    async (hash) => {
      await page.goto('about:blank');
      await page.goto(`${service.url}/${hash}`);
    },
  ];
  for (const follow of ways) {
    await follow(await linkOf(ben));
    await question.getByText('You are signed in to library anna. Switch to ben?').waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal(await libraryNow(), 'anna');
    assert.equal(new URL(page.url()).hash, '#/search');
  }
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await show(await linkOf(anna));
  assert.equal((await answered).status(), 201);
  assert.equal(await question.count(), 0, 'of the same library it just signs in');

  await show(await linkOf(ben));
  await question.getByRole('button', { name: 'Switch' }).click();
  await question.waitFor({ state: 'detached' });
  await searchBox(page).waitFor();
  await until(async () => (await libraryNow()) === 'ben', 'the library is the other one');

  // A question that is answered too late.
  await show(await linkOf(anna));
  await question.waitFor();
  await page.route('**/v1/sessions', (route) => route.fulfill({ status: 401, json: { detail: 'no' } }), { times: 1 });
  await question.getByRole('button', { name: 'Switch' }).click();
  await question.getByText('This link was used before or has expired').waitFor();
});

test('who signs in while another tab is still asking who it is, is who that tab shows', { skip }, async (t) => {
  const { page } = await openPage(shared.browser, service, { allowed: /401 \(Unauthorized\)/ });
  const other = await page.context().newPage();
  const shown = () => page.locator('.holder bdi').textContent();
  /** Load the page; its first question is answered when `meanwhile` is over and the page has been told of it. */
  const loadDuring = async (meanwhile: () => Promise<unknown>) => {
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let isAsked = false;
    const hold = async (route: Route) => {
      const response = await route.fetch();
      isAsked = true;
      await held;
      await route.fulfill({ response });
    };
    await page.route('**/v1/sessions', hold, { times: 1 });
    await page.goto('about:blank');
    await page.goto(service.url);
    await until(() => isAsked, 'it is asked who is signed in');
    await page.evaluate(() => {
      const isTold = new Promise<void>((resolve) => {
        new BroadcastChannel('readback session').onmessage = () => resolve();
      });
      Object.assign(globalThis, { isTold });
    });
    await meanwhile();
    await page.evaluate(() => (globalThis as unknown as { isTold: Promise<void> }).isTold);
    answer();
  };

  await loadDuring(async () => {
    await other.goto(service.url);
    await enter(other, carl.laptop);
  });
  await searchBox(page).waitFor();
  assert.equal(await shown(), 'laptop');

  await loadDuring(async () => {
    const { phone: token } = carl;
    const { body } = await service.call<{ url: string }>('POST', '/v1/codes', { purpose: 'session' }, { token });
    await other.evaluate((hash) => {
      location.hash = hash;
    }, new URL(body.url).hash);
  });
  await until(async () => (await shown()) === 'phone', 'the later one is shown');

  await t.test('an empty library offers demo pages, says that it has them, and is rid of them by a click', async () => {
    await page.getByRole('button', { name: 'Add demo pages' }).click();
    await page.getByText('This library contains demo pages.').waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.getByRole('button', { name: 'Remove demo pages' }).click();
    await page.getByText('Your library is empty').waitFor();
    const { body } = await service.call('GET', '/v1/blacklist', undefined, { token: carl.phone });
    assert.deepEqual(body, { entries: [] });
  });
});
