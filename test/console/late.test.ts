/** Answers that come late, out of order or not at all: what is shown is of what is asked for, or says that it is not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import type { SearchResponse } from '../../src/domain/search.ts';
import { realEncoder, until } from '../process/service.ts';
import {
  endSessions,
  gateOf,
  leave,
  results,
  searchBox,
  searchFor,
  seen,
  skip,
  stopUndoTime,
  titles,
  token,
} from './browser.ts';
import { type Handed, plainPages } from './library.ts';
import { sharedConsole } from './shared-console.ts';

/** So many that a search ends before all of them are listed. */
const gulls = Array.from(
  { length: 101 },
  (_, at): Handed => ({
    url: `https://gulls.example/${at}`,
    title: `Gull ${at + 1}`,
    body_extracted: `Gulls follow ships for what is thrown from them. This one, number ${at + 1}, took a sandwich.`,
    fetched_at: new Date(Date.now() - (at + 1) * 36e5).toISOString(),
  }),
);
const old: Handed = {
  url: 'https://old.example/almanac',
  title: 'An old almanac',
  body_extracted: 'The almanac of tides and moons for sailors of the last century.',
  fetched_at: '2021-03-01T12:00:00Z',
};

const shared = sharedConsole([...plainPages, old, ...gulls], realEncoder);

const failing = /status of 500|status of 503|net::ERR/;
const rest = (page: Page) => page.locator('.results[aria-busy="false"]').waitFor();
const boom = (route: Route) => route.fulfill({ status: 500, json: { detail: 'boom' } });

test('Enter goes to results of what is in the box, however late they come', { skip }, async () => {
  const { page } = await shared.signedIn();
  const tabs = page.context().pages().length;
  await searchFor(page, 'sourdough');
  const gate = gateOf();
  await page.route('**/v1/search', async (route) => {
    if (route.request().postDataJSON().query === 'governor') await gate.opened;
    await route.continue();
  });
  await searchBox(page).fill('governor');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'q', 'it is in the box');
  gate.open();
  await until(
    () => page.evaluate(() => document.activeElement?.textContent === 'The centrifugal governor'),
    'the first of them has the focus',
  );
  assert.equal(page.context().pages().length, tabs, 'none of the search before was opened');
});

test('Enter waits for the results that stay: what passes while typing is in another order', { skip }, async () => {
  const { page } = await shared.signedIn();
  const gate = gateOf();
  await page.route('**/v1/search', async (route) => {
    if (route.request().postDataJSON().log === undefined) await gate.opened;
    await route.continue();
  });
  await searchBox(page).fill('gull ship');
  await until(async () => (await results(page).count()) === 5, 'what passes');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'q', 'it is in the box');
  gate.open();
  await until(
    () => page.evaluate(() => document.activeElement === document.querySelector('[data-result] .result-title')),
    'the first of those that stay has the focus',
  );
  assert.equal(await results(page).count(), 10);
});

test('what passes is gone to where the search in full fails', { skip }, async () => {
  const { page } = await shared.signedIn({ allowed: failing });
  const sites = page.locator('.filters .facet', { hasText: 'Sites' });
  await searchFor(page, 'governor');
  await sites.waitFor();
  const gate = gateOf();
  await page.route('**/v1/search', async (route) => {
    if (route.request().postDataJSON().log === undefined) return boom(route);
    await gate.opened;
    await route.continue();
  });
  const failure = page.locator('.results .bar', { hasText: 'boom' });
  await searchBox(page).fill('gull ship');
  await failure.waitFor();
  gate.open();
  await until(async () => (await results(page).count()) === 5, 'what passes');
  await failure.waitFor(); // it is still told of
  assert.equal(await sites.count(), 0, 'no counts are to come, and none of the search before are shown');
  assert.equal(await page.locator('.filters').getAttribute('aria-busy'), 'false');
  await searchBox(page).press('ArrowDown');
  assert.equal(await page.evaluate(() => document.activeElement?.className), 'result-title');
});

test('results that are asked for anew and refused stay, with their counts', { skip }, async () => {
  const { page } = await shared.signedIn({ allowed: failing });
  const sites = page.locator('.filters .facet', { hasText: 'Sites' });
  await searchFor(page, 'governor');
  await sites.waitFor();
  await page.route('**/v1/search', boom);
  // As another tab says that something was forgotten.
  await page.evaluate(() => new BroadcastChannel('readback results').postMessage(null));
  await page.locator('.results .bar', { hasText: 'boom' }).waitFor();
  assert.equal((await results(page).count()) > 0, true);
  assert.equal(await sites.count(), 1);
  assert.equal(await page.locator('.filters').getAttribute('aria-busy'), 'false');
});

