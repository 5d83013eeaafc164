/** A service that has pages, and a browser, for all tests of a file; what a test opens is closed after it. */
import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { RunningService, withEntities } from '../process/service.ts';
import { newestFirst, type Scope } from '../scope.ts';
import { type OpenPage, type PageOptions, sharedBrowser, signedIn, skip } from './browser.ts';
import { fillLibrary } from './library.ts';

interface SharedConsole {
  readonly service: RunningService;
  readonly browser: Browser;
  /** Of the pages. */
  readonly ids: string[];
  signedIn(options?: PageOptions): Promise<OpenPage>;
}

export function sharedConsole(
  pages: readonly object[],
  settings: Record<string, string> | ((scope: Scope) => Promise<Record<string, string>>) = {},
  prepare = async (_service: RunningService) => {},
): SharedConsole {
  const scope = newestFirst({ after });
  const shared: SharedConsole = Object.assign(sharedBrowser(), {
    signedIn: (options?: PageOptions) => signedIn(shared.browser, shared.service, options),
  }) as SharedConsole;
  before(async () => {
    if (skip !== false) return;
    const env = typeof settings === 'function' ? await settings(scope) : settings;
    const service = await RunningService.start(scope, { ...withEntities, SERVICE_CLUSTER__MIN_PAGES: '5', ...env });
    Object.assign(shared, { service, ids: await fillLibrary(service, pages) });
    await prepare(service);
  });
  return shared;
}
