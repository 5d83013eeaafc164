/**
 * A process of its own for the test of poison pages: the real system without HTTP, in which the handler of one page ends the
 * process. Puts the pages in at its first start, waits until all are indexed or dead, prints their statuses, and leaves.
 * Settings come from the environment, as ever; POISON is the number of the page.
 */
import { pino } from 'pino';
import { readSettings } from '../../src/settings/read-settings.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { compiled } from '../app/compiled.ts';
import { until } from './service.ts';

const { startApp }: typeof import('../../src/app.ts') = await compiled('app');

const poison = Number(process.env.POISON);
const pages = Number(process.env.PAGES);

const app = await startApp({
  settings: readSettings(process.env),
  log: pino({ level: 'warn' }, process.stderr),
  metrics: createMetrics(),
  aroundIndexPage: (handler) => async (job, context) => {
    if (job.page_no === poison) process.kill(process.pid, 'SIGKILL');
    return handler(job, context);
  },
});
const ask = app.askOf('default');
const results = await ask('page.ingestBatch', {
  pages: Array.from({ length: pages }, (_, no) => ({
    url: `https://poison.example/${no + 1}`,
    body_extracted: `Page ${no + 1} is about a garden in the rain.`,
  })),
});
const page_ids = results.map((result) => ('page_id' in result ? result.page_id : result.outcome));
const statuses = async () => (await ask('page.statusBatch', { page_ids })).results;
await until(
  async () => (await statuses()).every((page) => page.found && ['indexed', 'dead'].includes(page.status)),
  'every page is indexed or dead',
);
const jobs = (await ask('job.list', { limit: 100 })).jobs;
process.stdout.write(JSON.stringify({ statuses: await statuses(), jobs }));
await app.close();
process.exit(0);
