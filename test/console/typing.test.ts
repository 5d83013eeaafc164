/** What somebody sees who types and pauses: it stays, and words are completed until Enter, never replaced while something begins with them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { SearchResponse } from '../../src/domain/search.ts';
import { realEncoder, until } from '../process/service.ts';
import { accessibilityFaults, gateOf, results, searchBox, searchFor, skip, suggestionsIn, titles } from './browser.ts';
import { sharedConsole } from './shared-console.ts';

const texts: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/typed-texts.json'), 'utf8'),
);
const address = (title: string) =>
  `https://${/heron|egret/i.test(title) ? 'birds' : 'notes'}.example/${encodeURIComponent(title)}`;
const pages = Object.entries(texts).map(([title, body_extracted], at) => ({
  url: address(title),
  title,
  body_extracted,
  fetched_at: new Date(Date.UTC(2026, 0, 1 + at)).toISOString(),
}));

/** Others: test/app/operators.test.ts. */
const typed = [
  ...['minecraft', '"shallow river" heron', 'heron site:birds.example', 'heron -egret', 'leuchtturmwärter'],
  ...['東京の電車', 'how do herons fish'],
];

const shared = sharedConsole(pages, realEncoder);

/** Between the pause of a passing search, 60 ms, and that of the full one, 500. */
const betweenPausesMs = 200;
const settled = '.results[aria-busy="false"]:not(.results-stale)';

/** The titles of the next answer to a query, while it passes or in full. */
async function answerTo(page: Page, query: string, isPassing: boolean): Promise<(string | null)[]> {
  const response = await page.waitForResponse((each) => {
    if (!each.url().endsWith('/v1/search')) return false;
    const asked = each.request().postDataJSON();
    return asked.query === query && asked.chunks_per_page > 0 && (asked.log === false) === isPassing;
  });
  const { results: found }: SearchResponse = await response.json();
  return found.map(({ title }) => title);
}

/** One key and two pauses, which end sooner than by themselves: what is shown after the first, and after the second. */
async function press(page: Page, query: string, key: string): Promise<{ before: string[]; now: string[] }> {
  const [passing, full] = [answerTo(page, query, true), answerTo(page, query, false)];
  await page.keyboard.insertText(key);
  await page.clock.runFor(betweenPausesMs);
  const found = await passing;
  let before: string[] = [];
  await until(async () => {
    before = await titles(page);
    return before.every((title) => found.includes(title));
  }, 'what passes is shown');
  await page.clock.runFor(600);
  await full;
  await page.locator(settled).waitFor({ state: 'attached' });
  return { before, now: await titles(page) };
}

/** What is typed when somebody pauses four times, none after a space, by which alone nothing changes. */
const pausesIn = (whole: string): string[] =>
  [1, 2, 3, 4].map((part) => whole.slice(0, Math.ceil((whole.length * part) / 4)).trimEnd());

/** The focus goes to the first result that Enter finds: what is typed before it does would be lost. */
const isGoneTo = (page: Page) => page.locator('.result-title:focus').waitFor();

test('nothing that is shown while a query is typed goes away in a pause', { skip }, async () => {
  const { page } = await shared.signedIn({ keepsSuggestions: true, ownClock: true });
  await page.clock.install();
  for (const whole of typed) {
    await searchBox(page).fill('');
    await page.locator('.search-idle').waitFor();
    let shown = '';
    for (const query of pausesIn(whole)) {
      const { before, now } = await press(page, query, query.slice(shown.length));
      const gone = before.filter((title) => !now.includes(title));
      assert.deepEqual(gone, [], `${query}: gone after a pause`);
      shown = query;
    }
    assert.ok((await results(page).count()) > 0, `${whole} finds nothing`);
    const finished = answerTo(page, whole, false);
    await page.keyboard.press('Enter');
    await finished;
    await page.locator(settled).waitFor({ state: 'attached' });
    assert.ok((await results(page).count()) > 0, `${whole} finds nothing when it is finished`);
    await isGoneTo(page);
    assert.equal(await page.locator('.corrected').count(), 0, `${whole} is corrected`);
  }
});

test('a space asks for nothing, and Enter behind it finishes the query', { skip }, async () => {
  const { page } = await shared.signedIn({ ownClock: true });
  const asked: { query: string; prefix: boolean }[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/v1/search')) return;
    const { query, prefix, chunks_per_page } = request.postDataJSON();
    if (chunks_per_page > 0) asked.push({ query, prefix });
  });
  await page.clock.install();
  for (const [query, space, told] of [
    ['heron -heron', ' ', 'excluded by -heron.'],
    ['minecr', ' ', 'Showing results for minecraft.'],
    ['minecr', '\u3000', 'Showing results for minecraft.'],
  ] as const) {
    await searchBox(page).fill('');
    await page.locator('.search-idle').waitFor();
    const { now } = await press(page, query, query);
    assert.ok(now.length > 0, query);
    asked.length = 0;
    await page.keyboard.insertText(space);
    await page.clock.runFor(600);
    assert.deepEqual([asked, await titles(page)], [[], now], query);
    await page.keyboard.press('Enter');
    await page.getByText(told).waitFor();
    assert.deepEqual(asked, [{ query, prefix: false }]);
    if ((await results(page).count()) > 0) await isGoneTo(page);
    // What comes with its space is finished: after a pause too, it is never asked for as a prefix.
    await searchBox(page).fill('');
    asked.length = 0;
    await page.keyboard.insertText(query + space);
    await page.keyboard.press('Enter');
    await page.getByText(told).waitFor();
    await page.locator(settled).waitFor({ state: 'attached' });
    assert.deepEqual(
      asked.filter((each) => each.query !== query || each.prefix),
      [],
    );
    assert.ok(asked.length > 0, query);
    if ((await results(page).count()) > 0) await isGoneTo(page);
  }
});

