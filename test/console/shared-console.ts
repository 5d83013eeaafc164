/** A service that has pages, and a browser, for all tests of a file; what a test opens is closed after it. */
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { RunningService } from '../process/service.ts';
import { newestFirst, type Scope } from '../scope.ts';
import {
  linkTo,
  newContext,
  type OpenPage,
  openIn,
  type PageOptions,
  type SharedBrowser,
  searchBox,
  sharedBrowser,
  signedIn,
  skip,
} from './browser.ts';
import { fillLibrary } from './library.ts';

interface SharedConsole extends SharedBrowser {
  readonly service: RunningService;
  readonly kept: Page;
  /** Of the pages. */
  readonly ids: string[];
  /** A new page in the context that is kept, or in one of its own where a context alone has such options. */
  signedIn(options?: ConsoleOptions): Promise<OpenPage>;
}

interface ConsoleOptions extends PageOptions {
  /** Its clock is changed, which is that of its whole context. */
  ownClock?: boolean;
}

export function sharedConsole(
  pages: readonly object[],
  settings: Record<string, string> | ((scope: Scope) => Promise<Record<string, string>>) = {},
  prepare = async (_service: RunningService) => {},
): SharedConsole {
  const scope = newestFirst({ after });
  const shared: SharedConsole = Object.assign(sharedBrowser(), {
    signedIn: async ({ ownClock = false, ...options }: ConsoleOptions = {}) => {
      const { viewport, colorScheme, allowed, keepsSuggestions, ...ofContext } = options;
      const { browser, service } = shared;
      if (ownClock || Object.keys(ofContext).length > 0) return signedIn(browser, service, options);
      const context = shared.kept.context();
      const opened = await openIn(context, service, { allowed, keepsSuggestions });
      const { page } = opened;
      if (viewport) await page.setViewportSize(viewport);
      if (colorScheme) await page.emulateMedia({ colorScheme });
      const headers = { 'x-readback': 'console' };
      const session = await context.request.get(`${service.url}/v1/whoami`, { headers });
      await page.goto(session.ok() ? service.url : await linkTo(service));
      await searchBox(page).waitFor();
      return opened;
    },
  }) as SharedConsole;
  before(async () => {
    if (skip !== false) return;
    const env = typeof settings === 'function' ? await settings(scope) : settings;
    const service = await RunningService.start(scope, { SERVICE_CLUSTER__MIN_PAGES: '5', ...env });
    const kept = await (await newContext(shared.browser)).newPage();
    await kept.goto(`${service.url}/favicon.svg`);
    Object.assign(shared, { service, kept, ids: await fillLibrary(service, pages) });
    await prepare(service);
  });
  return shared;
}