test('what was shown is not folded later, nor what was asked for', { skip }, async () => {
  const { page, show } = await shared.signedIn();
  const good: Record<string, number[]> = {
    'gull sandwiches': [0, 2],
    'heron sighting': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  };
  const relevances = new Map<string, number>();
  const forgotten = new Set<string>();
  await page.route('**/v1/search', async (route) => {
    const { query } = route.request().postDataJSON();
    const response = await route.fetch();
    const answer: SearchResponse = await response.json();
    const relevanceOf = (page_id: string, at: number) => {
      const key = `${query} ${page_id}`;
      const relevance = relevances.get(key) ?? (good[query].includes(at) ? 0.9 : 0.01);
      relevances.set(key, relevance);
      return relevance;
    };
    const left = answer.results.filter(({ page_id }) => !forgotten.has(page_id));
    const results = left.map((each, at) => ({ ...each, relevance: relevanceOf(each.page_id, answer.offset + at) }));
    await route.fulfill({ response, json: { ...answer, results } });
  });
  await show('#/search?q=gull+sandwiches');
  const less = page.getByRole('button', { name: /Less relevant/ });
  await less.waitFor();
  const ids = () => results(page).evaluateAll((all) => all.map((each) => (each as HTMLElement).dataset.result ?? ''));
  const [first, second, third, ...others] = await ids();
  assert.deepEqual(others, []);
  await page.route('**/v1/forget', (route) => {
    forgotten.add(third);
    return route.fulfill({ json: {} });
  });
  const passTime = await stopUndoTime(page);
  await results(page).nth(2).getByRole('link', { name: 'Stored text' }).click();
  await page.getByRole('button', { name: 'Delete page' }).click();
  await less.waitFor();
  assert.deepEqual(await ids(), [first, second], 'the last good one is deleted');
  const answered = page.waitForResponse('**/v1/search');
  await passTime();
  await answered;
  await rest(page);
  assert.deepEqual(await ids(), [first, second], 'the search was answered again');
  await show('#/search?q=heron+sighting');
  await page.getByRole('button', { name: 'More results' }).click();
  await until(async () => (await results(page).count()) === 20, 'weak ones, too');
  await results(page).nth(10).locator('.result-title:focus').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
});

test('of several thumbs on one page the last that was taken is shown', { skip }, async () => {
  const { page } = await shared.signedIn({ allowed: failing });
  await searchFor(page, 'sourdough');
  const thumb = (name: string) => results(page).first().getByRole('button', { name });
  const gate = gateOf();
  let n = 0;
  await page.route('**/v1/feedback', async (route) => {
    const isFirst = n++ === 0;
    await gate.opened;
    await (isFirst ? boom(route) : route.continue());
  });
  for (const name of ['Good result', 'Bad result', 'Good result']) await thumb(name).click();
  gate.open();
  await page.getByText('boom').waitFor();
  await until(async () => n === 3, 'all were sent');
  assert.equal(await thumb('Good result').getAttribute('aria-pressed'), 'true');
});

test('a search that found nothing is asked again by Enter, and any is by being typed again', { skip }, async () => {
  const { page } = await shared.signedIn();
  await searchFor(page, 'quagga');
  await page.getByText('No results for').waitFor();
  await shared.service.add({
    url: 'https://quaggas.example/',
    title: 'The quagga',
    body_extracted: 'A quagga is striped in front alone.',
  });
  await searchBox(page).press('Enter');
  await until(async () => (await titles(page))[0] === 'The quagga', 'what is there by now');
  await until(() => page.evaluate(() => document.activeElement?.className === 'result-title'), 'and has the focus');
  await searchFor(page, 'quagga', async () => {
    await searchBox(page).fill('');
    await searchBox(page).fill('quagga');
  });
});

test('what is forgotten in one tab is gone in another, also from what is kept there', { skip }, async () => {
  const { page, show } = await shared.signedIn();
  await shared.service.add({
    url: 'https://pangolins.example/',
    title: 'The pangolin',
    body_extracted: 'A pangolin rolls up into a ball of scales.',
  });
  await searchFor(page, 'pangolin');
  const other = await page.context().newPage();
  await other.goto(`${shared.service.url}/#/search?q=pangolin`);
  await show('#/sources');
  await results(other).first().getByRole('link', { name: 'Stored text' }).click();
  await other.getByRole('button', { name: 'Delete page' }).press('Enter');
  const isDeleted = seen(other, 'Deleted');
  await leave(other);
  await isDeleted;
  await page.goBack();
  await page.getByText('No results for').waitFor();
});

