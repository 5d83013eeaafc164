/** The map: by mouse, by keys alone, and by fingers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import { until } from '../process/service.ts';
import { accessibilityFaults, gateOf, seen, skip } from './browser.ts';
import { plainPages } from './library.ts';
import { sharedConsole } from './shared-console.ts';

/** With the others more than are listed at once. */
const moths = Array.from({ length: 50 }, (_, at) => ({
  url: `https://moths.example/${at}`,
  title: `Moth ${at + 1}`,
  body_extracted: `Moths come to light at night. The trap in the orchard caught moth number ${at + 1}.`,
  fetched_at: '2026-02-01T12:00:00Z',
}));
const all = plainPages.length + moths.length;

const shared = sharedConsole([...plainPages, ...moths]);

const canvas = (page: Page) => page.locator('.map-frame canvas');
/** How many pages the map shows, as it says when it has come to rest. */
async function inView(page: Page): Promise<number> {
  const text = await page.locator('#in-view').textContent();
  return Number(/\d+/.exec(text ?? '')?.[0]);
}
/** The map says what it shows when it has stood still for less than so long, ms. */
const stillMs = 1000;
/** After this the map has come to rest: of a page's timers those that are due first fire first, on any machine. */
const atRest = (page: Page) =>
  page.evaluate(
    (ms) => new Promise<void>((rests) => setTimeout(() => requestAnimationFrame(() => setTimeout(rests)), ms)),
    stillMs,
  );
/** Draws a lasso around all of the map. */
async function lassoAll(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Lasso' }).click();
  const box = (await canvas(page).boundingBox()) ?? assert.fail('the map has no box');
  const corners = [
    [4, 4],
    [box.width - 4, 4],
    [box.width - 4, box.height - 4],
    [4, box.height - 4],
    [4, 8],
  ];
  await page.mouse.move(box.x + 4, box.y + 4);
  await page.mouse.down();
  for (const [x, y] of corners) await page.mouse.move(box.x + x, box.y + y, { steps: 4 });
  await page.mouse.up();
}
const litUp = (page: Page) => page.getByRole('button', { name: /highlighted/ });
const listed = (page: Page) =>
  page
    .locator('section', { has: page.locator('#in-view') })
    .getByRole('link')
    .allTextContents();

test('the map lights up what a search finds and what is within a lasso', { skip }, async () => {
  const { page, show } = await shared.signedIn();
  await show('#/map');
  await page.locator('.map-frame canvas').waitFor();
  await page.getByLabel('Highlight search results').fill('sourdough');
  await page.keyboard.press('Enter');
  await page.locator('.map-side').getByText('Bread from a starter').waitFor();
  await litUp(page).click();
  await lassoAll(page);
  const lit = await litUp(page).textContent();
  assert.ok(Number(/\d+/.exec(lit ?? '')?.[0]) >= all, String(lit));
  const tags = page.getByRole('combobox', { name: /^Tag \d+ pages$/ });
  await tags.fill('on the map');
  const areTagged = seen(page, 'pages changed');
  await tags.press('Enter');
  await areTagged;
  await page.locator('.map-side').getByRole('link').first().click();
  await page.waitForURL(/#\/page\//);
  await page.goBack();
  await until(async () => (await litUp(page).textContent()) === lit, 'what was lit is lit again');
  await page.getByLabel('Highlight search results').fill('sourdough');
  await page.keyboard.press('Enter');
  await until(async () => (await litUp(page).textContent()) !== lit, 'what the search finds');
  await page.goBack();
  await until(async () => (await litUp(page).textContent()) === lit, 'what was lit before the search');
});

test('a search is shown on the map, by an address of its own', { skip }, async () => {
  const { page, show } = await shared.signedIn();
  await show('#/search?q=sourdough');
  await page.getByRole('link', { name: 'On the map' }).click();
  await page.waitForURL(/#\/map\?q=sourdough/);
  await page.locator('.map-side').getByText('Bread from a starter').waitFor();
  assert.equal(await page.getByLabel('Highlight search results').inputValue(), 'sourdough');
  await litUp(page).click();
  await page.waitForURL(/#\/map$/);
  await page.goBack();
  await page.locator('.map-side').getByText('Bread from a starter').waitFor();
});

test('arrows move the map, plus and minus zoom, 0 shows all, Tab leads to the pages in view', { skip }, async () => {
  const { page, show } = await shared.signedIn();
  await show('#/map');
  await until(async () => (await inView(page)) === all, 'all pages are in view');
  await canvas(page).focus();
  for (let n = 0; n < 4; n++) await page.keyboard.press('+');
  await until(async () => (await inView(page)) < all, 'fewer are in view, nearer');
  await page.keyboard.press('0');
  await until(async () => (await inView(page)) === all, '0 shows all again');
  for (let n = 0; n < 3; n++) await page.keyboard.press('-');
  for (const [away, back] of [
    ['ArrowLeft', 'ArrowRight'],
    ['ArrowUp', 'ArrowDown'],
  ]) {
    const presses = 30;
    for (let n = 0; n < presses; n++) await page.keyboard.press(away);
    await until(async () => (await inView(page)) === 0, `${away} leads away from all pages`);
    for (let n = 0; n < presses; n++) await page.keyboard.press(back);
    await until(async () => (await inView(page)) === all, `${back} leads back`);
  }
  await atRest(page); // which are nearest changes until then
  await until(async () => (await listed(page)).length === 12, 'the nearest to the middle are listed');
  let first = '';
  const isFirst = async () => {
    await canvas(page).focus();
    await page.keyboard.press('Tab');
    [first] = await listed(page);
    return (await page.evaluate(() => document.activeElement?.textContent)) === first;
  };
  await until(isFirst, 'Tab leads to the first of them');
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: first, level: 1 }).waitFor();
});

type Finger = readonly [number, number];
async function touch(session: CDPSession, path: readonly (readonly Finger[])[]): Promise<void> {
  const points = (fingers: readonly Finger[]) => fingers.map(([x, y], id) => ({ x, y, id }));
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: points(path[0]) });
  for (const fingers of path.slice(1)) {
    await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: points(fingers) });
  }
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}
const steps = 8;
/** Fingers from where they are to where they go, in equal steps. */
const pathOf = (from: readonly Finger[], to: readonly Finger[]) =>
  Array.from({ length: steps + 1 }, (_, step) =>
    from.map(
      ([x, y], finger): Finger => [x + ((to[finger][0] - x) * step) / steps, y + ((to[finger][1] - y) * step) / steps],
    ),
  );