test('suggestions lie over results, which stay, and are chosen by keys and by a click', { skip }, async () => {
  const { page } = await shared.signedIn({ keepsSuggestions: true });
  const box = searchBox(page);
  const optionOf = (name: string | RegExp) => suggestionsIn(page).getByRole('option', { name });
  const place = () => results(page).first().boundingBox();
  const activeOption = async () => {
    const id = await box.getAttribute('aria-activedescendant');
    return id === null ? null : page.locator(`#${id}[aria-selected="true"] bdi`).first().textContent();
  };
  const isInBox = () => box.evaluate((element) => element === document.activeElement);

  await box.pressSequentially('ottoman ar');
  await optionOf(/^Ottoman architecture Page · notes.example$/).waitFor();
  await page.locator(settled).waitFor();
  const before = await place();
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.equal(await activeOption(), null);
  await page.keyboard.press('ArrowDown');
  const first = await activeOption();
  await page.keyboard.press('ArrowUp');
  assert.equal(await activeOption(), null);
  await page.keyboard.press('ArrowUp');
  assert.notEqual(await activeOption(), null, 'up from the box is the last one');
  assert.deepEqual([typeof first, await isInBox(), await box.inputValue()], ['string', true, 'ottoman ar']);
  await page.keyboard.press('ArrowDown');
  await until(async () => !(await isInBox()), 'down from the last one are the results');
  assert.equal(await suggestionsIn(page).count(), 0);
  assert.deepEqual(await place(), before);

  await box.press('End');
  await page.keyboard.type('ch');
  await optionOf(/Page/).waitFor();
  await page.keyboard.press('Escape');
  assert.deepEqual([await suggestionsIn(page).count(), await box.inputValue()], [0, 'ottoman arch']);
  await page.keyboard.press('Escape');
  assert.equal(await box.inputValue(), '');

  await box.pressSequentially('московское м');
  await optionOf(/^Московское метро/).waitFor();
  while ((await activeOption()) !== 'Московское метро') await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/page\/pg_/);
  await page.goBack();

  await box.fill('');
  await box.pressSequentially('birds.e');
  await optionOf(/^birds\.example Site · 2 pages$/).click();
  await page.getByRole('button', { name: /^Remove filter Site/ }).waitFor();
  await until(async () => (await results(page).count()) === 2, 'the pages of the site');
  assert.deepEqual([await box.inputValue(), await suggestionsIn(page).count()], ['', 0]);

  await searchFor(page, 'grey herons', async () => {
    await box.fill('grey herons');
    await page.keyboard.press('Enter');
  });
  await shared.service.call('GET', '/v1/admin/query-log?limit=1'); // stored by then
  await box.fill('');
  await box.pressSequentially('grey he');
  await optionOf(/^grey herons Earlier search$/).click();
  await until(async () => (await box.inputValue()) === 'grey herons', 'it is searched for');
});

test('the list stays until the next one is there, and does not change under a choice', { skip }, async () => {
  const { page } = await shared.signedIn({ keepsSuggestions: true });
  const gates = new Map([gateOf(), gateOf()].map((gate, at) => [['ottom', 'ottomans'][at], gate]));
  await page.route('**/v1/search/suggest?**', async (route) => {
    const query = new URL(route.request().url()).searchParams.get('q') ?? '';
    await gates.get(query)?.opened;
    const suggestions = [{ kind: 'query', text: `after ${query}`, id: null, domain: null, page_count: null }];
    await route.fulfill({ json: { suggestions } });
  });
  const shown = () => suggestionsIn(page).getByRole('option').allTextContents();
  const shows = (query: string) =>
    until(async () => (await shown()).join() === `after ${query} Earlier search`, `what is suggested after ${query}`);
  const asks = (query: string) => page.waitForRequest((request) => request.url().endsWith(`suggest?q=${query}`));
  await searchBox(page).pressSequentially('otto');
  await shows('otto');
  const list = await suggestionsIn(page).elementHandle();
  await Promise.all([asks('ottom'), page.keyboard.type('m')]);
  await shows('otto');
  const dropped = page.waitForEvent('requestfailed', (request) => request.url().endsWith('q=ottom'));
  await page.keyboard.type('an');
  await Promise.all([dropped, shows('ottoman')]);
  await Promise.all([asks('ottomans'), page.keyboard.type('s')]);
  await page.keyboard.press('ArrowDown');
  const answered = page.waitForResponse((response) => response.url().endsWith('q=ottomans'));
  gates.get('ottomans')?.open();
  await (await answered).finished();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve(undefined))));
  await shows('ottoman');
  assert.equal(await list?.evaluate((element) => element.isConnected), true, 'it was never away');
  gates.get('ottom')?.open();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});
