/** A service that has pages, and a browser, for all tests of a file; what a test opens is closed after it. */
import { after, afterEach, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { RunningService } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { type OpenPage, type PageOptions, signedIn, skip, startBrowser } from './browser.ts';
import { fillLibrary } from './library.ts';

interface SharedConsole {
  service: RunningService;
  browser: Browser;
  /** Of the pages. */
  ids: string[];
  signedIn(options?: PageOptions): Promise<OpenPage>;
}

export function sharedConsole(
  pages: readonly object[],
  env: Record<string, string>,
  prepare = async (_service: RunningService) => {},
): SharedConsole {
  const scope = newestFirst({ after });
  const shared = {
    signedIn: (options?: PageOptions) => signedIn(shared.browser, shared.service, options),
  } as SharedConsole;
  before(async () => {
    if (skip !== false) return;
    shared.browser = await startBrowser(scope);
    shared.service = await RunningService.start(scope, env);
    shared.ids = await fillLibrary(shared.service, pages);
    await prepare(shared.service);
  });
  afterEach(async () => {
    if (skip !== false) return;
    for (const context of shared.browser.contexts()) await context.close();
  });
  return shared;
}
