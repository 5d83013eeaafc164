/** What goes wrong, in every view: refusals, a full disk, a session that ends, a service that goes and comes back. Each is told in words, and nothing typed is lost. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import type { Locator, Page, Request, Route } from 'playwright-core';
import { freePort } from '../free-port.ts';
import { until, withEntities } from '../process/service.ts';
import { endSessions, leave, openPage, results, searchBox, searchFor, skip, titles, token } from './browser.ts';
import { plainPages } from './library.ts';
import { sharedConsole } from './shared-console.ts';

// At this port it comes back; one that the system hands out may be taken by then.
const port = String(await freePort());
const shared = sharedConsole(plainPages, { ...withEntities, SERVICE_BIND_PORT: port }, async (service) => {
  await service.call('POST', '/v1/watches', { url: 'https://feed.invalid/', title: 'A feed', enabled: false });
  // Nobody may fetch from this machine: a job that is dead at once.
  await service.call('POST', '/v1/pages', { url: 'http://127.0.0.1:9/' });
  await until(async () => {
    const { body } = await service.call<{ jobs: object[] }>('GET', '/v1/jobs?status=dead');
    return body.jobs.length > 0;
  }, 'a job is dead');
});

interface View {
  fragment: string;
  /** There when what the view shows is loaded. */
  ready: string;
  /** Where something is typed that must not be lost; the page then sends it by Enter. */
  field?: (page: Page) => Promise<Locator>;
}

const views = (): View[] => [
  { fragment: 'search', ready: '.recent' },
  { fragment: 'search?q=governor', ready: '[data-result]', field: async (page) => searchBox(page) },
  { fragment: 'ask?q=what+does+a+governor+keep', ready: '.turn .quotes, .turn .empty' },
  { fragment: 'time', ready: '.day-group' },
  { fragment: 'topics', ready: '.topic-card' },
  { fragment: 'map', ready: '.map-side li a', field: async (page) => page.getByLabel('Highlight search results') },
  { fragment: 'names', ready: '.name-tags .tag, .empty', field: async (page) => page.getByLabel('Find a name') },
  { fragment: 'sources', ready: '.rows .row', field: async (page) => page.getByLabel('One page, by its address') },
  { fragment: 'jobs', ready: '.job-row' },
  {
    fragment: 'models',
    ready: '.row',
    field: async (page) => {
      await page.getByRole('button', { name: 'Register a model' }).click();
      await page.getByLabel('Provider, as in the settings').fill('ollama');
      await page.getByLabel('Dimensions').fill('32');
      return page.getByLabel('Model', { exact: true });
    },
  },
  {
    fragment: 'system',
    ready: '.tile',
    field: async (page) => {
      await page.getByRole('button', { name: 'New token' }).press('Enter');
      return page.getByLabel('What for');
    },
  },
  { fragment: `page/${shared.ids[0]}`, ready: '.prose' },
];

/** Found by a search, and an address. */
const typed = 'https://engines.example/governor';
/**
 * Type into a view and send it. What is asked for from the first letter on waits until `change` is made, and then goes on as `goOn` says: some
 * views ask while somebody types, and for nothing more by Enter where the answer is there.
 */
async function typeInto(
  box: Locator,
  page: Page,
  { change, goOn }: { change: () => Promise<unknown>; goOn: (route: Route) => Promise<void> },
) {
  let made = () => {};
  const isMade = new Promise<void>((resolve) => {
    made = resolve;
  });
  await page.route('**/v1/**', async (route) => {
    await isMade;
    await goOn(route);
  });
  await box.fill(typed);
  await change();
  made();
  await page.keyboard.press('Enter');
}

test('503 and 507 are told in words', { skip }, async () => {
  const { page } = await shared.signedIn({ allowed: /503/ });
  await page.route('**/v1/search', (route) =>
    route.fulfill({ status: 503, headers: { 'retry-after': '7' }, json: { detail: 'no active embedding model' } }),
  );
  await searchBox(page).fill('anything');
  await page.getByText('no active embedding model. Try again in 7 s.').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await searchBox(page).press('Enter'); // nothing is typed anew: it is asked again all the same
  await page.getByText('no active embedding model').waitFor({ state: 'detached' });
  await page.locator('.results[aria-busy="false"]').waitFor();
});

