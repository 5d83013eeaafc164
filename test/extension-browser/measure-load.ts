/**
 * What the extension costs a page: time of the main thread of real pages until after they were captured, with it and without. `npm run bench:extension`; prints JSON.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { realPagesDir } from '../../bench/real-pages.ts';
import { RunningService, withoutEntities } from '../process/service.ts';
import { ChromiumWithExtension, chromiumPath } from './chromium.ts';
import { Site } from './site.ts';

const loads = Number(process.env.LOADS ?? 64);
/** Longer than reading takes, ms: a second, and the step that finds it out. */
const stayMs = 2500;
const cleanUps: (() => Promise<void>)[] = [];
const scope = { after: (cleanUp: () => Promise<void>) => void cleanUps.unshift(cleanUp) };

const site = await Site.open(scope);
const names = readFileSync(join(realPagesDir, 'pages.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line): string => JSON.parse(line).file);
for (const name of names) site.pages.set(`/${name}`, readFileSync(join(realPagesDir, name), 'utf8'));

type Context = ChromiumWithExtension['context'];

/** Ms of tasks of the main thread of each load, in order. */
async function taskTimes(context: Context): Promise<number[]> {
  const times: number[] = [];
  for (let load = 0; load < loads; load++) {
    const tab = await context.newPage();
    await tab.route('**', (route) =>
      route.request().url().includes('real.example.org') ? route.continue() : route.abort(),
    );
    const session = await context.newCDPSession(tab);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await tab.goto(`http://real.example.org/${names[load % names.length]}?${load}`, { waitUntil: 'domcontentloaded' });
    await tab.bringToFront();
    await tab.waitForTimeout(stayMs);
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    times.push(1000 * (of('ScriptDuration') + of('LayoutDuration') + of('RecalcStyleDuration')));
    await tab.close();
  }
  return times;
}

const share = (values: readonly number[], at: number): number =>
  Math.round(10 * [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(at * values.length))]) / 10;

const service = await RunningService.start(scope, withoutEntities);
const browser = await ChromiumWithExtension.start(scope, site);
await browser.pair(service);
await browser.setOptions({ seconds: 1 });
const withIt = await taskTimes(browser.context);
const captured = (await service.call<{ pages: unknown[] }>('GET', '/v1/pages?limit=500')).body.pages.length;
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
const without = await taskTimes(plain);
await plain.close();
const added = withIt.map((time, load) => time - without[load]);
const figures = (values: readonly number[]) => ({
  p50: share(values, 0.5),
  p95: share(values, 0.95),
  max: share(values, 1),
});
process.stdout.write(
  `${JSON.stringify(
    {
      unit: 'ms of script, style and layout on the main thread of a page',
      machine: `${cpus().length} cores, ${cpus()[0].model}`,
      loads,
      captured,
      with: figures(withIt),
      without: figures(without),
      added: figures(added),
    },
    null,
    2,
  )}\n`,
);
for (const cleanUp of cleanUps) await cleanUp();