test('one finger moves the map, two zoom it, and the page stays', { skip }, async () => {
  const { page, show } = await shared.signedIn({
    hasTouch: true,
    isMobile: true,
    viewport: { width: 360, height: 740 },
  });
  const session = await page.context().newCDPSession(page);
  await show('#/map');
  await until(async () => (await inView(page)) === all, 'all pages are in view');
  const box = (await canvas(page).boundingBox()) ?? assert.fail('the map has no box');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const pinch = (from: number, to: number) =>
    touch(
      session,
      pathOf(
        [
          [x - from, y],
          [x + from, y],
        ],
        [
          [x - to, y],
          [x + to, y],
        ],
      ),
    );
  const scrolled = () => page.evaluate(() => scrollY);
  const before = await scrolled();
  await pinch(20, 140);
  await until(async () => (await inView(page)) < all, 'fingers that part show less, nearer');
  await pinch(140, 10);
  await until(async () => (await inView(page)) === all, 'fingers that meet show more again');
  // Once across the map, again and again: the pages go out of it with the finger.
  for (let n = 0; n < 3; n++) await touch(session, pathOf([[box.x + 20, y]], [[box.x + box.width - 20, y]]));
  await until(async () => (await inView(page)) === 0, 'the pages went with the finger');
  assert.equal(await scrolled(), before, 'the page itself stays where it is');
  await page.getByRole('button', { name: 'Whole map' }).click();
  await until(async () => (await inView(page)) === all, 'all are back');
});

const failing = /status of 500|net::ERR/;
const side = (page: Page) => page.locator('.map-side');

test('what is chosen on the map ends a search, also one whose answer comes late', { skip }, async () => {
  const { page, show } = await shared.signedIn();
  await show('#/map?q=sourdough');
  await side(page).getByText('Bread from a starter').waitFor();
  const gate = gateOf();
  await page.route('**/v1/search', async (route) => {
    await gate.opened;
    await route.continue().catch(() => undefined); // nobody waits for it by then
  });
  await page.getByLabel('Highlight search results').fill('governor');
  await page.keyboard.press('Enter');
  await side(page).getByText('Searching…').waitFor();
  assert.equal(await litUp(page).count(), 0, 'nothing of the search before is lit');
  assert.equal(await side(page).getByText('Bread from a starter').count(), 0);
  await lassoAll(page);
  await until(async () => (await litUp(page).textContent()) === `${all} pages highlighted`, 'what the lasso is around');
  gate.open();
  assert.equal(await page.getByLabel('Highlight search results').inputValue(), '', 'no search is in the box');
  assert.match(page.url(), /#\/map$/);
  await page.unroute('**/v1/search');
  await until(async () => (await side(page).getByRole('link').count()) === 60, 'the first of them are listed');
  await side(page)
    .getByRole('button', { name: `More of ${all}` })
    .click();
  await until(async () => (await side(page).getByRole('link').count()) === all, 'all of them are listed');
  await page.goBack();
  await until(async () => (await litUp(page).textContent()) !== `${all} pages highlighted`, 'the search before');
  assert.equal(await page.getByLabel('Highlight search results').inputValue(), 'governor');
});

test('a search on the map that fails is told of, and tried again; so are the colours', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: failing });
  let fails = true;
  for (const path of ['**/v1/search', '**/v1/pages?*']) {
    await page.route(path, (route) =>
      fails ? route.fulfill({ status: 500, json: { detail: 'boom' } }) : route.continue(),
    );
  }
  await show('#/map?q=sourdough');
  const fault = page.locator('.bar', { hasText: 'boom' });
  await fault.waitFor();
  assert.equal(await litUp(page).count(), 0);
  await page.getByRole('button', { name: 'Site', exact: true }).click();
  await until(async () => (await fault.count()) === 2, 'the colours, too');
  fails = false;
  await fault.getByRole('button', { name: 'Try again' }).first().click();
  await side(page).getByText('Bread from a starter').waitFor();
  await litUp(page).click();
  await page.getByRole('button', { name: 'Site', exact: true }).click();
  await side(page).getByRole('heading', { name: 'Sites' }).waitFor();
  assert.equal(await fault.count(), 0);
  await side(page)
    .getByRole('button', { name: /herons\.example/ })
    .press('Enter');
  await until(async () => (await litUp(page).textContent()) === '24 pages highlighted', 'the pages of the site');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-labelledby')), 'lit');
  await page.getByRole('button', { name: 'Time', exact: true }).click();
  const legend = page.locator('.toolbar .legend');
  await until(async () => /\d[\s\S]*\d/.test(await legend.innerText()), 'the first and the last day');
  assert.deepEqual(await accessibilityFaults(page), []);
});