test('what a view asks for is told of where it alone is refused, and asked for again', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: /503/ });
  /** What is asked for, but for the session, the stream of jobs, which goes on by itself, and the models that the frame looks at. */
  const askedIn = (url: string): string | null => {
    const { pathname, searchParams } = new URL(url);
    const isOther = !pathname.startsWith('/v1/') || /^\/v1\/(?:events|sessions|models)$/.test(pathname);
    return isOther ? null : `${pathname} ${searchParams.get('metric') ?? ''}`;
  };
  const told = page.locator('main').getByText('The service cannot do this now: not now.');
  const again = page.locator('main .bar-error').getByRole('button', { name: 'Try again' });
  for (const { fragment, ready } of views()) {
    const all = new Set<string>();
    const note = (request: Request) => {
      const asked = askedIn(request.url());
      if (asked !== null) all.add(asked);
    };
    // In a new document, so that nothing the view before still asks for is taken for this one's.
    await show('#/nowhere');
    await page.reload();
    await page.locator('main').getByText('Page not found').waitFor();
    page.on('request', note);
    await show(`#/${fragment}`);
    await page.locator(ready).first().waitFor();
    page.off('request', note);
    assert.ok(all.size > 0);
    for (const one of all) {
      await page.route('**/v1/**', (route) =>
        askedIn(route.request().url()) === one
          ? route.fulfill({ status: 503, json: { detail: 'not now' } })
          : route.continue(),
      );
      await show('#/nowhere');
      await show(`#/${fragment}`);
      await until(async () => (await told.count()) > 0, `${fragment} says that ${one} is refused`);
      await page.unrouteAll({ behavior: 'wait' });
    }
    await until(async () => {
      await again.evaluateAll((buttons) => {
        for (const button of buttons) (button as HTMLElement).click();
      });
      return (await told.count()) === 0;
    }, `${fragment} is told no more that it cannot`);
    await page.locator(ready).first().waitFor({ state: 'attached' });
  }
});

test('a view whose library is full says so where it was to write, and keeps what was typed', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: /507/ });
  await page.route('**/v1/**', (route) =>
    route.request().method() === 'GET' || /\/(?:search|score)$/.test(route.request().url())
      ? route.continue()
      : route.fulfill({ status: 507, json: { detail: 'storage quota reached' } }),
  );
  await page.route('**/v1/admin/entity-merges', (route) =>
    route.fulfill({
      json: {
        merges: [
          {
            merge_id: 'em_1',
            type: 'person',
            kept_form: 'Ada Lovelace',
            merged_form: 'Lovelace',
            merged_at: '2026-01-01T00:00:00Z',
            undone_at: null,
            made_by: 'user',
          },
        ],
      },
    }),
  );
  /** By a key: what comes late above a button moves it from under a click. */
  const press = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).first().press('Enter');
  const send = async (box: Locator) => {
    await box.fill(typed);
    await box.press('Enter');
    return box;
  };
  const writes: [string, () => Promise<Locator | undefined>][] = [
    ['search?q=governor', () => press('Good result').then(() => undefined)],
    ['topics', () => press('Refresh topics').then(() => undefined)],
    ['names', () => press('Split').then(() => undefined)],
    ['sources', () => send(page.getByLabel('One page, by its address'))],
    [
      'sources',
      async () => {
        await press('Add a feed');
        return send(page.getByLabel('Address', { exact: true }));
      },
    ],
    ['sources', () => press(/^Check .* now$/).then(() => undefined)],
    [
      'sources',
      async () => {
        const buffer = Buffer.from('https://full.example/');
        await page.getByLabel('Files to import').setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer });
        return undefined;
      },
    ],
    ['jobs', () => press('Try again').then(() => undefined)],
    ...views()
      .filter(({ fragment }) => fragment === 'models' || fragment === 'system')
      .map(({ fragment, field }): [string, () => Promise<Locator | undefined>] => [
        fragment,
        async () => (field === undefined ? undefined : send(await field(page))),
      ]),
    ['system', () => press('Pair an extension').then(() => undefined)],
    ['system', () => press('Back up now').then(() => undefined)],
    [
      `page/${shared.ids[0]}`,
      async () => {
        await press('Delete page');
        await page.waitForURL(/nowhere/);
        await leave(page);
        return undefined;
      },
    ],
  ];
  for (const [fragment, write] of writes) {
    await show('#/nowhere');
    await show(`#/${fragment}`);
    const field = await write();
    await page.getByText('The library is full: storage quota reached.').first().waitFor();
    if (field !== undefined) assert.equal(await field.inputValue(), typed, fragment);
    await page.keyboard.press('Escape');
    for (const close of await page.getByRole('button', { name: 'Close notice' }).all()) await close.click();
  }
});

