/** Debian's Firefox ESR with the built extension as a temporary add-on, driven by WebDriver BiDi (w3c.github.io/webdriver-bidi). */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { axeSource } from '../console/browser.ts';
import { patienceMs, until } from '../process/service.ts';
import { newestFirst, type Scope, temporaryFolder } from '../scope.ts';
import type { Site } from './site.ts';

const firefoxPath = '/usr/bin/firefox-esr';
export const skipFirefox = existsSync(firefoxPath) ? false : `no browser is at ${firefoxPath}`;
export const firefoxExtension = join(import.meta.dirname, '../../dist/extension/firefox');

type Result = Record<string, unknown>;

interface EventParams {
  request?: { request: string };
  level?: string;
  text?: string;
}

class Session {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve: (result: Result) => void; reject: (error: Error) => void }>();
  #last = 0;
  onEvent: (method: string, params: EventParams) => void = () => undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const { id, type, result, error, message, method, params } = JSON.parse(String(data));
      if (type === 'event') {
        this.onEvent(method, params);
        return;
      }
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (type === 'success') waiting?.resolve(result);
      else waiting?.reject(new Error(`${error}: ${message}`));
    });
  }

  command(method: string, params: Record<string, unknown>): Promise<Result> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => reject(new Error(`no answer to ${method}`)), patienceMs);
      const settled = () => clearTimeout(patience);
      this.#waiting.set(id, {
        resolve: (result) => {
          settled();
          resolve(result);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  close(): void {
    this.#socket.close();
  }
}

const quietly = {
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.normandy.enabled': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'focusmanager.testmode': true,
  'remote.prefs.recommended': true,
};

