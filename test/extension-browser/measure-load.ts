/**
 * What the extension costs a page: time of the main thread of real pages, loaded and captured, with it and without, in turns.
 * `npm run bench:extension`; prints JSON. `ROUNDS`: how often each page is loaded; what a page costs is the median of its rounds.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { realPagesDir } from '../../bench/real-pages.ts';
import { chromiumPath } from '../chromium.ts';
import { RunningService, withoutEntities } from '../process/service.ts';
import { ChromiumWithExtension } from './chromium.ts';
import { Site } from './site.ts';

const rounds = Number(process.env.ROUNDS ?? 3);
/** After the load, until the page has nothing more to do, ms. */
const settleMs = 400;
/** Of reading, in which the extension looks each second, ms. */
const readingMs = 20_000;
const cleanUps: (() => Promise<void>)[] = [];
const scope = { after: (cleanUp: () => Promise<void>) => void cleanUps.unshift(cleanUp) };

const site = await Site.open(scope);
const names = readFileSync(join(realPagesDir, 'pages.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line): string => JSON.parse(line).file);
for (const name of names) site.pages.set(`/${name}`, readFileSync(join(realPagesDir, name), 'utf8'));

/** Ms so far: `work` is script, its compilation, style and layout; `tasks` is all that the main thread did. */
interface Spent {
  work: number;
  tasks: number;
}

async function spent(session: CDPSession): Promise<Spent> {
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string) => 1000 * (metrics.find((metric) => metric.name === name)?.value ?? 0);
  const work = of('ScriptDuration') + of('V8CompileDuration') + of('LayoutDuration') + of('RecalcStyleDuration');
  return { work, tasks: of('TaskDuration') };
}

async function openTab(context: BrowserContext, url: string): Promise<{ tab: Page; session: CDPSession }> {
  const tab = await context.newPage();
  await tab.route('**', (route) => (route.request().url() === url ? route.continue() : route.abort()));
  const session = await context.newCDPSession(tab);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await tab.goto(url, { waitUntil: 'load' });
  await tab.bringToFront();
  await tab.waitForTimeout(settleMs);
  return { tab, session };
}

/** What a page costs that is loaded and, with the extension, captured at once. */
async function costOf(context: BrowserContext, url: string, capture: (url: string) => Promise<void>): Promise<Spent> {
  const { tab, session } = await openTab(context, url);
  await capture(url);
  await tab.waitForTimeout(settleMs / 2);
  const cost = await spent(session);
  await tab.close();
  return cost;
}

/** Ms of each second of a page that is read on. */
async function costOfReading(context: BrowserContext): Promise<number> {
  const { tab, session } = await openTab(context, `http://real.example.org/${names[0]}?reading`);
  const before = await spent(session);
  await tab.waitForTimeout(readingMs);
  const after = await spent(session);
  await tab.close();
  return (after.tasks - before.tasks) / (readingMs / 1000);
}

const service = await RunningService.start(scope, withoutEntities);
const browser = await ChromiumWithExtension.start(scope, site);
await browser.pair(service);
await browser.setOptions({ seconds: 600 });
const plain = await chromium.launchPersistentContext('', {
  executablePath: chromiumPath,
  headless: false,
  viewport: { width: 1000, height: 700 },
  args: [
    ...['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    '--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable',
    `--host-resolver-rules=MAP *.example.org 127.0.0.1:${site.port}`,
  ],
});
scope.after(() => plain.close());

let captured = 0;
async function captureNow(url: string): Promise<void> {
  if ((await browser.captureNow(url)) === 'queued') captured++;
}

const nothing = async () => undefined;
/** Of each page, of each round: with the extension, without it, and without it again. */
const costs = names.map((): [extended: Spent, plain: Spent, again: Spent][] => []);
for (let round = 0; round < rounds; round++) {
  for (const [at, name] of names.entries()) {
    const url = `http://real.example.org/${name}?${round}`;
    const without = await costOf(plain, url, nothing);
    const withIt = await costOf(browser.context, url, captureNow);
    const again = await costOf(plain, `${url}-again`, nothing);
    costs[at].push([withIt, without, again]);
  }
}
const reading = [await costOfReading(browser.context), await costOfReading(plain)];

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const rounded = (value: number): number => Math.round(100 * value) / 100;
const figures = (values: readonly number[]) => {
  const share = (at: number) => rounded(sorted(values)[Math.min(values.length - 1, Math.floor(at * values.length))]);
  return { p50: share(0.5), p95: share(0.95), max: share(1) };
};
const median = (values: readonly number[]): number => sorted(values)[values.length >> 1];
const compare = (kind: keyof Spent) => {
  const of = (which: 0 | 1 | 2) => costs.map((page) => median(page.map((round) => round[which][kind])));
  const [withIt, without, again] = [of(0), of(1), of(2)];
  return {
    with: figures(withIt),
    without: figures(without),
    added: figures(withIt.map((ms, page) => ms - (without[page] + again[page]) / 2)),
    /** What two measurements of the same differ by. */
    noise: figures(again.map((ms, page) => Math.abs(ms - without[page]))),
  };
};
process.stdout.write(
  `${JSON.stringify(
    {
      unit: 'ms of the main thread of a page, loaded and captured; median of the rounds of each page',
      machine: `${cpus().length} cores, ${cpus()[0].model}`,
      pages: names.length,
      rounds,
      captured,
      script_style_layout: compare('work'),
      all_tasks: compare('tasks'),
      second_of_reading: { with: rounded(reading[0]), without: rounded(reading[1]) },
    },
    null,
    2,
  )}\n`,
);
for (const cleanUp of cleanUps) await cleanUp();