test('a session that ends asks again over a view, which goes on with what was typed', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: /401/ });
  const asks = page.getByRole('heading', { name: 'Your session has ended' });
  const link = async () => {
    const { body } = await shared.service.call<{ url: string }>('POST', '/v1/codes', { purpose: 'session' });
    return new URL(body.url).hash;
  };
  const byToken = async () => {
    await page.getByLabel('Access token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  /** The link that `readback open` prints, in the address of this page or in another tab. */
  const byLinkHere = async () => show(await link());
  const byLinkElsewhere = async () => {
    const other = await page.context().newPage();
    await other.goto(new URL(await link(), shared.service.url).href);
    await searchBox(other).waitFor();
    await other.close();
    await page.evaluate(() => dispatchEvent(new Event('focus')));
  };
  const ways = [byToken, byLinkHere, byLinkElsewhere];
  const [search, ...others] = views();
  for (const [at, view] of [search, ...others.filter(({ field }) => field !== undefined)].entries()) {
    await show(`#/${view.fragment}`);
    await page.locator(view.ready).first().waitFor({ state: 'attached' });
    const place = await page.evaluate(() => location.hash);
    const box = (await view.field?.(page)) ?? null;
    if (box === null) {
      await endSessions(shared.service);
      await show('#/nowhere');
      await show(`#/${view.fragment}`);
    } else await typeInto(box, page, { change: () => endSessions(shared.service), goOn: (route) => route.continue() });
    await asks.waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText('readback open').waitFor();
    await ways[at % ways.length]();
    await asks.waitFor({ state: 'detached' });
    await page.locator(view.ready).first().waitFor({ state: 'attached' });
    if (box === null) assert.equal(await page.evaluate(() => location.hash), place);
    else assert.equal(await box.inputValue(), typed, view.fragment);
    await page.keyboard.press('Escape');
    for (const close of await page.getByRole('button', { name: 'Close notice' }).all()) await close.click();
  }
});

test('what was refused to the session before ends none that began since', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: /401/ });
  const asks = page.getByRole('heading', { name: 'Your session has ended' });
  let held: ((route: Route) => void) | undefined;
  const request = new Promise<Route>((resolve) => {
    held = resolve;
  });
  await page.route(/\/v1\/feedback$/, (route) => held?.(route), { times: 1 });
  await show('#/search?q=governor');
  await page.getByRole('button', { name: 'Good result' }).first().click();
  const late = await request;
  await endSessions(shared.service);
  await show('#/names');
  await asks.waitFor();
  for (let n = 0; n < 4; n++) await page.keyboard.press('Escape');
  await asks.waitFor();
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await asks.waitFor({ state: 'detached' });
  await late.fulfill({ status: 401, contentType: 'application/json', body: '{"detail":"no session"}' });
  await show('#/jobs');
  await page.locator('.job-row').first().waitFor();
  assert.equal(await asks.count(), 0);
});

test('a link that was used is told of, and ends no session that is there', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: /401/ });
  await show('#/jobs');
  await page.locator('.job-row').first().waitFor();
  const refused = page.waitForResponse((response) => response.url().endsWith('/v1/sessions'));
  await show('#code=used-before');
  assert.equal((await refused).status(), 401);
  await page.locator('.live-live').waitFor();
  assert.equal(await page.evaluate(() => location.hash), '#/jobs');
  await page.locator('.notice-error', { hasText: 'This link was used before' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Your session has ended' }).count(), 0);
  // Before anybody is signed in, it is the sign-in page that tells, and a new link works in the page as it is.
  const { page: other } = await openPage(shared.browser, shared.service, { allowed: /401/ });
  await other.goto(new URL('#code=used-before', shared.service.url).href);
  await other.getByText('This link was used before').waitFor();
  const { body } = await shared.service.call<{ url: string }>('POST', '/v1/codes', { purpose: 'session' });
  await other.evaluate((hash) => {
    location.hash = hash;
  }, new URL(body.url).hash);
  await searchBox(other).waitFor();
});