/** The browser and what it is told by, until the scope ends; with a profile of its own, which goes then, or one that is there. */
export async function startFirefox(
  outer: Scope,
  given?: string,
  preferences: Record<string, unknown> = {},
): Promise<{ session: Session; browser: ChildProcess }> {
  const scope = newestFirst(outer);
  const profile = given ?? temporaryFolder(scope, 'readback-firefox-');
  const lines = Object.entries({ ...quietly, ...preferences }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  const args = [
    '--headless',
    '--no-remote',
    '--profile',
    profile,
    '--remote-debugging-port=0',
    '--remote-allow-system-access',
  ];
  const browser = spawn(firefoxPath, [...args, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
  scope.after(async () => {
    if (browser.exitCode !== null || browser.signalCode !== null) return;
    browser.kill();
    await once(browser, 'exit');
  });
  const socket = new WebSocket(`${await addressOf(browser)}/session`);
  await once(socket, 'open');
  const session = new Session(socket);
  await session.command('session.new', { capabilities: {} });
  return { session, browser };
}

/** A page that is not there after so many looks is loaded again. */
const looksBetweenLoads = 100;

export class FirefoxWithExtension {
  readonly session: Session;
  /** Address of its pages, with a slash at the end. */
  readonly pages: string;
  readonly profile: string;
  readonly #process: ChildProcess;
  #control: Promise<FirefoxTab> | undefined;

  private constructor(session: Session, pages: string, profile: string, process: ChildProcess) {
    this.session = session;
    this.pages = pages;
    this.profile = profile;
    this.#process = process;
  }

  /** Start with a new profile, or again with one that is there. `allowedInPrivate`: as people may allow it to those that take it. */
  static async start(
    outer: Scope,
    site: Site,
    {
      profile: given,
      loaded = firefoxExtension,
      allowedInPrivate = false,
    }: { profile?: string; loaded?: string; allowedInPrivate?: boolean } = {},
  ): Promise<FirefoxWithExtension> {
    const scope = newestFirst(outer);
    const profile = given ?? temporaryFolder(scope, 'readback-firefox-');
    const uuid = '6f9d0d3e-5d0c-4c1b-9a55-2f6c4ad2f0aa';
    const id = JSON.parse(readFileSync(join(loaded, 'manifest.json'), 'utf8')).browser_specific_settings.gecko.id;
    const preferences: Record<string, unknown> = {
      // Every host is the site; loopback is not proxied, so that the service is reached.
      'network.proxy.type': 1,
      'network.proxy.http': '127.0.0.1',
      'network.proxy.http_port': site.port,
      'extensions.webextensions.uuids': JSON.stringify({ [id]: uuid }),
      'dom.security.https_first': false,
      // Nobody is there to say yes.
      'extensions.webextOptionalPermissionPrompts': false,
    };
    const { session, browser } = await startFirefox(scope, profile, preferences);
    await session.command('webExtension.install', { extensionData: { type: 'path', path: loaded } });
    if (allowedInPrivate) await allowInPrivate(session, id);
    return new FirefoxWithExtension(session, `moz-extension://${uuid}/`, profile, browser);
  }

  /** The browser's process ends as by a power cut. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
  }

  /** The popup of the tab that shows an address, as a page. */
  async popupOf(url: string): Promise<FirefoxTab> {
    const control = await this.control();
    let tab: unknown = null;
    await until(async () => {
      tab = await control.evaluate(tabOf(url));
      return tab !== null;
    }, `a tab shows ${url}`);
    return this.open(`${this.pages}popup.html?tab=${tab}`);
  }

  /** A page of the extension that stays: a new one would take the focus from what is read. */
  control(): Promise<FirefoxTab> {
    this.#control ??= this.open(`${this.pages}popup.html?search=`);
    return this.#control;
  }

  /** In a new tab. */
  open(url: string): Promise<FirefoxTab> {
    return FirefoxTab.open(this.session, url);
  }

  /** A tab in a private window of its own, opened as the browser's menu does. */
  async openPrivately(url: string): Promise<FirefoxTab> {
    const tabs = async () => {
      const { contexts } = await this.session.command('browsingContext.getTree', {});
      return (contexts as { context: string }[]).map(({ context }) => context);
    };
    const before = await tabs();
    await tell(this.session, (await windowsOf(this.session))[0], 'void OpenBrowserWindow({ private: true })');
    let opened: string | undefined;
    const isOpen = async () => {
      opened = (await tabs()).find((context) => !before.includes(context));
      return opened !== undefined;
    };
    await until(isOpen, 'the private window has a tab');
    // In a tab beside it, for the window still loads a page of its own into this one; that may end our load, too, which is then never told to be complete.
    const where = { type: 'tab', referenceContext: opened };
    const { context } = await this.session.command('browsingContext.create', where);
    const tab = new FirefoxTab(this.session, String(context));
    let looks = 0;
    const isShown = async () => {
      if (looks++ % looksBetweenLoads === 0) await tab.begin(url);
      return tab.evaluate<boolean>(`location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`);
    };
    await until(() => isShown().catch(() => false), 'the private window shows the page');
    return tab;
  }

  /** Answer every https request to a host by itself: nobody is there. */
  async standIn(hostname: string, body: string, policy: string): Promise<void> {
    this.session.onEvent = (method, { request }) => {
      if (method !== 'network.beforeRequestSent' || request === undefined) return;
      const headers = Object.entries({ 'content-type': 'text/html', 'content-security-policy': policy }).map(
        ([name, value]) => ({ name, value: { type: 'string', value } }),
      );
      const answer = { request: request.request, statusCode: 200, headers, body: { type: 'string', value: body } };
      this.session.command('network.provideResponse', answer).catch(() => undefined); // one that is not held up
    };
    await this.session.command('session.subscribe', { events: ['network.beforeRequestSent'] });
    await this.session.command('network.addIntercept', {
      phases: ['beforeRequestSent'],
      urlPatterns: [{ type: 'pattern', protocol: 'https', hostname }],
    });
  }

  /** Whether a content script follows a tab that shows an address. */
  async isWatched(url: string): Promise<boolean> {
    return (await (await this.control()).evaluate(tabOf(url))) !== null;
  }

  /** What the content script of the tab that shows an address decided; null before it has. */
  async decisionAt(url: string): Promise<{ outcome: string; rule?: { rule: string } } | null> {
    return (await this.control()).evaluate(`(async () => {
      const id = await ${tabOf(url)};
      return id && (await chrome.tabs.sendMessage(id, { name: 'where', request: null })).outcome;
    })()`);
  }

  /** Ask the background program, as the extension's own pages do. */
  async ask<Reply>(name: string, request: unknown): Promise<Reply> {
    const { reply } = await (await this.control()).evaluate<{ reply: Reply }>(
      `chrome.runtime.sendMessage(${JSON.stringify({ name, request })})`,
    );
    return reply;
  }
}

/** The browser's own windows, in which its own code runs. */
async function windowsOf(session: Session): Promise<string[]> {
  const { contexts } = await session.command('browsingContext.getTree', { 'moz:scope': 'chrome' });
  return (contexts as { context: string }[]).map(({ context }) => context);
}

/** Run an expression in a window's own code; promises are waited for. */
async function tell(session: Session, window: string, expression: string): Promise<void> {
  const target = { context: window };
  const { type, exceptionDetails } = await session.command('script.evaluate', {
    expression,
    target,
    awaitPromise: true,
  });
  assert.equal(type, 'success', JSON.stringify(exceptionDetails));
}

/** Allow an extension to run in private windows, as its page among the browser's add-ons does where its manifest lets it. */
async function allowInPrivate(session: Session, id: string): Promise<void> {
  await tell(
    session,
    (await windowsOf(session))[0],
    `(async () => {
      const { ExtensionPermissions } = ChromeUtils.importESModule('resource://gre/modules/ExtensionPermissions.sys.mjs');
      await ExtensionPermissions.add(${JSON.stringify(id)}, { permissions: ['internal:privateBrowsingAllowed'], origins: [] });
      await (await AddonManager.getAddonByID(${JSON.stringify(id)})).reload();
    })()`,
  );
}

/** The tab that shows an address; null where none does. */
const tabOf = (url: string): string => `(async () => {
  for (const { id } of await chrome.tabs.query({})) {
    const here = await chrome.tabs.sendMessage(id, { name: 'where', request: null }).catch(() => null);
    if (here?.url === ${JSON.stringify(url)}) return id;
  }
  return null;
})()`;

export class FirefoxTab {
  readonly #session: Session;
  readonly #context: string;

  constructor(session: Session, context: string) {
    this.#session = session;
    this.#context = context;
  }

  static async open(session: Session, url: string): Promise<FirefoxTab> {
    const { context } = await session.command('browsingContext.create', { type: 'tab' });
    const tab = new FirefoxTab(session, String(context));
    await tab.goto(url);
    return tab;
  }

  async goto(url: string): Promise<void> {
    await this.#session.command('browsingContext.navigate', { context: this.#context, url, wait: 'complete' });
  }

  /** Go there, and wait for nothing. */
  async begin(url: string): Promise<void> {
    await this.#session.command('browsingContext.navigate', { context: this.#context, url, wait: 'none' });
  }

  /** Bring it before all others, with the focus on the page: a new window puts it on its address bar, at any time of its start, and there it stays. */
  async activate(): Promise<void> {
    await this.#session.command('browsingContext.activate', { context: this.#context });
    for (const context of await windowsOf(this.#session)) {
      await tell(
        this.#session,
        context,
        'if (Services.focus.activeWindow === window) gBrowser.selectedBrowser.focus()',
      );
    }
  }

  /** Stay in front as somebody does who reads, whatever windows open meanwhile, until something holds. */
  async readUntil(holds: () => Promise<boolean>, what: string): Promise<void> {
    let looks = 0;
    const isReadAnd = async () => {
      if (!(await this.evaluate<boolean>('document.hasFocus()'))) await this.activate();
      await this.perform('pointer', [{ type: 'pointerMove', x: 200 + (looks++ % 2), y: 200 }]);
      return holds();
    };
    await until(isReadAnd, what);
  }

  async close(): Promise<void> {
    await this.#session.command('browsingContext.close', { context: this.#context });
  }

  /** The value of an expression, which JSON can hold; promises are waited for. Runs as if somebody had clicked. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const { type, result, exceptionDetails } = await this.#session.command('script.evaluate', {
      expression: `(async () => JSON.stringify(await (${expression})) ?? 'null')()`,
      target: { context: this.#context },
      awaitPromise: true,
      userActivation: true,
    });
    assert.equal(type, 'success', JSON.stringify(exceptionDetails));
    return JSON.parse(String((result as { value: unknown }).value));
  }

  /** What axe-core finds fault with. */
  async accessibilityFaults(): Promise<string[]> {
    const target = { context: this.#context };
    await this.#session.command('script.evaluate', { expression: axeSource, target, awaitPromise: false });
    return this.evaluate(`axe.run().then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
  }

  /** The page's elements as JSON, closed shadow roots included. */
  async elements(): Promise<string> {
    const { result } = await this.#session.command('script.evaluate', {
      expression: 'document.documentElement',
      target: { context: this.#context },
      awaitPromise: false,
      serializationOptions: { maxDomDepth: 12, includeShadowTree: 'all' },
    });
    return JSON.stringify(result);
  }

  /** Wait until an expression is true. */
  async until(expression: string): Promise<void> {
    await until(() => this.evaluate<boolean>(`Boolean(${expression})`), expression);
  }

  /** Type into the input that a label's text begins with. */
  async fill(label: string, text: string): Promise<void> {
    await this.until(
      `[...document.querySelectorAll('label')].find((l) => l.textContent.startsWith(${JSON.stringify(label)}))`,
    );
    await this.evaluate(`(() => {
      const input = [...document.querySelectorAll('label')].find((l) => l.textContent.startsWith(${JSON.stringify(label)})).querySelector('input');
      input.value = ${JSON.stringify(text)};
      for (const name of ['input', 'change']) input.dispatchEvent(new Event(name, { bubbles: true }));
    })()`);
  }

  async click(button: string): Promise<void> {
    const found = `[...document.querySelectorAll('button')].find((b) => b.textContent === ${JSON.stringify(button)})`;
    await this.until(found);
    await this.clickOn(found);
  }

  /** Press keys one after the other, as a keyboard does; special ones by their code points (w3.org/TR/webdriver2/#keyboard-actions). */
  async press(keys: string): Promise<void> {
    const actions = [...keys].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await this.perform('key', actions);
  }

  /** What a device does, one after the other (w3.org/TR/webdriver2/#actions). */
  async perform(type: 'pointer' | 'key' | 'wheel', actions: Result[]): Promise<void> {
    await this.#session.command('input.performActions', {
      context: this.#context,
      actions: [{ type, id: type, actions }],
    });
  }

  /** Choose a file in the file field that an expression gives. */
  async chooseFile(field: string, file: string): Promise<void> {
    const target = { context: this.#context };
    const found = { expression: field, target, awaitPromise: false };
    const { result } = await this.#session.command('script.evaluate', found);
    await this.#session.command('input.setFiles', { ...target, element: result, files: [file] });
  }

  async resize(width: number, height: number): Promise<void> {
    await this.#session.command('browsingContext.setViewport', { context: this.#context, viewport: { width, height } });
  }

  /** Turn the wheel over the middle of the page, by so many pixels down. */
  async turnWheel(pixels: number): Promise<void> {
    await this.perform('wheel', [{ type: 'scroll', x: 300, y: 300, deltaX: 0, deltaY: pixels }]);
  }

  /** Click on the element that an expression gives. */
  async clickOn(found: string): Promise<void> {
    const { x, y } = await this.evaluate<{ x: number; y: number }>(`(() => {
      const button = ${found};
      button.scrollIntoView({ block: 'center', behavior: 'instant' });
      const { x, y, width, height } = button.getBoundingClientRect();
      return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };
    })()`);
    await this.perform('pointer', [
      { type: 'pointerMove', x, y },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]);
  }
}

async function addressOf(browser: ChildProcess): Promise<string> {
  let said = '';
  browser.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  let address: string | undefined;
  await until(() => {
    address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said)?.[1];
    if (browser.exitCode !== null) throw new Error(`the browser ended: ${said}`);
    return address !== undefined;
  }, 'the browser listens');
  return address ?? '';
}
