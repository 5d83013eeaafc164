/**
 * Tasks of a session in the console, done with the mouse and the keyboard in Chromium and Firefox: clicks, keys and time of each. `npm run bench -- session`; prints
 * JSON. A task is done when the service or the page shows its result; a drag is a click, and the system's own file dialog is not counted.
 *
 * For each browser it also prints the first paint of the console, what axe-core finds in every view, wide and narrow, light and dark, and the size of the extension's popup as the
 * toolbar opens it; and the size of the scripts that all views but the map load, compressed.
 *
 *   npm run bench -- session --browser firefox --task tag     one browser; tasks whose name contains a text
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import type { BackupListResponse } from '../../src/domain/admin.ts';
import type { BlacklistResponse } from '../../src/domain/blacklist.ts';
import type { EntityDetailResponse } from '../../src/domain/entity.ts';
import type { ImportListResponse } from '../../src/domain/import.ts';
import type { PageListResponse, PageResponse } from '../../src/domain/page.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import type { WatchListResponse } from '../../src/domain/watch.ts';
import { accessibilityFaults, linkTo } from '../../test/console/browser.ts';
import { fillLibrary, plainPages } from '../../test/console/library.ts';
import { ChromiumWithExtension, lookAtRealPopup } from '../../test/extension-browser/chromium.ts';
import { type FirefoxTab, FirefoxWithExtension } from '../../test/extension-browser/firefox.ts';
import { Site } from '../../test/extension-browser/site.ts';
import { RunningService, realEncoder, until, withEntities } from '../../test/process/service.ts';
import { Site as SmallWeb, say } from '../../test/providers/small-web.ts';
import { CleanUps, type Scope, temporaryFolder } from '../../test/scope.ts';
import { describeMachine } from '../machine.ts';

const { values } = parseArgs({
  options: { browser: { type: 'string' }, task: { type: 'string', default: '' } },
});
/** A task that is not done by then is given up. */
const patienceMs = 40_000;
const loads = 5;
/** So often in a row an element is found in one place before it is clicked. */
const restLooks = 3;
const wide = [1280, 900] as const;
const narrow = [360, 740] as const;

type Place = readonly [x: number, y: number];

/** A tab of a browser, with its mouse and keyboard. Expressions run in its page. */
interface Tab {
  evaluate<Value>(expression: string): Promise<Value>;
  /** Press the mouse's button at the first place, and let it go at the last. */
  drag(places: readonly Place[]): Promise<void>;
  /** Keys by name, `Control+k` together. */
  press(keys: readonly string[]): Promise<void>;
  chooseFile(button: string, field: string, file: string): Promise<void>;
  resize(width: number, height: number): Promise<void>;
  faults(): Promise<string[]>;
  close(): Promise<void>;
}

interface Browser {
  /** In a new tab, in front of the others. */
  open(address: string): Promise<Tab>;
  /** Address of the extension's pages. */
  pages: string;
}

const middleOf = (found: string) => `(() => {
  const found = ${found};
  found.scrollIntoView({ block: 'center', behavior: 'instant' });
  const { x, y, width, height } = found.getBoundingClientRect();
  return [Math.round(x + width / 2), Math.round(y + height / 2)];
})()`;

function chromiumTab(page: Page): Tab {
  const { mouse, keyboard } = page;
  const tab: Tab = {
    evaluate: <Value>(expression: string) => page.evaluate(expression) as Promise<Value>,
    async drag([from, ...others]) {
      await mouse.move(...from);
      await mouse.down();
      for (const place of others) await mouse.move(...place, { steps: 4 });
      await mouse.up();
    },
    async press(keys) {
      for (const key of keys) await keyboard.press(key);
    },
    async chooseFile(button, _field, file) {
      const chosen = page.waitForEvent('filechooser');
      await tab.drag([await tab.evaluate<Place>(middleOf(button))]);
      await (await chosen).setFiles(file);
    },
    resize: (width, height) => page.setViewportSize({ width, height }),
    faults: () => accessibilityFaults(page),
    close: () => page.close(),
  };
  return tab;
}

/** w3.org/TR/webdriver2/#keyboard-actions */
const codePoints: Record<string, string> = {
  Control: '\uE009',
  Enter: '\uE007',
  Tab: '\uE004',
};