test('who is signed in is not asked to sign in while the service is not ready', { skip }, async () => {
  const { page } = await shared.signedIn({ allowed: /503/ });
  let refused = 0;
  await page.route('**/v1/sessions', (route) =>
    refused++ > 0 ? route.continue() : route.fulfill({ status: 503, json: { detail: 'opening' } }),
  );
  await page.reload();
  await searchBox(page).waitFor();
  assert.ok(refused > 0, 'it was asked who is signed in');
  await page.locator('.recent li').first().waitFor();
  assert.equal(await page.getByText('Sign in to your library').count(), 0);
});

test('every view waits for a service that is away, and goes on with what was typed', { skip }, async () => {
  const { page, show } = await shared.signedIn({ allowed: /ERR_|Failed to (?:load|fetch)/ });
  const bar = page.getByText('The service does not answer. Trying again…');
  for (const view of views()) {
    await show('#/nowhere');
    await page.route('**/*', (route) => route.abort('connectionrefused'));
    await show(`#/${view.fragment}`);
    await bar.waitFor();
    assert.equal(await page.locator('main [role="alert"]').count(), 1, `${view.fragment} says it once`);
    await page.unrouteAll({ behavior: 'wait' });
    await page.locator(view.ready).first().waitFor({ state: 'attached' });
    await bar.waitFor({ state: 'detached' });
    if (view.fragment === 'jobs') await page.locator('.live-live').waitFor();
    if (view.field === undefined) continue;
    const box = await view.field(page);
    await typeInto(box, page, { change: async () => {}, goOn: (route) => route.abort('connectionrefused') });
    await bar.waitFor({ state: 'attached' });
    await page.unrouteAll({ behavior: 'wait' });
    await bar.waitFor({ state: 'detached' });
    await page.locator(view.ready).first().waitFor({ state: 'attached' });
    assert.equal(await box.inputValue(), typed, view.fragment);
    await page.keyboard.press('Escape');
    for (const close of await page.getByRole('button', { name: 'Close notice' }).all()) await close.click();
  }
});

test('a service that goes and comes back is waited for', { skip }, async () => {
  const { page } = await shared.signedIn({ allowed: /ERR_|Failed to (?:load|fetch)/ });
  await searchFor(page, 'governor');
  await shared.service.stop();
  await searchBox(page).fill('sourdough starter');
  await page.getByText('The service does not answer').waitFor();
  await shared.service.start();
  await until(async () => (await titles(page))[0] === 'Bread from a starter', 'the search was sent again');
  assert.equal(await page.getByText('The service does not answer').count(), 0);
});

test('the console opens while the service is away, and keeps no answer of it', { skip }, async (t) => {
  const allowed = /ERR_|Failed to (?:load|fetch)/;
  const { page } = await shared.signedIn({ serviceWorkers: 'allow', allowed });
  await searchFor(page, 'governor');
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const kept = await page.evaluate(async () => {
    const stores = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
    const requests = await Promise.all(stores.map((store) => store.keys()));
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });
  assert.ok(kept.includes('/'));
  for (const path of kept) assert.match(path, /^\/(?:assets\/[\w.-]+)?$/);
  await shared.service.stop();
  await page.reload();
  await page.getByText('The service does not answer').waitFor();
  const proxy = createServer((_, response) => response.writeHead(502).end('Bad gateway'));
  t.after(() => proxy.close().closeAllConnections());
  await once(proxy.listen(Number(port), '127.0.0.1'), 'listening');
  await page.reload();
  await page.getByText('The service does not answer').waitFor();
  proxy.close().closeAllConnections();
  await shared.service.start();
  await results(page).first().waitFor();
});
