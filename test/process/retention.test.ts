/** A start with a wrong clock: what is kept for some days is kept. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { JobListResponse } from '../../src/domain/job.ts';
import type { QueryLogListResponse } from '../../src/domain/query-log.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import { Cli } from '../cli/run-cli.ts';
import { RunningService, until } from './service.ts';
import { ShiftedClock } from './shifted-clock.ts';

const clock = ShiftedClock.build();
const skip = typeof clock === 'string' ? clock : false;
after(() => {
  if (typeof clock !== 'string') clock.remove();
});

test('a start with the clock 90 days ahead keeps searches, judgements, jobs and metrics, and reports it', {
  skip,
}, async (t) => {
  if (typeof clock === 'string') return;
  const service = await RunningService.start(t, clock.env);
  const page = { url: 'https://a.example/', title: 'Herons', body_extracted: 'Herons wade in shallow water.' };
  const page_id = await service.add(page);
  const { body: found } = await service.call<SearchResponse>('POST', '/v1/search', { query: 'herons' });
  const { query_id } = found;
  await service.call('POST', '/v1/feedback', { query_id, page_id, relevant: true });
  const kept = async () => {
    const log = await service.call<QueryLogListResponse>('GET', '/v1/admin/query-log');
    const jobs = await service.call<JobListResponse>('GET', '/v1/jobs');
    return { runs: log.body, jobs: jobs.body.jobs.map(({ job_id, status }) => [job_id, status]) };
  };
  await until(async () => (await kept()).jobs.every(([, status]) => status === 'done'), 'nothing runs any more');
  const before = await kept();
  assert.deepEqual(
    before.runs.runs.map((run) => [run.query_id, run.feedback]),
    [[query_id, { [page_id]: true }]],
  );
  await service.stop();

  clock.set(91 * 86_400);
  await service.start();
  await until(() => /the clock is 91 days ahead of the last event/.test(service.output), 'it is logged');
  assert.deepEqual(await kept(), before);
  await service.stop();
  const cli = new Cli(service.home, clock.env);
  const { store } = await cli.json<{ store: { clock_days_ahead: number } }>(['status'], 3);
  assert.equal(store.clock_days_ahead, 91);
  const { checks } = await cli.json<{ checks: { name: string; state: string }[] }>(['doctor']);
  assert.equal(checks.find(({ name }) => name === 'clock')?.state, 'warn');

  // The first deletions end before a stop does.
  clock.set(0);
  await service.start();
  assert.deepEqual(await kept(), before);
  await service.stop();
});