function firefoxTab(tab: FirefoxTab): Tab {
  const move = ([x, y]: Place) => ({ type: 'pointerMove', x, y });
  return {
    evaluate: (expression) => tab.evaluate(expression),
    drag: ([from, ...others]) =>
      tab.perform('pointer', [
        move(from),
        { type: 'pointerDown', button: 0 },
        ...others.map(move),
        { type: 'pointerUp', button: 0 },
      ]),
    press: (keys) =>
      tab.perform(
        'key',
        keys.flatMap((key) => {
          const together = key.length === 1 ? [key] : key.split('+').map((name) => codePoints[name] ?? name);
          const as = (type: string) => (value: string) => ({ type, value });
          return [...together.map(as('keyDown')), ...together.toReversed().map(as('keyUp'))];
        }),
      ),
    // The dialog of the system cannot be reached.
    chooseFile: (_button, field, file) => tab.chooseFile(field, file),
    resize: (width, height) => tab.resize(width, height),
    faults: () => tab.accessibilityFaults(),
    close: () => tab.close(),
  };
}

async function startChromium(scope: Scope, site: Site): Promise<Browser> {
  const { context, id } = await ChromiumWithExtension.start(scope, site);
  return {
    async open(address) {
      const page = await context.newPage();
      await page.goto(address);
      await page.bringToFront();
      return chromiumTab(page);
    },
    pages: `chrome-extension://${id}/`,
  };
}

async function startFirefox(scope: Scope, site: Site): Promise<Browser> {
  const browser = await FirefoxWithExtension.start(scope, site);
  return {
    async open(address) {
      const tab = await browser.open(address);
      await tab.activate();
      return firefoxTab(tab);
    },
    pages: browser.pages,
  };
}

/** Width and height of the extension's popup over a page, px. */
async function measurePopup(browser: Browser) {
  const control = await browser.open(`${browser.pages}popup.html?search=`);
  await browser.open('http://news.example.org/article/herons');
  return lookAtRealPopup((expression) => control.evaluate(expression), '.results');
}

const one = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;
/** The button, link or choice whose text begins so; in the dialog, if one is open. */
const named = (
  name: string,
) => `[...(${one('dialog[open]')} ?? document).querySelectorAll('button, a, summary, label')].find(
  (each) => (each.ariaLabel ?? each.textContent).trim().startsWith(${JSON.stringify(name)}) && each.checkVisibility())`;
