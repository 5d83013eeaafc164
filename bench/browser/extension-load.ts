/**
 * What the extension costs a page: processor time of the main thread of real pages, loaded, and then captured at once. `npm run bench -- extension`;
 * prints JSON. The pages' own scripts and files do not run: what is compared is the browser's work, which repeats itself.
 *
 * One browser shows each page at four hosts in turns, `ROUNDS` times, each round in new tabs: two have no content script, and differ by noise
 * alone; one has a content script that is empty, so that what the browser takes for any is told apart; one has the extension's. What a page takes at
 * a host is the least of its rounds: what disturbs a load only adds to it. At a fifth host the content script is timed by itself, with the performance
 * API, until its first look at the page is over.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { ChromiumWithExtension, copyOfExtension } from '../../test/extension-browser/chromium.ts';
import { Site } from '../../test/extension-browser/site.ts';
import { RunningService } from '../../test/process/service.ts';
import { CleanUps, temporaryFolder } from '../../test/scope.ts';
import { realPagesDir } from '../real-pages.ts';

const rounds = Number(process.env.ROUNDS ?? 4);
/** After the page has nothing more to do, ms: what comes late is waited for. */
const settleMs = 100;
/** Of reading, in which the extension looks each second, ms. */
const readingMs = 15_000;
/** The extension begins to follow a page, and looks at it first, within so long of its load, ms. */
const firstLookMs = 2500;
const scope = new CleanUps();