test('Escape ends a lasso; only the main button chooses; a returning service changes nothing', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: failing });
  await show('#/map');
  await until(async () => (await inView(page)) === all, 'all pages are in view');
  await page.getByRole('button', { name: 'Lasso' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Lasso', pressed: false }).waitFor();
  const box = (await canvas(page).boundingBox()) ?? assert.fail('the map has no box');
  for (let x = 20; x < box.width; x += 40)
    await canvas(page).click({ button: 'right', position: { x, y: box.height / 2 } });
  assert.equal(await litUp(page).count(), 0);
  await canvas(page).focus();
  for (let n = 0; n < 4; n++) await page.keyboard.press('+');
  await atRest(page);
  const seen = await inView(page);
  assert.ok(seen < all, 'fewer are in view, nearer');
  await lassoAll(page);
  const lit = await litUp(page).textContent();
  let isAway = true;
  await page.route('**/v1/search', (route) => (isAway ? route.abort() : route.continue()));
  await page.evaluate(() => fetch('/v1/search').catch(() => undefined));
  await page.getByRole('button', { name: 'Time', exact: true }).click();
  await page.route('**/v1/pages?*', (route) => (isAway ? route.abort() : route.continue()));
  await page.getByRole('button', { name: 'Site', exact: true }).click();
  isAway = false;
  assert.equal(await litUp(page).textContent(), lit);
  await litUp(page).press('Enter');
  await until(async () => (await inView(page)) === seen, 'the map is as near as before');
});

test('the map follows the system from light to dark, and lists what comes if something fails', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: failing });
  let failed = '';
  await page.route(/\/v1\/pages\/pg_\w+\?/, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (failed === '') failed = pathname;
    if (failed === pathname) await route.fulfill({ status: 500, json: { detail: 'boom' } });
    else await route.continue();
  });
  await show('#/map');
  await page.locator('.bar', { hasText: 'boom' }).waitFor();
  await until(async () => (await listed(page)).length === 11, 'the others in view');
  const looks = async () => (await canvas(page).screenshot()).toString('base64');
  let [last, light] = ['', ''];
  await atRest(page);
  await until(async () => {
    [last, light] = [light, await looks()];
    return last === light;
  }, 'the map has come to rest');
  await page.emulateMedia({ colorScheme: 'dark' });
  await until(async () => (await looks()) !== light, 'it is drawn in other colours');
});

test('a drawing that the browser takes away is made again when it gives it back', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: /CONTEXT_LOST|context/i });
  await show('#/map');
  await until(async () => (await inView(page)) === all, 'all pages are in view');
  const looks = async () => (await canvas(page).screenshot()).toString('base64');
  let [last, before] = ['', ''];
  const isStill = async () => {
    [last, before] = [before, await looks()];
    return last === before;
  };
  await atRest(page);
  await until(isStill, 'the map has come to rest');
  await page.evaluate(() => {
    const gl = document.querySelector<HTMLCanvasElement>('.map-frame canvas')?.getContext('webgl2');
    const extension = gl?.getExtension('WEBGL_lose_context');
    Object.assign(globalThis, { extension });
    extension?.loseContext();
  });
  const told = page.getByText('The map needs WebGL 2');
  await told.waitFor();
  assert.notEqual(await looks(), before);
  await page.evaluate('extension.restoreContext()');
  await told.waitFor({ state: 'detached' });
  await until(async () => (await looks()) === before, 'it looks as before');
});