const having = (selector: string, text: string) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].find(({ textContent }) => textContent.includes(${JSON.stringify(text)}))`;

/** Somebody at a tab, whose clicks and keys are counted. */
class Person {
  clicks = 0;
  keys = 0;
  readonly tab: Tab;

  constructor(tab: Tab) {
    this.tab = tab;
  }

  see(expression: string): Promise<void> {
    return until(() => this.tab.evaluate<boolean>(`Boolean(${expression})`), expression, patienceMs);
  }

  async click(found: string): Promise<void> {
    await this.see(`${found} && !(${found}).disabled`);
    await this.drag([await this.placeOf(found)]);
  }

  /** Once it stays where it is: what is loaded above it moves it. */
  async placeOf(found: string): Promise<Place> {
    let place: Place = [0, 0];
    let looks = 0;
    const rests = async () => {
      const now = await this.tab.evaluate<Place>(middleOf(found));
      looks = now.join() === place.join() ? looks + 1 : 0;
      place = now;
      return looks === restLooks;
    };
    await until(rests, `${found} rests`, patienceMs);
    return place;
  }

  async drag(places: readonly Place[]): Promise<void> {
    this.clicks++;
    await this.tab.drag(places);
  }

  /** From one part of an element to another, as shares of its width and height. */
  async dragOver(found: string, shares: readonly Place[]): Promise<void> {
    await this.see(found);
    await this.placeOf(found);
    const { x, y, width, height } = await this.tab.evaluate<DOMRect>(`(${found}).getBoundingClientRect().toJSON()`);
    await this.drag(shares.map(([right, down]) => [Math.round(x + right * width), Math.round(y + down * height)]));
  }

  async press(...keys: string[]): Promise<void> {
    this.keys += keys.flatMap((key) => (key.length === 1 ? key : key.split('+'))).length;
    await this.tab.press(keys);
  }

  type(text: string): Promise<void> {
    return this.press(...text);
  }

  async write(field: string, text: string): Promise<void> {
    await this.click(field);
    await this.type(text);
  }

  /** Until the first result has the focus. */
  async search(words: string): Promise<void> {
    await this.write(one('.search-box input'), words);
    await this.press('Enter');
    await this.see(`document.activeElement.className === 'result-title'`);
  }

  async tabTo(found: string): Promise<void> {
    for (let presses = 0; presses < 40; presses++) {
      if (await this.tab.evaluate<boolean>(`document.activeElement === ${found}`)) return;
      await this.press('Tab');
    }
    throw new Error(`Tab does not lead to ${found}`);
  }

  titles(): Promise<string[]> {
    return this.tab.evaluate(`[...document.querySelectorAll('.result-title')].map(({ textContent }) => textContent)`);
  }

  hash(): Promise<string> {
    return this.tab.evaluate('location.hash');
  }
}

interface Task {
  name: string;
  /** Where it begins, as the fragment of an address. */
  at: string;
  work: (person: Person) => Promise<unknown>;
  /** Whether its result is there; asked until it is. */
  isDone: (person: Person) => Promise<boolean>;
}

const [lake, otherLake] = ['Zalubake Lake', 'Kodimure Lake'];
const pages = [
  ...plainPages,
  {
    url: 'https://lakes.example/swimming',
    title: 'Lakes',
    body_extracted: `We swam in ${lake}, and again in ${lake}. We also swam in ${otherLake}.`,
    fetched_at: '2026-05-02T12:00:00Z',
  },
];
const firstSentence = 'A governor keeps an engine from running away.';

function tasksWith(service: RunningService, browser: Browser, web: SmallWeb, ids: readonly string[], folder: string) {
  const get = async <Body>(path: string) => (await service.call<Body>('GET', path)).body;
  const [governor, valve, bread] = ids;
  const lakes = ids.at(-1);
  const page = (id: string) => get<PageResponse>(`/v1/pages/${id}`);
  const listed = async (url: string) => (await get<PageListResponse>(`/v1/pages?url=${encodeURIComponent(url)}`)).pages;
  const isThere = async (id: string) => (await service.call('GET', `/v1/pages/${id}`)).status === 200;
  const entity = async (name: string) => {
    const { body } = await service.call<EntityDetailResponse>('GET', `/v1/entities/${encodeURIComponent(name)}`);
    return body.entity?.id;
  };
  const found = async (query: string) => {
    const asked = { query, operators: true, k: 100, log: false };
    return (await service.call<SearchResponse>('POST', '/v1/search', asked)).body.results.map(({ page_id }) => page_id);
  };
  const blocked = async () => (await get<BlacklistResponse>('/v1/blacklist')).entries.map(({ pattern }) => pattern);
  const tokens = () => get<{ tokens: { name: string; source: string }[] }>('/v1/tokens');
  const exported = join(folder, 'reading.jsonl');
  const isAmong = async (person: Person, from: string, to: string) => {
    const shown = await person.tab.evaluate<string[]>(
      `[...document.querySelectorAll('[data-result]')].map(({ dataset }) => dataset.result)`,
    );
    const days = await Promise.all(shown.map(async (id) => (await page(id)).first_seen_at.slice(0, 10)));
    return days.length > 0 && days.every((day) => day >= from && day <= to);
  };
  /** Whether these are the first results, or, with `alone`, all of them. */
  const shows =
    (title: string, { alone = false } = {}) =>
    async (person: Person) => {
      const titles = await person.titles();
      return titles[0] === title && (!alone || titles.length === 1);
    };
  const periodIn = async (person: Person) => {
    const [, from = '', to = ''] = /from=([\d-]+)&to=([\d-]+)/.exec(await person.hash()) ?? [];
    return { from, to };
  };
  const tasks: Task[] = [
    {
      name: 'find a page and read it at the passage',
      at: 'search',
      async work(person) {
        await person.search('slide valves wear');
        await person.press('v');
      },
      isDone: async (person) =>
        (await person.hash()).startsWith(`#/page/${valve}?`) &&
        /Slide valves wear/.test(await person.tab.evaluate(`${one('.passage-mark')}?.textContent ?? ''`)),
    },
    {
      name: 'find a page despite a typing error',
      at: 'search',
      work: (person) => person.search('centrifugl governor'),
      isDone: async (person) =>
        (await person.titles())[0] === 'The centrifugal governor' &&
        (await person.tab.evaluate<boolean>(`${one('.corrected')} !== null`)),
    },
    {
      name: 'find an exact phrase',
      at: 'search',
      work: (person) => person.search('"lets steam in"'),
      isDone: shows('The centrifugal governor', { alone: true }),
    },
    {
      name: 'filter by site',
      at: 'search',
      async work(person) {
        await person.search('water');
        await person.click(having('.facet-row', 'kitchen.example'));
      },
      isDone: async (person) =>
        (await person.hash()).includes('site=kitchen.example') &&
        (await person.titles()).join() === 'Bread from a starter',
    },
    {
      name: 'filter by period',
      at: 'search',
      async work(person) {
        await person.search('heron');
        await person.dragOver(one('.histogram'), [
          [0.3, 0.5],
          [0.6, 0.5],
        ]);
      },
      async isDone(person) {
        const { from, to } = await periodIn(person);
        return from !== '' && isAmong(person, from, to);
      },
    },
    {
      name: 'sort by the newest',
      at: 'search',
      async work(person) {
        await person.write(one('.search-box input'), 'heron');
        await person.tabTo(one('.search-line select'));
        await person.press('n');
      },
      isDone: async (person) => (await person.titles())[0] === 'Heron 24' && /sort=newest/.test(await person.hash()),
    },
    {
      name: 'save a search',
      at: 'search',
      async work(person) {
        await person.search('heron');
        await person.click(named('Save search'));
        await person.see(one('dialog[open] input'));
        await person.press('Enter');
      },
      isDone: (person) =>
        person.tab.evaluate(`${one('.save-button[aria-pressed="true"]')} !== null && ${one('dialog[open]')} === null`),
    },
    {
      name: 'open a saved search',
      at: 'search',
      work: (person) => person.click(one('.recent .tag a')),
      isDone: async (person) => /q=heron/.test(await person.hash()) && (await person.titles()).length > 0,
    },
    {
      name: 'see pages like a result',
      at: 'search',
      async work(person) {
        await person.search('heron');
        await person.press('s');
      },
      isDone: (person) => person.tab.evaluate(`${one('[data-result] .similar li a')} !== null`),
    },
    {
      name: 'judge a result',
      at: 'search',
      async work(person) {
        await person.search('sourdough loaf');
        await person.press('+');
      },
      async isDone() {
        const { body } = await service.call<{ labeled: number }>('POST', '/v1/admin/eval/score', {});
        return body.labeled > 0;
      },
    },
    {
      name: 'tag a page',
      at: `page/${governor}`,
      async work(person) {
        await person.write(one('.tag-form input'), 'machines');
        await person.press('Enter');
      },
      isDone: async () =>
        [(await page(governor)).metadata?.tags].flat().includes('machines') && (await found('tag:machines')).length > 0,
    },
    {
      name: 'find pages of a tag',
      at: 'search',
      work: (person) => person.search('tag:machines'),
      isDone: shows('The centrifugal governor', { alone: true }),
    },
    {
      name: 'write a note',
      at: `page/${governor}`,
      async work(person) {
        await person.write(one('.note-field textarea'), 'like a thermostat');
        await person.press('Tab');
      },
      isDone: async () =>
        (await page(governor)).metadata?.note === 'like a thermostat' && (await found('thermostat'))[0] === governor,
    },
    {
      name: 'find a page by its note',
      at: 'search',
      work: (person) => person.search('thermostat'),
      isDone: shows('The centrifugal governor'),
    },
    {
      name: 'highlight a sentence',
      at: `page/${governor}`,
      async work(person) {
        await person.see(one('.prose p'));
        const { left, right, top } = await person.tab.evaluate<DOMRect>(`(() => {
          const range = document.createRange();
          range.setStart(${one('.prose p')}.firstChild, 0);
          range.setEnd(${one('.prose p')}.firstChild, ${firstSentence.length});
          return range.getClientRects()[0].toJSON();
        })()`);
        await person.drag([
          [Math.ceil(left), Math.round(top) + 8],
          [Math.round(right), Math.round(top) + 8],
        ]);
        await person.press('h');
      },
      async isDone() {
        const quotes = [(await page(governor)).metadata?.highlights].flat().map((each) => JSON.stringify(each));
        return quotes.length === 1 && /"quote":"A governor keeps[\w ]*/.test(quotes[0] ?? '');
      },
    },
    {
      name: 'open a view from the palette',
      at: 'search',
      async work(person) {
        await person.press('Control+k');
        await person.see(one('.palette-input'));
        await person.type('jobs');
        await person.press('Enter');
      },
      isDone: (person) => person.tab.evaluate(`location.hash === '#/jobs' && ${one('.job-row')} !== null`),
    },
    {
      name: 'ask a question',
      at: 'ask',
      async work(person) {
        await person.write(one('.ask-box textarea'), 'What keeps an engine from running away?');
        await person.press('Enter');
      },
      isDone: (person) => person.tab.evaluate(`Boolean(${having('.turn .quotes', firstSentence)})`),
    },
    {
      name: 'see what was read in some weeks',
      at: 'time',
      work: (person) =>
        person.dragOver(one('.calendar'), [
          [0.3, 0.3],
          [0.4, 0.7],
        ]),
      async isDone(person) {
        const { from, to } = await periodIn(person);
        const read = pages.filter(({ fetched_at }) => fetched_at.slice(0, 10) >= from && fetched_at.slice(0, 10) <= to);
        const lead = await person.tab.evaluate<string>(`${one('.view-head .quiet')}?.textContent ?? ''`);
        return from !== '' && lead.startsWith(`${read.length} page`);
      },
    },
    {
      name: 'select pages on the map and tag them',
      at: 'map',
      async work(person) {
        await person.click(named('Lasso'));
        await person.dragOver(one('.map-frame canvas'), [
          [0.02, 0.02],
          [0.98, 0.02],
          [0.98, 0.98],
          [0.02, 0.98],
        ]);
        await person.write(one('.map-side .tag-form input'), 'read in spring');
        await person.press('Enter');
      },
      async isDone(person) {
        const shown = await person.tab.evaluate<string>(`${one('#lit')}?.textContent ?? ''`);
        const { length } = await found('tag:"read in spring"');
        return length > 20 && shown === `${length} pages`;
      },
    },
    {
      name: 'merge two names',
      at: 'names',
      async work(person) {
        await person.write(one('.view .search-box input'), 'zalu');
        await person.press('Enter');
        await person.click(named('Merge with'));
        await person.type('kodi');
        await person.click(having('dialog[open] .tag', otherLake));
      },
      isDone: async () => (await entity(otherLake)) === (await entity(lake)),
    },
    {
      name: 'undo a merge of names',
      at: 'names',
      work: (person) => person.click(named('Split')),
      isDone: async () => (await entity(otherLake)) !== (await entity(lake)),
    },
    {
      name: 'delete a page, and undo it',
      at: `page/${bread}`,
      async work(person) {
        await person.click(named('Delete page'));
        await person.click(named('Undo'));
      },
      isDone: async (person) =>
        (await person.tab.evaluate<boolean>(`Boolean(${having('.notice', 'Kept')})`)) && isThere(bread),
    },
    {
      name: 'delete a page',
      at: `page/${bread}`,
      work: (person) => person.click(named('Delete page')),
      isDone: async () => !(await isThere(bread)),
    },
    {
      name: 'add a deleted page again',
      at: 'sources',
      async work(person) {
        await person.write(one('.add-address input'), plainPages[2].url);
        await person.click(named('Unblock'));
        await person.click(one('.add-address [type="submit"]'));
      },
      isDone: async () => (await blocked()).length === 0 && (await listed(plainPages[2].url)).length === 1,
    },
    {
      name: 'block a site',
      at: `page/${lakes}`,
      async work(person) {
        await person.click(named('Block site'));
        await person.click(named('Delete site and block it'));
      },
      isDone: async () => (await blocked()).join() === 'lakes.example' && !(await isThere(String(lakes))),
    },
    {
      name: 'unblock a site',
      at: 'system',
      work: (person) => person.click(named('Unblock')),
      isDone: async () => (await blocked()).length === 0,
    },
    {
      name: 'import a file',
      at: 'sources',
      async work(person) {
        const file = join(folder, 'list.txt');
        writeFileSync(file, `${web.url('/one')}\n${web.url('/two')}\n`);
        await person.see(named('Choose files'));
        person.clicks++;
        await person.tab.chooseFile(named('Choose files'), one('.drop input'), file);
        await person.click(named('Import 2 pages'));
      },
      async isDone() {
        const { imports } = await get<ImportListResponse>('/v1/imports');
        return imports[0]?.status === 'done' && imports[0].created === 2;
      },
    },
    {
      name: 'add a page by its address',
      at: 'sources',
      async work(person) {
        await person.write(one('.add-address input'), web.url('/three'));
        await person.press('Enter');
      },
      isDone: async () => (await listed(web.url('/three')))[0]?.status === 'indexed',
    },
    {
      name: 'subscribe to a feed',
      at: 'sources',
      async work(person) {
        await person.click(named('Add a feed'));
        await person.see(one('dialog[open] input'));
        await person.type(web.url('/feed'));
        await person.press('Enter');
      },
      isDone: async () => (await get<WatchListResponse>('/v1/watches')).watches[0]?.last_status === 'ok',
    },
    {
      name: 'create a token',
      at: 'system',
      async work(person) {
        await person.click(named('New token'));
        await person.see(one('dialog[open] input'));
        await person.type('script');
        await person.press('Enter');
        await person.see(one('.secret'));
        await person.click(named('Done'));
      },
      isDone: async () => (await tokens()).tokens.some(({ name }) => name === 'script'),
    },
    {
      name: 'back up',
      at: 'system',
      work: (person) => person.click(named('Back up now')),
      isDone: async () => (await get<BackupListResponse>('/v1/admin/backups')).backups.length === 1,
    },
    {
      name: 'pair the extension',
      at: 'system',
      async work(person) {
        await person.click(named('Pair an extension'));
        await person.see(one('.pair-code'));
        const code = await person.tab.evaluate<string>(`${one('.pair-code')}.textContent`);
        const welcome = new Person(await browser.open(`${browser.pages}welcome.html`));
        await welcome.click(one('summary'));
        await welcome.click(one('input[type="url"]'));
        await welcome.press('Control+a');
        await welcome.type(service.url);
        await welcome.write(one('input.code'), code);
        await welcome.press('Enter');
        await welcome.see(one('.notice.good'));
        await welcome.tab.close();
        person.clicks += welcome.clicks;
        person.keys += welcome.keys;
      },
      isDone: async () => (await tokens()).tokens.some(({ source }) => source === 'paired'),
    },
    {
      name: 'export, in a terminal',
      at: 'search',
      async work(person) {
        person.keys += 'readback export reading.jsonl\n'.length;
        const env = { ...process.env, SERVICE_DATA_DIR: service.dataDir };
        execFileSync(process.execPath, ['dist/cli/main.js', 'export', exported], { env, stdio: 'pipe' });
      },
      async isDone() {
        const lines = readFileSync(exported, 'utf8');
        return ['machines', 'like a thermostat', '"quote":"A governor keeps'].every((text) => lines.includes(text));
      },
    },
  ];
  return tasks.filter(({ name }) => name.includes(values.task));
}

