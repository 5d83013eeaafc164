/**
 * Whether the console's memory grows while it looks at jobs: events stream in, the service is restarted again and again, and the page connects anew. The
 * heap is taken after a collection. `npm run bench -- console-memory`; prints JSON.
 *
 *   npm run bench -- console-memory --minutes 10 --every 20     ten minutes instead of an hour, a page every 20 ms instead of 250
 */
import { parseArgs } from 'node:util';
import { signedIn, startBrowser } from '../../test/console/browser.ts';
import { RunningService, until } from '../../test/process/service.ts';
import { CleanUps } from '../../test/scope.ts';
import { describeMachine } from '../machine.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, every: { type: 'string', default: '250' } },
});
const minutes = Number(values.minutes);
/** Between two pages that are handed in, ms; each is a job that changes some three times. */
const pageEveryMs = Number(values.every);
const restartEveryMinutes = 2;
/** As many as the list shows, so that it is full before the first look. */
const shownJobs = 200;

const scope = new CleanUps();
const service = await RunningService.start(scope);
const browser = await startBrowser(scope);
const { page, show } = await signedIn(browser, service, { allowed: /./ });
const session = await page.context().newCDPSession(page);
await session.send('Performance.enable');

let jobs = 0;
const handIn = async () => {
  const number = ++jobs;
  const body_extracted = `Page number ${number} is read by nobody, and indexed while its job is looked at.`;
  await service.call('POST', '/v1/pages', {
    url: `https://soak.example/${number}`,
    title: `Page ${number}`,
    body_extracted,
  });
};
const isLive = () => page.locator('.live-live').waitFor();

interface Sample {
  minute: number;
  jobs: number;
  heap_mb: number;
  nodes: number;
  listeners: number;
}
const began = performance.now();
const minutesSince = () => (performance.now() - began) / 60_000;
async function look(): Promise<Sample> {
  // Twice: what finalizers let go of goes with the second.
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  return {
    minute: Math.round(minutesSince() * 10) / 10,
    jobs,
    heap_mb: Math.round(of('JSHeapUsedSize') / 1e4) / 100,
    nodes: of('Nodes'),
    listeners: of('JSEventListeners'),
  };
}

await show('#/jobs');
await isLive();
for (let n = 0; n < shownJobs; n++) await handIn();
await until(async () => (await page.locator('.job-row').count()) === shownJobs, 'the list is full');
const samples = [await look()];
let reconnections = 0;
let nextRestart = restartEveryMinutes;
let nextLook = 1;
while (minutesSince() < minutes) {
  await handIn();
  await page.waitForTimeout(pageEveryMs);
  if (minutesSince() >= nextRestart) {
    nextRestart = minutesSince() + restartEveryMinutes;
    const { port } = new URL(service.url);
    await service.stop();
    await page.locator('.live-connecting').waitFor();
    await service.start({ SERVICE_BIND_PORT: port });
    await isLive();
    reconnections++;
  }
  if (minutesSince() >= nextLook) {
    nextLook = minutesSince() + 1;
    samples.push(await look());
  }
}
await handIn();
await page
  .locator('.job-row', { hasText: `Page ${jobs}` })
  .first()
  .waitFor();
samples.push(await look());

/** Least squares of the heap over time, of all but the first fifth: what is loaded late is there by then. */
function growthPerHour(): number {
  const late = samples.slice(Math.floor(samples.length / 5));
  const meanOf = (of: (sample: Sample) => number) => late.reduce((sum, sample) => sum + of(sample), 0) / late.length;
  const [minute, heap] = [meanOf((sample) => sample.minute), meanOf((sample) => sample.heap_mb)];
  const covariance = meanOf((sample) => (sample.minute - minute) * (sample.heap_mb - heap));
  return Math.round((60 * 100 * covariance) / meanOf((sample) => (sample.minute - minute) ** 2)) / 100;
}
const report = {
  bench: 'console-memory',
  machine: describeMachine(),
  minutes,
  jobs,
  reconnections,
  heap_mb: { start: samples[0].heap_mb, end: samples[samples.length - 1].heap_mb, growth_per_hour: growthPerHour() },
  samples,
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
await scope.run();
