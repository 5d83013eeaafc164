/**
 * The console in a real Chromium, against a real service. Whatever goes wrong in the page is collected: errors of scripts and of the console,
 * violations of the content security policy. Without Chromium the tests say so and are skipped.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, afterEach, before } from 'node:test';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { chromiumArgs, pageBrowserPath, skipChromium } from '../chromium.ts';
import { patienceMs, type RunningService, token } from '../process/service.ts';
import { newestFirst, type Scope } from '../scope.ts';

export const skip = skipChromium;

export async function startBrowser(scope: Scope): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: pageBrowserPath,
    // Pages in one process have the scripts compiled once.
    args: [...chromiumArgs, '--renderer-process-limit=1'],
    timeout: patienceMs,
  });
  scope.after(() => browser.close());
  return browser;
}

/** What went wrong in the pages of a context since the test began. */
const faultsIn = new WeakMap<BrowserContext, string[]>();

export interface SharedBrowser {
  browser: Browser;
  /** Stays open from one test to the next, at the address of the service: with it its context, session, files and process. */
  kept?: Page;
}

/** One for all tests of a file; what a test opens in it is closed after it, and nothing may have gone wrong there. Call at the top of the file. */
export function sharedBrowser(): SharedBrowser {
  const shared = {} as SharedBrowser;
  const scope = newestFirst({ after });
  before(async () => {
    if (skip === false) shared.browser = await startBrowser(scope);
  });
  afterEach(async () => {
    if (skip !== false) return;
    const contexts = shared.browser.contexts();
    const faults = contexts.flatMap((context) => faultsIn.get(context)?.splice(0) ?? []);
    for (const context of contexts.filter((each) => each !== shared.kept?.context())) await context.close();
    for (const page of shared.kept?.context().pages() ?? []) if (page !== shared.kept) await page.close();
    await shared.kept?.evaluate(() => localStorage.clear());
    assert.deepEqual(faults, []);
  });
  return shared;
}

/** A text that goes by itself: looked for within the page, so that no stall of this process outlasts it. To be called before what brings it about. */
export const seen = (page: Page, text: string): Promise<void> =>
  page.evaluate(
    (text) =>
      new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          if (!document.body.textContent?.includes(text)) return;
          observer.disconnect();
          resolve();
        });
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
      }),
    text,
  );

export interface OpenPage {
  page: Page;
  /** A view by the fragment of its address. */
  show: (fragment: string) => Promise<void>;
}

export interface PageOptions extends BrowserContextOptions {
  /** Faults that the test provokes. */
  allowed?: RegExp | undefined;
  /** Suggestions cover results: unless kept, they are closed before whatever is waited for. */
  keepsSuggestions?: boolean | undefined;
}

export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const viewport = { width: 1280, height: 900 };
  const context = await browser.newContext({
    viewport,
    locale: 'en-GB',
    reducedMotion: 'reduce',
    serviceWorkers: 'block', // routes of a test do not see what one asks for
    ...options,
  });
  context.setDefaultTimeout(patienceMs);
  faultsIn.set(context, []);
  return context;
}

/** A page that nobody has signed in to. */
export async function openPage(
  browser: Browser,
  service: RunningService,
  { allowed, keepsSuggestions, ...options }: PageOptions = {},
): Promise<OpenPage> {
  return openIn(await newContext(browser, options), service, { allowed, keepsSuggestions });
}