/** Views, and what is there once each has loaded. */
const views = [
  ['search', '.recent li'],
  ['search?q=steam', '[data-result]'],
  ['ask?q=what+keeps+an+engine+from+running+away', '.turn .quotes'],
  ['time', '.calendar .day:not(.level-0)'],
  ['topics', '.topic-card'],
  ['names', '.view h1'],
  ['sources', '.drop'],
  ['jobs', '.job-row'],
  ['models', '.row'],
  ['system', '.tile'],
] as const;

async function measureTasks(tasks: readonly Task[], person: Person) {
  const done: { task: string; done: boolean; clicks: number; keys: number; ms: number; why?: string }[] = [];
  for (const { name, at, work, isDone } of tasks) {
    // Another view is left first, so that each begins anew.
    await person.tab.evaluate(
      `(document.querySelectorAll('dialog[open]').forEach((each) => each.close()), location.hash = '#/models')`,
    );
    await person.see(one('.main-models .row'));
    await person.tab.evaluate(`(location.hash = '#/${at}', document.activeElement.blur())`);
    await person.see(one(`.main-${at.split('/')[0]}`));
    [person.clicks, person.keys] = [0, 0];
    const began = performance.now();
    const ended = async () => {
      await work(person);
      await until(() => isDone(person), name, patienceMs);
    };
    const why = await ended().then(
      () => undefined,
      (error: Error) => error.message,
    );
    const { clicks, keys } = person;
    const ms = Math.round(performance.now() - began);
    process.stderr.write(`${why === undefined ? 'done' : 'not done'}: ${name}\n`);
    done.push({ task: name, done: why === undefined, clicks, keys, ms, ...(why !== undefined && { why }) });
  }
  return done;
}