const site = await Site.open(scope);
site.policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
site.pages.set('/blank', '<!doctype html><title>Blank</title>');
const names = readFileSync(join(realPagesDir, 'pages.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line): string => JSON.parse(line).file);
for (const name of names) site.pages.set(`/${name}`, readFileSync(join(realPagesDir, name), 'utf8'));

const kinds = ['none', 'again', 'empty', 'ours'] as const;
type Kind = (typeof kinds)[number];
const hostOf = (kind: string): string => `http://${kind}.example.org`;
const at = (kind: string): string[] => [`${hostOf(kind)}/*`];

/** The extension as it is built, for one host. */
const ours = copyOfExtension(scope, (manifest) => {
  manifest.content_scripts[0].matches = at('ours');
});

/** An extension that is nothing but an empty content script. */
const empty = temporaryFolder(scope);
writeFileSync(join(empty, 'content.js'), ';\n');
writeFileSync(
  join(empty, 'manifest.json'),
  JSON.stringify({
    manifest_version: 3,
    name: 'Empty',
    version: '1',
    content_scripts: [{ matches: at('empty'), js: ['content.js'], run_at: 'document_idle' }],
  }),
);

/** The content script alone, which notes how long its load and each of its later tasks take: measures of the page's performance timeline. */
const timed = copyOfExtension(scope, (manifest) => {
  manifest.content_scripts[0].matches = at('timed');
  delete manifest.background;
});
const script = join(timed, 'content.js');
writeFileSync(
  script,
  `const timed = (name, work) => (...given) => {
    const start = performance.now();
    try { return work(...given); } finally { performance.measure(name, { start }); }
  };
  const scheduler = { postTask: (work, options) => globalThis.scheduler.postTask(timed('later', work), options) };
  timed('load', () => {${readFileSync(script, 'utf8')}})();`,
);

/** Processor time of all tasks of the page's main thread so far, ms. */
async function spent(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
}

async function settled(tab: Page): Promise<void> {
  await tab.evaluate((ms) => new Promise((done) => requestIdleCallback(() => setTimeout(done, ms))), settleMs);
}

interface Tab {
  page: Page;
  session: CDPSession;
}

async function openTab(kind: string): Promise<Tab> {
  const page = await browser.context.newPage();
  await page.goto(`${hostOf(kind)}/blank`);
  const session = await browser.context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return { page, session };
}

/** Show a page in a tab that shows nothing; ms that it took. */
async function costOfLoad({ page, session }: Tab, kind: string, name: string): Promise<number> {
  await page.bringToFront();
  await page.goto(`${hostOf(kind)}/blank`);
  await session.send('HeapProfiler.collectGarbage');
  await settled(page);
  const before = await spent(session);
  await page.goto(`${hostOf(kind)}/${name}`, { waitUntil: 'load' });
  await settled(page);
  return (await spent(session)) - before;
}

/** What becomes of a page that is loaded takes; ms. */
async function costOf({ page, session }: Tab, work: () => Promise<unknown>): Promise<number> {
  const before = await spent(session);
  await work();
  await settled(page);
  return (await spent(session)) - before;
}

const service = await RunningService.start(scope);
const browser = await ChromiumWithExtension.start(scope, site, { loaded: [ours, empty, timed].join(',') });
await browser.pair(service);
await browser.setOptions({ seconds: 600 });

const started = performance.now();
const least = names.map((): Record<Kind, number> => ({ none: 1e9, again: 1e9, empty: 1e9, ours: 1e9 }));
for (let round = 0; round < rounds; round++) {
  const tabs = new Map<Kind, Tab>();
  for (const kind of kinds) tabs.set(kind, await openTab(kind));
  for (const [n, name] of names.entries()) {
    // Each kind comes first, and last, as often as the others.
    for (let turn = 0; turn < kinds.length; turn++) {
      const kind = kinds[(round + n + turn) % kinds.length];
      const ms = await costOfLoad(tabs.get(kind) as Tab, kind, name);
      least[n][kind] = Math.min(least[n][kind], ms);
    }
  }
  for (const { page } of tabs.values()) await page.close();
}
const seconds = (performance.now() - started) / 1000;

let captured = 0;
const captures: number[] = [];
const own: Record<'load' | 'later', number>[] = [];
const [with_, without, alone] = [await openTab('ours'), await openTab('none'), await openTab('timed')];
for (const name of names) {
  await alone.page.goto(`${hostOf('timed')}/${name}`, { waitUntil: 'load' });
  await alone.page.bringToFront();
  await alone.page.waitForTimeout(firstLookMs);
  own.push(
    await alone.page.evaluate(() => {
      const ms = { load: 0, later: 0 };
      for (const { name, duration } of performance.getEntriesByType('measure')) {
        if (name === 'load' || name === 'later') ms[name] += duration;
      }
      return ms;
    }),
  );
  await costOfLoad(with_, 'ours', name);
  const tab = await browser.tabOf(`${hostOf('ours')}/${name}`);
  const capture = await costOf(with_, async () => {
    if ((await browser.captureIn(tab)) === 'queued') captured++;
  });
  await costOfLoad(without, 'none', name);
  captures.push(capture - (await costOf(without, async () => undefined)));
}
const reading: number[] = [];
for (const tab of [with_, without]) {
  await tab.page.bringToFront();
  reading.push((await costOf(tab, () => tab.page.waitForTimeout(readingMs))) / (readingMs / 1000));
}

const rounded = (value: number): number => Math.round(100 * value) / 100;
/** Over the pages. */
function figures(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b);
  const quantile = (share: number) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
  return { p50: quantile(0.5), p95: quantile(0.95) };
}
const added = (kind: Kind, to: Kind) => figures(least.map((page) => page[kind] - page[to]));

process.stdout.write(
  `${JSON.stringify(
    {
      unit: 'ms of processor time of the main thread of a page; of the content script by itself: ms by the clock',
      machine: `${cpus().length} cores, ${cpus()[0].model}`,
      pages: names.length,
      rounds,
      seconds: Math.round(seconds),
      load: {
        without: figures(least.map(({ none }) => none)),
        added: added('ours', 'none'),
        added_by_any_content_script: added('empty', 'none'),
        added_to_an_empty_one: added('ours', 'empty'),
        /** What two hosts without one differ by. */
        noise: figures(least.map(({ none, again }) => Math.abs(none - again))),
      },
      content_script: {
        at_load: figures(own.map(({ load }) => load)),
        later_until_its_first_look: figures(own.map(({ later }) => later)),
      },
      captured,
      added_by_capture: figures(captures),
      second_of_reading: { with: rounded(reading[0]), without: rounded(reading[1]) },
    },
    null,
    2,
  )}\n`,
);
await scope.run();
