/** Debian's Chromium with the built extension, driven by playwright-core as a person would: its pages, its tabs. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page, type Worker } from 'playwright-core';
import type { CaptureOutcome } from '../../extension/src/messages.ts';
import type { Connection } from '../../extension/src/service/connection.ts';
import { chromiumArgs, chromiumPath } from '../chromium.ts';
import { patienceMs, type RunningService, until } from '../process/service.ts';
import { newestFirst, type Scope, temporaryFolder } from '../scope.ts';
import type { Site } from './site.ts';

const extension = join(import.meta.dirname, '../../dist/extension/chromium');

interface Manifest extends Record<`${'' | 'optional_' | 'host_' | 'optional_host_'}permissions`, string[]> {
  default_locale: string;
  incognito: string;
  content_scripts: { matches: string[] }[];
  background?: unknown;
}

/** A copy of the built extension with another manifest. Its code is the same. */
export function copyOfExtension(scope: Scope, change: (manifest: Manifest) => void, built = extension): string {
  const folder = temporaryFolder(scope, 'readback-extension-');
  cpSync(built, folder, { recursive: true });
  const file = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  change(manifest);
  writeFileSync(file, JSON.stringify(manifest));
  return folder;
}

/** It may from the start what it otherwise asks for: nobody is there to answer the browser's question. */
export function permittedExtension(scope: Scope): string {
  return copyOfExtension(scope, (manifest) => {
    manifest.permissions.push(...manifest.optional_permissions);
    manifest.host_permissions.push(...manifest.optional_host_permissions);
  });
}

/** It speaks one language whatever the browser's is: Debian's Chromium speaks English alone. */
export function extensionIn(scope: Scope, language: string): string {
  const folder = copyOfExtension(scope, (manifest) => {
    manifest.default_locale = language;
  });
  for (const other of readdirSync(join(folder, '_locales'))) {
    if (other !== language) rmSync(join(folder, '_locales', other), { recursive: true });
  }
  return folder;
}

/**
 * Have the popup opened as the toolbar does it, over the tab in front, and look from another page of the extension: an element is in it, its
 * window is 360 px wide, and nothing in it is wider. It is closed then. Gives the size of its window, px.
 */
export async function lookAtRealPopup(
  evaluate: (expression: string) => Promise<unknown>,
  ready: string,
): Promise<{ width: number; height: number }> {
  const open = `chrome.extension.getViews({ type: 'popup' })`;
  await evaluate('chrome.action.openPopup()');
  const isFitted = `${open}.some(({ document, innerWidth }) =>
    document.querySelector(${JSON.stringify(ready)}) !== null && innerWidth === 360
    && document.documentElement.scrollWidth === document.documentElement.clientWidth)`;
  await until(
    async () => (await evaluate(isFitted)) === true,
    `the popup shows ${ready} and is 360 px wide`,
    patienceMs,
  );
  const size = await evaluate(
    `(([{ innerWidth, innerHeight }]) => ({ width: innerWidth, height: innerHeight }))(${open})`,
  );
  await evaluate(`${open}.forEach((popup) => popup.close())`);
  await until(async () => (await evaluate(`${open}.length`)) === 0, 'it is closed');
  return size as { width: number; height: number };
}

/** Stay as somebody does who reads, until something holds: having been opened counts for a page for 15 s only. */
export async function readUntil(tab: Page, holds: () => Promise<boolean>, what: string): Promise<void> {
  let looks = 0;
  await until(async () => {
    await tab.mouse.move(200 + (looks++ % 2), 200);
    return holds();
  }, what);
}

/** Runs before the background program: it gets no further than `haltAfter` of the storage says, in answers of the service and ends of transactions. */
const halting = `
let steps = 0;
let of;
const pass = async () => {
  const { haltAfter } = await chrome.storage.local.get('haltAfter');
  if (haltAfter !== of) steps = 0;
  of = haltAfter;
  if (haltAfter === undefined || steps++ < haltAfter) return;
  await chrome.storage.local.set({ halted: true });
  await new Promise(() => undefined);
};
const { fetch: realFetch } = self;
self.fetch = async (...request) => {
  await pass();
  const answer = await realFetch(...request);
  await pass();
  return answer;
};
IDBTransaction.prototype.addEventListener = function (type, listener, ...options) {
  const later = async (event) => {
    await pass();
    listener(event);
  };
  EventTarget.prototype.addEventListener.call(this, type, type === 'complete' ? later : listener, ...options);
};
`;