async function measureViews(tab: Tab, page: string) {
  const all = [...views, [`page/${page}`, '.page-side .similar li a'], ['map', '.map-side li a']] as const;
  const faults: string[] = [];
  let before: string[] = [];
  const scripts = () =>
    tab.evaluate<string[]>(
      `[...new Set(performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js')))]`,
    );
  const looks = ['light', 'dark'].flatMap((theme) => [wide, narrow].map((size) => ({ theme, size })));
  for (const { theme, size } of looks) {
    await tab.resize(size[0], size[1]);
    await tab.evaluate(`(document.documentElement.dataset.theme = '${theme}')`);
    for (const [view, ready] of all) {
      if (view === 'map' && before.length === 0) before = await scripts();
      await tab.evaluate(`(location.hash = '#/${view}')`);
      await until(() => tab.evaluate<boolean>(`${one(ready)} !== null`), view, patienceMs);
      for (const fault of await tab.faults()) faults.push(`${view}, ${theme}, ${size[0]} px: ${fault}`);
    }
  }
  await tab.evaluate('delete document.documentElement.dataset.theme');
  await tab.resize(...wide);
  return { axe: { views: looks.length * all.length, faults }, scripts: before };
}

/** Of the console in new tabs, ms. */
async function measurePaint(browser: Browser, address: string): Promise<number[]> {
  const times: number[] = [];
  const paint = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`;
  for (let load = 0; load < loads; load++) {
    const tab = await browser.open(address);
    await until(async () => (await tab.evaluate<number>(paint)) > 0, 'it is painted', patienceMs);
    times.push(Math.round(await tab.evaluate<number>(paint)));
    await tab.close();
  }
  return times;
}

async function gzippedBytes(addresses: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const address of addresses) bytes += gzipSync(await (await fetch(address)).arrayBuffer()).length;
  return bytes;
}

async function measure(start: (scope: Scope, site: Site) => Promise<Browser>) {
  const scope = new CleanUps();
  try {
    const service = await RunningService.start(scope, {
      ...realEncoder,
      ...withEntities,
      SERVICE_CLUSTER__MIN_PAGES: '5',
      SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    });
    const story = (name: string) =>
      say(`<title>${name}</title><article><p>A story about the number ${name}.</p></article>`);
    const web = await SmallWeb.open(scope, {
      ...Object.fromEntries(['one', 'two', 'three', 'four'].map((name) => [`/${name}`, story(name)])),
      '/feed': say('<rss version="2.0"><channel><title>F</title><item><link>/four</link></item></channel></rss>'),
    });
    const ids = await fillLibrary(service, pages);
    const isKnown = async () => (await service.call('GET', `/v1/entities/${encodeURIComponent(otherLake)}`)).status;
    await until(async () => (await isKnown()) === 200, 'the pages are read for names');
    const browser = await start(scope, await Site.open(scope));
    const tab = await browser.open(await linkTo(service));
    await tab.resize(...wide);
    const person = new Person(tab);
    await person.see(one('.search-box'));
    const { axe, scripts } = values.task === '' ? await measureViews(tab, ids[0]) : { axe: null, scripts: [] };
    const tasks = await measureTasks(tasksWith(service, browser, web, ids, temporaryFolder(scope)), person);
    const sum = (of: 'clicks' | 'keys' | 'ms') => tasks.reduce((all, task) => all + task[of], 0);
    const isWhole = values.task === '';
    return {
      done: `${tasks.filter(({ done }) => done).length} of ${tasks.length}`,
      clicks: sum('clicks'),
      keys: sum('keys'),
      ms: sum('ms'),
      tasks,
      first_paint_ms: isWhole ? await measurePaint(browser, service.url) : null,
      script_gzipped_bytes: await gzippedBytes(scripts),
      popup_px: isWhole ? await measurePopup(browser) : null,
      axe,
    };
  } finally {
    await scope.run();
  }
}

const browsers = { chromium: startChromium, firefox: startFirefox };
const report: Record<string, unknown> = { bench: 'session', machine: describeMachine() };
for (const [name, start] of Object.entries(browsers)) {
  if (values.browser === undefined || values.browser === name) report[name] = await measure(start);
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