test('what is typed while a session ends goes on into the box', { skip }, async () => {
  const { page } = await shared.signedIn({ allowed: /401/, ownClock: true });
  await searchFor(page, 'bread');
  await endSessions(shared.service);
  // Time passes as the page is told: however slow the machine is, no key is later than the dialog waits for.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  let isRefused = false;
  page.on('response', (response) => {
    isRefused ||= response.status() === 401;
  });
  await searchBox(page).fill('');
  await until(async () => {
    await page.clock.runFor(20);
    return isRefused;
  }, 'the session has ended');
  const over = page.getByRole('dialog', { name: 'Your session has ended' });
  for (const key of 'heron sighting') {
    await page.keyboard.type(key);
    await page.clock.runFor(100);
    assert.equal(await over.count(), 0, `it waits while one types: ${key}`);
  }
  assert.equal(await searchBox(page).inputValue(), 'heron sighting');
  await page.clock.resume();
  await over.waitFor();
  assert.equal(await searchBox(page).inputValue(), 'heron sighting');
  await over.getByLabel('Access token').fill(token);
  await over.getByRole('button', { name: 'Sign in' }).click();
  await until(async () => (await titles(page))[0]?.startsWith('Heron'), 'what was typed is found');
});

test('an address finds what was found as it was typed', { skip }, async () => {
  const { page } = await shared.signedIn();
  const asked: { prefix?: boolean; log?: boolean }[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/v1/search')) asked.push(request.postDataJSON());
  });
  await searchFor(page, 'alman');
  await until(async () => asked.some(({ log }) => log === undefined), 'the full search');
  await rest(page);
  assert.ok(
    asked.every(({ prefix }) => prefix === true),
    'no word is finished before Enter',
  );
  const shown = await titles(page);
  await page.waitForURL(/q=alman$/);
  await page.reload();
  await until(async () => (await titles(page))[0] === shown[0], 'the same page');
});

test('Similar pages of one way are never those of another', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: failing });
  await page.route('**/similar?*entity*', boom);
  await show(`#/page/${shared.ids[0]}`);
  const similar = page.locator('.similar');
  await similar.locator('li').first().waitFor();
  await similar.getByRole('button', { name: 'Names' }).press('Enter');
  await similar.getByText('boom').waitFor();
  assert.equal(await similar.locator('li').count(), 0);
  await similar.getByRole('button', { name: 'Meaning' }).click();
  await similar.locator('li').first().waitFor();
});

test('Time shows only what is of the chosen site, and says which that is', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: failing });
  await show('#/time');
  await page.locator('.page-row').first().waitFor();
  const calendar = page.getByRole('region', { name: 'Calendar' });
  const gate = gateOf();
  let fails = false;
  await page.route('**/v1/pages?*domain*', async (route) => {
    if (fails) return boom(route);
    await gate.opened;
    await route.continue();
  });
  await page
    .locator('.time-side')
    .getByRole('link', { name: /gulls\.example/ })
    .click();
  await page.waitForURL(/site=gulls/);
  await until(async () => (await calendar.getAttribute('aria-busy')) === 'true', 'it says that it loads');
  assert.equal(await page.locator('.page-row').count(), 0, 'nothing of other sites');
  gate.open();
  await page.locator('.page-row').first().waitFor();
  const chip = page.getByRole('button', { name: 'Remove filter Site: gulls.example' });
  await chip.waitFor();
  const found = page.waitForURL(/#\/search\?/);
  await page.getByRole('link', { name: 'Search within' }).click();
  await found;
  assert.match(page.url(), /site=gulls\.example/);
  assert.match(page.url(), /from=\d{4}-\d\d-\d\d/, 'within the year that is shown');
  fails = true;
  await show('#/time?site=kitchen.example');
  await page.locator('.bar', { hasText: 'boom' }).waitFor();
  assert.equal(await page.locator('.page-row').count(), 0, 'nothing of other sites');
  assert.equal(await page.getByText('Nothing').count(), 0, 'nor that there is nothing');
  fails = false;
  await show('#/time?site=old.example');
  await page.getByRole('heading', { name: /^No pages of .old\.example. read in the last year$/ }).waitFor();
  await page.getByRole('button', { name: 'Remove filter Site: old.example' }).click();
  await page.locator('.page-row').first().waitFor();
});