/** Its worker can be stopped short at any step. */
export function haltingExtension(scope: Scope): string {
  const folder = copyOfExtension(scope, () => undefined);
  const file = join(folder, 'background.js');
  writeFileSync(file, halting + readFileSync(file, 'utf8'));
  return folder;
}

export class ChromiumWithExtension {
  readonly context: BrowserContext;
  readonly id: string;
  readonly profile: string;
  #control: Promise<Page> | undefined;

  private constructor(context: BrowserContext, id: string, profile: string) {
    this.context = context;
    this.id = id;
    this.profile = profile;
  }

  /** Start with a new profile, or again with one that is there. Every host of `*.example.org` and `*.example.net` is the site. */
  static async start(
    outer: Scope,
    site: Site,
    {
      profile,
      loaded = extension,
      locale = 'en-GB',
    }: { profile?: string; loaded?: string | undefined; locale?: string } = {},
  ): Promise<ChromiumWithExtension> {
    const scope = newestFirst(outer);
    const folder = profile ?? temporaryFolder(scope, 'readback-chromium-');
    const context = await chromium.launchPersistentContext(folder, {
      executablePath: chromiumPath,
      headless: false, // the flag below; playwright's own would be the old kind
      viewport: { width: 1000, height: 700 },
      locale,
      args: [
        ...chromiumArgs,
        '--autoplay-policy=no-user-gesture-required',
        `--load-extension=${loaded}`,
        `--disable-extensions-except=${loaded}`,
        '--disable-features=DisableLoadExtensionCommandLineSwitch,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,HttpsFirstModeIncognito',
        // What real pages ask of others is nowhere.
        `--host-resolver-rules=MAP *.example.org 127.0.0.1:${site.port},MAP *.example.net 127.0.0.1:${site.port},MAP * ~NOTFOUND,EXCLUDE 127.0.0.1`,
      ],
    });
    context.setDefaultTimeout(patienceMs);
    scope.after(() => context.close());
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    return new ChromiumWithExtension(context, new URL(worker.url()).host, folder);
  }

  async worker(): Promise<Worker> {
    return this.context.serviceWorkers()[0] ?? (await this.context.waitForEvent('serviceworker'));
  }

  /** A page of the extension in a tab. */
  async open(path: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(`chrome-extension://${this.id}/${path}`);
    return page;
  }

  /** The tab that shows an address, once its content script is there. */
  async tabOf(url: string): Promise<number> {
    const control = await this.control();
    let id: number | null = null;
    const isThere = async () => {
      id = await control.evaluate(async (url) => {
        for (const { id = 0 } of await chrome.tabs.query({})) {
          const here = await chrome.tabs.sendMessage(id, { name: 'where', request: null }).catch(() => null);
          if (here?.url === url) return id;
        }
        return null;
      }, url);
      return id !== null;
    };
    await until(isThere, `a tab shows ${url}`, patienceMs);
    assert.ok(id);
    return id;
  }

  /** What the content script of the tab that shows an address decided, once it has. */
  async decisionAt(url: string): Promise<CaptureOutcome> {
    let outcome: CaptureOutcome | null = null;
    const isDecided = async () => {
      outcome = await this.outcomeAt(url).catch(() => null);
      return outcome !== null;
    };
    const tab = this.context.pages().find((page) => page.url() === url);
    const what = `it is decided whether ${url} is kept`;
    await (tab === undefined ? until(isDecided, what) : readUntil(tab, isDecided, what));
    assert.ok(outcome);
    return outcome;
  }

  /** What the content script of the tab that shows an address has decided by now. */
  async outcomeAt(url: string): Promise<CaptureOutcome | null> {
    const tab = await this.tabOf(url);
    return (await this.control()).evaluate(async (tab) => {
      const { outcome } = await chrome.tabs.sendMessage(tab, { name: 'where', request: null });
      return outcome;
    }, tab);
  }

