/** Debian's Chromium with the built extension, driven by playwright-core as a person would: its pages, its tabs. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page, type Worker } from 'playwright-core';
import type { CaptureOutcome } from '../../extension/src/messages.ts';
import { chromiumArgs, chromiumPath } from '../chromium.ts';
import { type RunningService, type Scope, until } from '../process/service.ts';
import type { Site } from './site.ts';

const extension = join(import.meta.dirname, '../../dist/extension/chromium');
const patienceMs = 60_000;

interface Manifest extends Record<`${'' | 'optional_' | 'host_' | 'optional_host_'}permissions`, string[]> {
  default_locale: string;
}

/** A copy of the built extension with another manifest. Its code is the same. */
function copyOfExtension(scope: Scope, change: (manifest: Manifest) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'readback-extension-'));
  scope.after(async () => rmSync(folder, { recursive: true, force: true }));
  cpSync(extension, folder, { recursive: true });
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

  private constructor(context: BrowserContext, id: string, profile: string) {
    this.context = context;
    this.id = id;
    this.profile = profile;
  }

  /** Start with a new profile, or again with one that is there. Every host of `*.example.org` and `*.example.net` is the site. */
  static async start(
    scope: Scope,
    site: Site,
    { profile, loaded = extension, locale = 'en-GB' }: { profile?: string; loaded?: string; locale?: string } = {},
  ): Promise<ChromiumWithExtension> {
    const folder = profile ?? mkdtempSync(join(tmpdir(), 'readback-chromium-'));
    const context = await chromium.launchPersistentContext(folder, {
      executablePath: chromiumPath,
      headless: false, // the flag below; playwright's own would be the old kind
      viewport: { width: 1000, height: 700 },
      locale,
      args: [
        ...chromiumArgs,
        `--load-extension=${loaded}`,
        `--disable-extensions-except=${loaded}`,
        '--disable-features=DisableLoadExtensionCommandLineSwitch,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable',
        `--host-resolver-rules=MAP *.example.org 127.0.0.1:${site.port},MAP *.example.net 127.0.0.1:${site.port}`,
      ],
    });
    context.setDefaultTimeout(patienceMs);
    scope.after(async () => {
      await context.close().catch(() => undefined); // a test killed it
      if (profile === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    return new ChromiumWithExtension(context, new URL(worker.url()).host, folder);
  }

  async worker(): Promise<Worker> {
    return this.context.serviceWorkers()[0] ?? (await this.context.waitForEvent('serviceworker'));
  }

  /** Have the page at this address captured now; what became of it, `not found` where no tab shows it. */
  async captureNow(url: string): Promise<string> {
    return (await this.worker()).evaluate(async (url) => {
      for (const { id } of await chrome.tabs.query({})) {
        const where = { name: 'where', request: null };
        const here = await chrome.tabs.sendMessage(id ?? 0, where).catch(() => null);
        if (here?.url !== url) continue;
        const answer = await chrome.tabs.sendMessage(id ?? 0, { name: 'captureNow', request: null });
        return String(answer?.outcome);
      }
      return 'not found';
    }, url);
  }

  /** A page of the extension in a tab. */
  async open(path: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(`chrome-extension://${this.id}/${path}`);
    return page;
  }

  /** What the content script of the tab that shows an address decided, once it has. */
  async decisionAt(url: string): Promise<CaptureOutcome> {
    const worker = await this.worker();
    let outcome: CaptureOutcome | null = null;
    await until(
      async () => {
        outcome = await worker.evaluate(async (url) => {
          for (const { id } of await chrome.tabs.query({})) {
            const here = await chrome.tabs.sendMessage(id ?? 0, { name: 'where', request: null }).catch(() => null);
            if (here?.url === url) return here.outcome;
          }
          return null;
        }, url);
        return outcome !== null;
      },
      `it is decided whether ${url} is kept`,
      patienceMs,
    );
    assert.ok(outcome);
    return outcome;
  }

  /** The popup of the tab that shows an address, as a page. */
  async popupOf(url: string): Promise<Page> {
    const worker = await this.worker();
    const tabId = await worker.evaluate(async (url) => {
      for (const { id } of await chrome.tabs.query({})) {
        const here = await chrome.tabs.sendMessage(id ?? 0, { name: 'where', request: null }).catch(() => null);
        if (here?.url === url) return id;
      }
      return null;
    }, url);
    assert.ok(tabId, `no tab shows ${url}`);
    return this.open(`popup.html?tab=${tabId}`);
  }

  /** Pair as people do: a code of the service, typed into the first page. */
  async pair(service: RunningService): Promise<void> {
    const { body } = await service.call<{ code: string }>('POST', '/v1/codes', { purpose: 'pair' });
    const page = await this.open('welcome.html');
    const again = page.getByRole('button', { name: 'Pair with another' });
    const more = page.getByText('Another address');
    await again.or(more).first().waitFor();
    if (await again.isVisible()) await again.click();
    await more.click();
    await page.getByLabel('Address of the service').fill(service.url);
    await page.getByRole('textbox', { name: 'Code', exact: true }).fill(body.code);
    await page.getByRole('button', { name: 'Pair', exact: true }).click();
    await page.getByText('Paired with').waitFor();
    await page.close();
  }

  /** Set options as people do; `allow`: sites that are captured whatever the lists say. */
  async setOptions({ seconds, allow = [] }: { seconds?: number; allow?: string[] }): Promise<void> {
    const page = await this.open('options.html');
    if (seconds !== undefined) {
      const field = page.getByLabel('Seconds of active reading');
      await field.fill(String(seconds));
      await field.blur();
    }
    for (const site of allow) {
      await page.getByLabel('Name of a site').fill(site);
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByLabel(`Remove the rule for ${site}`).waitFor();
    }
    await until(
      () =>
        page
          .evaluate(
            async () =>
              (await chrome.storage.local.get<{ settings: { activeSeconds: number } }>()).settings?.activeSeconds ?? 10,
          )
          .then((found) => seconds === undefined || found === seconds),
      'the options are stored',
    );
    await page.close();
  }

  /** Ask the background program, as the extension's own pages do. */
  async ask<Reply>(name: string, request: unknown): Promise<Reply> {
    const page = await this.open('options.html');
    const answer = await page.evaluate(
      ([name, request]) => chrome.runtime.sendMessage({ name, request }) as Promise<unknown>,
      [name, request] as const,
    );
    await page.close();
    assert.ok(typeof answer === 'object' && answer !== null && 'reply' in answer, JSON.stringify(answer));
    return answer.reply as Reply;
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