test('of two thumbs the last one counts, and a double click is one', { skip }, async () => {
  const { page } = await shared.signedIn({ allowed: failing });
  await searchFor(page, 'sourdough');
  const gate = gateOf();
  const sent: boolean[] = [];
  await page.route('**/v1/feedback', async (route) => {
    sent.push(route.request().postDataJSON().relevant);
    if (sent.length === 1) await gate.opened;
    await route.continue();
  });
  const thumb = (name: string) => results(page).first().getByRole('button', { name });
  await thumb('Good result').dblclick();
  await thumb('Good result').and(page.locator('[aria-pressed="true"]')).waitFor();
  await thumb('Bad result').click();
  await thumb('Bad result').and(page.locator('[aria-pressed="true"]')).waitFor();
  await searchFor(page, 'gull');
  const other = page.waitForResponse('**/v1/feedback');
  await results(page).nth(1).getByRole('button', { name: 'Good result' }).click();
  await other;
  assert.deepEqual(sent, [true, true], 'one page does not wait for another');
  gate.open();
  await until(async () => sent.length === 3, 'the last thumb of the first page');
  assert.equal(sent[2], false);
  await page.unroute('**/v1/feedback');
  await page.route('**/v1/feedback', boom);
  await results(page).nth(2).getByRole('button', { name: 'Good result' }).click();
  await page.getByText('boom').waitFor();
  assert.equal(
    await results(page).nth(2).getByRole('button', { name: 'Good result' }).getAttribute('aria-pressed'),
    'false',
    'it was not taken',
  );
});

test('facets are of the results beside them, and go with a search that fails', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: failing });
  await searchFor(page, 'gull');
  const panel = page.locator('#filters');
  const site = (name: string) => panel.locator('.facet-row', { hasText: name });
  await site('gulls.example').waitFor();
  const gate = gateOf();
  await page.route('**/v1/search', async (route) => {
    if (route.request().postDataJSON().k === 100) await gate.opened;
    await route.continue();
  });
  await show('#/search?q=heron');
  await until(async () => (await titles(page))[0]?.startsWith('Heron'), 'the results');
  await until(async () => (await panel.getAttribute('aria-busy')) === 'true', 'the counts are known to be old');
  await site('gulls.example').locator('.numbers').waitFor({ state: 'hidden' });
  gate.open();
  await site('herons.example').locator('.numbers').waitFor();
  assert.equal(await site('gulls.example').count(), 0);
  await page.unroute('**/v1/search');
  await page.route('**/v1/search', boom);
  await show('#/search?q=bread');
  await page.locator('.results .bar', { hasText: 'boom' }).waitFor();
  assert.equal(await panel.locator('.facet-row').count(), 0);
});

test('results and where one is in them outlast a service that is away, and a session that ends', { skip }, async () => {
  const { page } = await shared.signedIn({ allowed: /net::ERR|401/ });
  await searchFor(page, 'gull');
  await page.getByRole('button', { name: 'More results' }).click();
  await until(async () => (await results(page).count()) === 20, 'twenty results');
  await rest(page);
  assert.equal(
    await page.evaluate(() => document.activeElement?.closest('[data-result]')?.getAttribute('data-result')),
    await results(page).nth(10).getAttribute('data-result'),
    'the first new one has the focus',
  );
  const judged = page.waitForResponse('**/v1/feedback');
  await results(page).nth(15).getByRole('button', { name: 'Good result' }).click();
  await judged;
  const top = await page.evaluate(() => scrollY);
  let isAway = true;
  await page.route('**/similar?*', (route) => (isAway ? route.abort() : route.continue()));
  await results(page).nth(15).getByRole('button', { name: 'Related' }).click();
  await page.locator('.main .bar-warn').waitFor();
  isAway = false;
  await page.locator('.main .bar-warn').waitFor({ state: 'detached' });
  await results(page).nth(15).locator('.similar li').first().waitFor();
  assert.equal(await results(page).count(), 20);
  assert.ok(Math.abs((await page.evaluate(() => scrollY)) - top) < 100);
  const pressed = results(page).nth(15).getByRole('button', { name: 'Good result' });
  assert.equal(await pressed.getAttribute('aria-pressed'), 'true');
  await endSessions(shared.service);
  await results(page).nth(14).getByRole('button', { name: 'Related' }).click();
  const over = page.getByRole('dialog', { name: 'Your session has ended' });
  await over.getByLabel('Access token').fill(token);
  await over.getByRole('button', { name: 'Sign in' }).click();
  await over.waitFor({ state: 'detached' });
  await results(page).nth(14).locator('.similar li').first().waitFor();
  assert.equal(await results(page).count(), 20);
  assert.equal(await pressed.getAttribute('aria-pressed'), 'true');
});

test('a search that finds more than a hundred pages says where they end', { skip }, async () => {
  const { page } = await shared.signedIn();
  await searchFor(page, 'gull sandwich');
  await page.keyboard.press('Enter');
  await page.getByText(/^101 pages in/).waitFor();
  const more = page.getByRole('button', { name: 'More results' });
  const end = page.getByText(/^These are the best 1\d\d\./);
  while ((await end.count()) === 0) {
    const shown = await results(page).count();
    await more.click();
    await until(async () => (await results(page).count()) > shown, 'more of them');
    await rest(page);
  }
  assert.equal(await more.count(), 0);
});