  /** Have the page of a tab captured now; what became of it. */
  async captureIn(tab: number): Promise<string> {
    return (await this.control()).evaluate(async (tab) => {
      const answer = await chrome.tabs.sendMessage(tab, { name: 'captureNow', request: null });
      return String(answer?.outcome);
    }, tab);
  }

  /** What is queued of an address, as it was written; null where nothing is. */
  async queuedHtml(url: string): Promise<string | null> {
    const html: unknown = await (await this.control()).evaluate(`(async () => {
      const result = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
      const database = await result(indexedDB.open('readback'));
      const items = await result(database.transaction('items').objectStore('items').getAll());
      const item = items.find((item) => item.url === ${JSON.stringify(url)});
      const html = item && (await result(database.transaction('bodies').objectStore('bodies').get(item.id)));
      database.close();
      return html ?? null;
    })()`);
    return typeof html === 'string' ? html : null;
  }

  /** The popup of the tab that shows an address, as a page. */
  async popupOf(url: string): Promise<Page> {
    return this.open(`popup.html?tab=${await this.tabOf(url)}`);
  }

  /** Whether it may run in private windows, once people have tried to allow it. */
  async allowInPrivate(): Promise<boolean> {
    const page = await this.context.newPage();
    await page.goto(`chrome://extensions/?id=${this.id}`);
    const isAllowed = await page.evaluate(async (extensionId) => {
      const { developerPrivate } = chrome as unknown as {
        developerPrivate: {
          updateExtensionConfiguration(change: { extensionId: string; incognitoAccess: boolean }): Promise<void>;
          getExtensionInfo(id: string): Promise<{ incognitoAccess: { isActive: boolean } }>;
        };
      };
      await developerPrivate.updateExtensionConfiguration({ extensionId, incognitoAccess: true });
      return (await developerPrivate.getExtensionInfo(extensionId)).incognitoAccess.isActive;
    }, this.id);
    await page.close();
    return isAllowed;
  }

  /** A page of the extension that stays, for what is asked and looked up. */
  control(): Promise<Page> {
    this.#control ??= this.open('popup.html?search=');
    return this.#control;
  }

  /** Ask the background program, as the extension's own pages do. */
  async ask<Reply>(name: string, request: unknown): Promise<Reply> {
    const answer = await (await this.control()).evaluate(
      ([name, request]) => chrome.runtime.sendMessage({ name, request }) as Promise<unknown>,
      [name, request] as const,
    );
    assert.ok(typeof answer === 'object' && answer !== null && 'reply' in answer, JSON.stringify(answer));
    return answer.reply as Reply;
  }

  /** Pair by a code, as the extension's first page does, which is looked at in popup.test.ts. */
  async pair(service: RunningService): Promise<void> {
    const { body } = await service.call<{ code: string }>('POST', '/v1/codes', { purpose: 'pair' });
    const request = { code: body.code, name: 'Chromium Linux' };
    const paired = await service.call<Omit<Connection, 'address'>>('POST', '/v1/pair', request);
    const { token, name, library } = paired.body;
    await this.connect({ address: service.url, token, name, library });
  }

  async connect(connection: Connection): Promise<void> {
    await this.ask('connect', connection);
  }

  /** Set options; `allow`: sites that are captured whatever the lists say. */
  async setOptions({ seconds, allow = [] }: { seconds?: number; allow?: string[] }): Promise<void> {
    if (seconds !== undefined) await this.ask('changeSettings', { activeSeconds: seconds });
    for (const site of allow) await this.ask('switchSite', { site, to: 'on' });
  }

  /** The browser's processes end as by a power cut. */
  async kill(): Promise<void> {
    const pid = await mainProcess(this.profile);
    process.kill(pid, 'SIGKILL');
    await this.context.close().catch(() => undefined);
  }
}

/** The browser's lock names its process. */
async function mainProcess(profile: string): Promise<number> {
  const { readlinkSync } = await import('node:fs');
  const lock = readlinkSync(join(profile, 'SingletonLock'));
  return Number(lock.slice(lock.lastIndexOf('-') + 1));
}
