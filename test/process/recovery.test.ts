/** What a service finds and does when the process before it was killed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import type { JobListResponse } from '../../src/domain/job.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { embedderAt, RunningService, until, withoutModel } from './service.ts';

const maxAttempts = 2;

const sentence = 'The ferryman counts his passengers twice and the gulls once, and writes both numbers on the wall. ';

test('jobs that ran when the process was killed run again at once, and each page is indexed once', async (t) => {
  const provider = await startFakeProvider(t, { dim: 16 });
  const service = await RunningService.start(t, {
    ...embedderAt(provider.url),
    SERVICE_RESILIENCE__EMBED_TIMEOUT_S: '3600',
    SERVICE_JOBS__LEASE_MINUTES: '600', // which nobody waits for
  });
  // Jobs run until they are let go on, whatever the machine does meanwhile.
  let letGo = () => {};
  const after = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  provider.faultOf = () => ({ kind: 'late', after });
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
    pages: Array.from({ length: 6 }, (_, no) => ({
      url: `https://ferry.example/${no}`,
      body_extracted: `Crossing ${no}. ${sentence.repeat(40)}`,
    })),
  });
  const jobs = async (query: string) => (await service.call<JobListResponse>('GET', `/v1/jobs?${query}`)).body.jobs;
  await until(async () => (await jobs('status=running')).length > 1, 'some jobs run');
  const killedAt = Math.max(...(await jobs('status=running')).map(({ updated_at }) => Date.parse(updated_at)));
  await service.kill();
  await service.start();
  const running = await jobs('status=running');
  assert.ok(
    running.every(({ updated_at }) => Date.parse(updated_at) > killedAt),
    'no job is still held by the dead process',
  );
  await until(async () => (await jobs('status=running')).length > 0, 'one of them runs again');
  letGo();

  const ids = body.results.map(({ page_id }) => page_id);
  assert.deepEqual(new Set(await service.settled(ids)), new Set(['indexed']));
  const indexing = await jobs('limit=1000&kind=index_page');
  assert.equal(indexing.length, ids.length);
  assert.deepEqual(
    indexing.filter(({ attempts }) => attempts !== 1),
    [],
    'a crash in company costs nobody an attempt',
  );
  await service.stop();
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report), JSON.stringify(report));
});

test('a page whose handler ends the process is dead after its attempts, and the other pages are indexed', async (t) => {
  const service = RunningService.prepare(t);
  const script = join(import.meta.dirname, 'poisoned-service.ts');
  const sourceLoader = join(import.meta.dirname, '../../scripts/tsx-in-threads.mjs');
  const pages = 2;
  const poison = 1;
  let crashes = 0;
  let last = spawnSync(process.execPath, ['--version'], { encoding: 'utf8' });
  do {
    last = spawnSync(process.execPath, ['--import', sourceLoader, script], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        READBACK_THREADS: 'compiled',
        SERVICE_DATA_DIR: service.dataDir,
        ...withoutModel,
        SERVICE_JOBS__MAX_ATTEMPTS: String(maxAttempts),
        POISON: String(poison),
        PAGES: String(pages),
      },
    });
    if (last.signal === 'SIGKILL') crashes++;
  } while (last.signal === 'SIGKILL' && crashes <= maxAttempts + 1);
  assert.equal(last.status, 0, last.stderr);
  // The first crash may have been in company: it is not counted.
  assert.ok(crashes === maxAttempts || crashes === maxAttempts + 1, `${crashes} crashes`);
  const { statuses, jobs } = JSON.parse(last.stdout) as {
    statuses: { status: string; last_error: string | null }[];
    jobs: JobListResponse['jobs'];
  };
  const expected = Array.from({ length: pages }, (_, no) => (no + 1 === poison ? 'dead' : 'indexed'));
  assert.deepEqual(
    statuses.map(({ status }) => status),
    expected,
  );
  assert.equal(statuses[poison - 1].last_error, 'the process ended each time this job ran alone');
  assert.deepEqual(
    jobs.filter(({ status }) => status === 'dead').map(({ attempts }) => attempts),
    [maxAttempts],
  );
});
