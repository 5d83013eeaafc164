/**
 * What the extension costs a page: processor time of the main thread of real pages, loaded, and then captured at once, with the extension and
 * without. `npm run bench:extension`; prints JSON. Each page is loaded in the order with, without, without, with, so that what drifts hits
 * both; `ROUNDS` such fours a page. The pages' own scripts and files do not run: what is compared is the browser's work, which repeats itself.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { realPagesDir } from '../../bench/real-pages.ts';
import { chromiumArgs, chromiumPath } from '../chromium.ts';
import { RunningService, withoutEntities } from '../process/service.ts';
import { ChromiumWithExtension } from './chromium.ts';
import { Site } from './site.ts';

const rounds = Number(process.env.ROUNDS ?? 2);
/** After the page has nothing more to do, ms: what comes late is waited for. */
const settleMs = 150;
/** Of reading, in which the extension looks each second, ms. */
const readingMs = 20_000;
const resamples = 2000;
const cleanUps: (() => Promise<void>)[] = [];
const scope = { after: (cleanUp: () => Promise<void>) => void cleanUps.unshift(cleanUp) };

const site = await Site.open(scope);
site.policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const names = readFileSync(join(realPagesDir, 'pages.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line): string => JSON.parse(line).file);
for (const name of names) site.pages.set(`/${name}`, readFileSync(join(realPagesDir, name), 'utf8'));

/** Processor time of all tasks of the page's main thread so far, ms. */
async function spent(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
}

async function settled(tab: Page): Promise<void> {
  await tab.evaluate((ms) => new Promise((done) => requestIdleCallback(() => setTimeout(done, ms))), settleMs);
}

async function openTab(context: BrowserContext, url: string): Promise<{ tab: Page; session: CDPSession }> {
  const tab = await context.newPage();
  const session = await context.newCDPSession(tab);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await tab.goto(url, { waitUntil: 'load' });
  await tab.bringToFront();
  await settled(tab);
  return { tab, session };
}

/** Ms of a page's load, and of what comes after it: its capture, or as long without one. */
interface Cost {
  load: number;
  after: number;
}

async function costOf(context: BrowserContext, url: string, capture: () => Promise<void>): Promise<Cost> {
  const { tab, session } = await openTab(context, url);
  const load = await spent(session);
  await capture();
  await settled(tab);
  const after = (await spent(session)) - load;
  await tab.close();
  return { load, after };
}

/** Ms of each second of a page that is read on. */
async function costOfReading(context: BrowserContext): Promise<number> {
  const { tab, session } = await openTab(context, `http://real.example.org/${names[0]}?reading`);
  const before = await spent(session);
  await tab.waitForTimeout(readingMs);
  const after = await spent(session);
  await tab.close();
  return (after - before) / (readingMs / 1000);
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
    ...chromiumArgs,
    '--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable',
    `--host-resolver-rules=MAP *.example.org 127.0.0.1:${site.port}`,
  ],
});
scope.after(() => plain.close());

let captured = 0;
const captureNow = async (): Promise<void> => {
  if ((await browser.captureActive()) === 'queued') captured++;
};
const nothing = async (): Promise<void> => undefined;
const withIt = (url: string): Promise<Cost> => costOf(browser.context, url, captureNow);
const without = (url: string): Promise<Cost> => costOf(plain, url, nothing);

/** One round of a page: what the extension added, and what two loads of the same kind differ by; ms. */
interface Added {
  load: number;
  capture: number;
  both: number;
  noise: number;
}
const added = names.map((): Added[] => []);
const started = performance.now();
for (let round = 0; round < rounds; round++) {
  for (const [at, name] of names.entries()) {
    const url = `http://real.example.org/${name}?${round}`;
    const a1 = await withIt(url);
    const b1 = await without(url);
    const b2 = await without(`${url}b`);
    const a2 = await withIt(`${url}b`);
    const load = (a1.load + a2.load - b1.load - b2.load) / 2;
    const capture = (a1.after + a2.after - b1.after - b2.after) / 2;
    added[at].push({
      load,
      capture,
      both: load + capture,
      noise: Math.abs(b1.load + b1.after - b2.load - b2.after) / 2,
    });
  }
}
const loads = 4 * rounds * names.length;
const seconds = (performance.now() - started) / 1000;
const reading = [await costOfReading(browser.context), await costOfReading(plain)];

const rounded = (value: number): number => Math.round(100 * value) / 100;
const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const quantile = (values: readonly number[], share: number): number =>
  sorted(values)[Math.min(values.length - 1, Math.floor(share * values.length))];
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Numbers in [0, 1), the same each time. */
let drawn = 7;
const random = (): number => {
  drawn = (drawn * 48_271) % 2_147_483_647;
  return drawn / 2_147_483_647;
};
const drawFrom = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)];

/** A share of the pages' means, with the interval that 95 % of resampled rounds give. */
function estimate(kind: keyof Added, share: number) {
  const of = (draw: (page: Added[]) => Added[]) =>
    quantile(
      added.map((page) => mean(draw(page).map((round) => round[kind]))),
      share,
    );
  const again = Array.from({ length: resamples }, () => of((page) => page.map(() => drawFrom(page))));
  return {
    ms: rounded(of((page) => page)),
    from: rounded(quantile(again, 0.025)),
    to: rounded(quantile(again, 0.975)),
  };
}
const figures = (kind: keyof Added) => ({ p50: estimate(kind, 0.5), p95: estimate(kind, 0.95) });

process.stdout.write(
  `${JSON.stringify(
    {
      unit: 'ms of processor time of the main thread of a page',
      machine: `${cpus().length} cores, ${cpus()[0].model}`,
      pages: names.length,
      rounds,
      loads,
      seconds: Math.round(seconds),
      captured,
      added_by_load: figures('load'),
      added_by_capture: figures('capture'),
      added_in_all: figures('both'),
      /** What two loads without it differ by, halved as the above. */
      noise: figures('noise'),
      second_of_reading: { with: rounded(reading[0]), without: rounded(reading[1]) },
    },
    null,
    2,
  )}\n`,
);
for (const cleanUp of cleanUps) await cleanUp();