export async function openIn(
  context: BrowserContext,
  service: RunningService,
  { allowed, keepsSuggestions = false }: Pick<PageOptions, 'allowed' | 'keepsSuggestions'>,
): Promise<OpenPage> {
  const page = await context.newPage();
  const origin = service.url;
  const note = (fault: string) => {
    if (allowed === undefined || !allowed.test(fault)) faultsIn.get(context)?.push(fault);
  };
  page.on('pageerror', (error) => note(`script: ${error.message}`));
  page.on('console', (message) => {
    // Drawing by software is slow at being looked at: that is the driver's, not the page's.
    if (/GL Driver Message|blocked by Playwright/.test(message.text())) return;
    if (message.type() === 'error' || message.type() === 'warning') note(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    note(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:') note(`request to ${request.url()}`);
  });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      // biome-ignore lint/suspicious/noConsole: this runs in the page, whose console is listened to
      console.error(`policy: ${violatedDirective} ${blockedURI}`);
    });
  });
  if (!keepsSuggestions) {
    await page.addLocatorHandler(suggestionsIn(page), () =>
      searchBox(page).evaluate((box) => {
        const key = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true });
        if (box.ariaExpanded === 'true') box.dispatchEvent(key);
      }),
    );
  }
  const show = async (fragment: string) => {
    await page.evaluate((to) => {
      location.hash = to;
    }, fragment);
  };
  return { page, show };
}

/** A page that is signed in by a one-time code, as `readback open` does it. */
export async function signedIn(
  browser: Browser,
  service: RunningService,
  options: PageOptions = {},
): Promise<OpenPage> {
  const opened = await openPage(browser, service, options);
  await opened.page.goto(await linkTo(service));
  await searchBox(opened.page).waitFor();
  return opened;
}

/** The link that signs in by a new one-time code. */
export async function linkTo(service: RunningService): Promise<string> {
  const { body } = await service.call<{ url: string }>('POST', '/v1/codes', { purpose: 'session' });
  return new URL(new URL(body.url).hash, service.url).href;
}

export const searchBox = (page: Page) => page.getByRole('combobox', { name: 'Search what you have read' });
export const suggestionsIn = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' });
export const results = (page: Page) => page.locator('[data-result]');

export const titles = (page: Page) => page.locator('.result-title').allTextContents();
/** Type, by whatever way, and wait for the results of just this. The wait begins before the typing: what was asked for before is not asked for again. */
export async function searchFor(page: Page, query: string, type = () => searchBox(page).fill(query)): Promise<void> {
  const answered = page.waitForResponse(
    (response) => response.url().endsWith('/v1/search') && response.request().postDataJSON().query === query,
  );
  await type();
  await answered;
  await page.locator('.results[aria-busy="false"]').waitFor();
}

/** By how much the page, or what `main` clips, is wider than its room, px. */
export function overhang(page: Page, of = 'html, main'): Promise<number> {
  return page
    .locator(of)
    .evaluateAll((boxes) => Math.max(...boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)));
}

/** The ten seconds in which a deletion can be undone pass only when the result is called: those of the latest deletion. */
export async function stopUndoTime(page: Page): Promise<() => Promise<void>> {
  // A text, as the loader gives functions names by a function of its own.
  const passing = await page.evaluateHandle<(() => void)[]>(`(() => {
    const held = [];
    const later = setTimeout;
    globalThis.setTimeout = (run, ms) => (ms === 10_000 ? held.push(run) && 0 : later(run, ms));
    return held;
  })()`);
  return () => passing.evaluate((held) => held.at(-1)?.());
}

/** As if the page were left: what waits is sent. */
export const leave = (page: Page) => page.evaluate(() => dispatchEvent(new Event('pagehide')));

/** What waits for `opened` goes on once somebody opens. */
export function gateOf(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** End a session behind the page's back. */
export async function endSessions(service: RunningService): Promise<void> {
  const { body } = await service.call<{ sessions: { id: string }[] }>('GET', '/v1/sessions');
  for (const { id } of body.sessions) await service.call('DELETE', `/v1/sessions/${id}`);
}

export const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds in the page as it is, or in the dialog that covers it, by all of its rules or by these. */
export async function accessibilityFaults(page: Page, rules?: string[]): Promise<string[]> {
  // What fades in has its contrast only at its end.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  return page.evaluate(async (rules) => {
    interface Found {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    }
    interface Axe {
      run(part: Node, options: { runOnly?: string[] }): Promise<Found>;
    }
    const { axe } = globalThis as unknown as { axe: Axe };
    const part = document.querySelector('dialog:modal') ?? document;
    const { violations } = await axe.run(part, rules === undefined ? {} : { runOnly: rules });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  }, rules);
}

export { token };
