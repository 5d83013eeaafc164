/** A start with a wrong clock: what is kept for some days is kept. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { jobListQuery } from '../../src/domain/job.ts';
import { queryLogQuery } from '../../src/domain/query-log.ts';
import { Cli } from '../cli/run-cli.ts';
import { until } from '../process/service.ts';
import { ShiftedClock } from '../process/shifted-clock.ts';
import { listOf } from '../rows.ts';
import { library, WholeSystem } from './whole-system.ts';

const daysAhead = 91;

test('a start with the clock 90 days ahead keeps searches, judgements, jobs and metrics, and reports it', async (t) => {
  let shiftMs = 0;
  const system = await WholeSystem.start(t, {}, { now: () => Date.now() + shiftMs });
  const { heron: page_id } = await system.read({ heron: library.heron });
  const { query_id } = await system.search('herons');
  await system.ask('feedback.give', { query_id, page_id, relevant: true });
  const kept = async () => {
    const { runs } = await system.ask('queryLog.list', queryLogQuery.parse({}));
    const { jobs } = await system.ask('job.list', jobListQuery.parse({}));
    return { runs: await listOf(runs), jobs: jobs.map(({ job_id, status }) => [job_id, status]) };
  };
  await until(async () => (await kept()).jobs.every(([, status]) => status === 'done'), 'nothing runs any more');
  const before = await kept();
  assert.deepEqual(
    before.runs.map((run) => [run.query_id, run.feedback]),
    [[query_id, { [page_id]: true }]],
  );
  await system.stop();

  shiftMs = daysAhead * 86_400_000;
  await system.start();
  const isReported = () => system.logged.some(({ msg }) => /the clock is 91 days ahead of the last event/.test(msg));
  await until(isReported, 'it is logged');
  assert.deepEqual(await kept(), before);
  await system.stop();
  const clock = ShiftedClock.build();
  if (typeof clock === 'string') t.diagnostic(clock);
  else {
    t.after(() => clock.remove());
    clock.set(daysAhead * 86_400);
    const cli = new Cli(dirname(system.dataDir), clock.env);
    const { store } = await cli.json<{ store: { clock_days_ahead: number } }>(['status'], 3);
    assert.equal(store.clock_days_ahead, daysAhead);
    const { checks } = await cli.json<{ checks: { name: string; state: string }[] }>(['doctor']);
    assert.equal(checks.find(({ name }) => name === 'clock')?.state, 'warn');
  }

  // The first deletions end before a stop does.
  shiftMs = 0;
  await system.start();
  assert.deepEqual(await kept(), before);
});
