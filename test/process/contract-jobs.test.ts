/** Contract section: Jobs. Fetches that fail, retries, the list; who may write, what is counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobListResponse, JobResponse, JobRetryBatchResponse } from '../../src/domain/job.ts';
import type { PageResponse, PageStatusResponse } from '../../src/domain/page.ts';
import { until, withoutModel } from './service.ts';
import { sharedService } from './shared-service.ts';

/** One attempt, so that a page which cannot be fetched is dead at once. */
const shared = sharedService({ ...withoutModel, SERVICE_JOBS__MAX_ATTEMPTS: '1' });

test('a page without a body waits for its fetch, and a retry brings it back from the dead', async () => {
  const id = await shared.addPage({ url: 'http://127.0.0.1:9/nowhere/page' });
  assert.deepEqual(await shared.service.settled([id]), ['dead']);
  const { body: page } = await shared.get<PageResponse>(`/v1/pages/${id}`);
  assert.deepEqual([page.body_text, page.indexed_at, page.status], [null, null, 'dead']);
  const { body: status } = await shared.get<PageStatusResponse>(`/v1/pages/${id}/status`);
  assert.equal(status.status, 'dead');
  assert.ok((status.last_error ?? '').length > 10, 'the reason is told');

  const { jobs } = (await shared.get<JobListResponse>('/v1/jobs?kind=fetch_and_index&status=dead&limit=1')).body;
  const [job] = jobs;
  assert.deepEqual(job, {
    job_id: job.job_id,
    kind: 'fetch_and_index',
    status: 'dead',
    attempts: 1,
    max_attempts: 1,
    last_error: status.last_error,
    created_at: job.created_at,
    updated_at: job.updated_at,
  });
  const { status: code, body: retried } = await shared.post<JobResponse>(`/v1/jobs/${job.job_id}/retry`, undefined);
  assert.equal(code, 200);
  assert.deepEqual(
    [retried.job_id, retried.status, retried.attempts, retried.last_error],
    [job.job_id, 'pending', 0, null],
  );
  assert.deepEqual(await shared.service.settled([id]), ['dead']);
});

test('a page whose fetch died stays dead when a visit brings nothing new', async () => {
  const url = 'http://127.0.0.1:9/nowhere/again';
  const id = await shared.addPage({ url });
  await shared.service.settled([id]);
  const { status, body } = await shared.post('/v1/pages', { url });
  assert.deepEqual(
    { status, body },
    { status: 200, body: { page_id: id, status: 'dead', revisit: true, content_hash_differs: false } },
  );
});

test('only dead jobs are retried: one by one, by ids and by selection', async () => {
  const id = await shared.addIndexed({ url: 'https://retry.example/', body_extracted: 'Done.' });
  const { jobs: done } = (await shared.get<JobListResponse>('/v1/jobs?status=done&limit=1')).body;
  assert.equal((await shared.post(`/v1/jobs/${done[0].job_id}/retry`, undefined)).status, 409);
  assert.equal((await shared.post('/v1/jobs/jb_zzzzzzzz/retry', undefined)).status, 404);
  assert.equal((await shared.post(`/v1/jobs/${id}/retry`, undefined)).status, 404);

  const dead = await Promise.all(
    [1, 2, 3].map((no) => shared.addPage({ url: `http://127.0.0.1:9/nowhere/dead-${no}` })),
  );
  await shared.service.settled(dead);
  const { jobs } = (await shared.get<JobListResponse>('/v1/jobs?status=dead&limit=3')).body;
  const [a, b] = jobs.map(({ job_id }) => job_id);
  const { body } = await shared.post<JobRetryBatchResponse>('/v1/jobs/retry', {
    job_ids: [a, 'jb_zzzzzzzz', done[0].job_id, a, b, 'jb_zzzzzzzz'],
    kind: 'cluster',
    limit: 1,
  });
  assert.deepEqual([body.requested, body.retried], [4, 2]);
  assert.deepEqual(
    body.results.map((result) => [result.job_id, result.outcome]),
    [
      [a, 'retried'],
      ['jb_zzzzzzzz', 'not_found'],
      [done[0].job_id, 'skipped'],
      [b, 'retried'],
    ],
  );
  assert.deepEqual(body.results[2], {
    job_id: done[0].job_id,
    status: 'done',
    outcome: 'skipped',
    detail: 'detail' in body.results[2] ? body.results[2].detail : '',
  });
  await shared.service.settled(dead);
  const deadJobs = (await shared.get<JobListResponse>('/v1/jobs?status=dead&limit=1000')).body.jobs;
  assert.deepEqual((await shared.post('/v1/jobs/retry', { job_ids: [] })).body, {
    requested: 0,
    retried: 0,
    results: [],
  });
  assert.deepEqual((await shared.post('/v1/jobs/retry', { kind: 'index_page' })).body, {
    requested: 0,
    retried: 0,
    results: [],
  });
  const selected = await shared.post<JobRetryBatchResponse>('/v1/jobs/retry', { kind: 'fetch_and_index', limit: 2 });
  assert.deepEqual([selected.body.requested, selected.body.retried], [2, 2]);
  await shared.service.settled(dead);
  await until(
    async () =>
      (await shared.get<JobListResponse>('/v1/jobs?status=dead&limit=1000')).body.jobs.length === deadJobs.length,
    'all are dead again',
  );
  const all = await shared.post<JobRetryBatchResponse>('/v1/jobs/retry', undefined);
  assert.deepEqual([all.status, all.body.retried], [200, Math.min(100, deadJobs.length)]);
  await shared.service.settled(dead);
});

test('jobs are listed newest first, filtered by status and kind, and never under two names of one filter', async () => {
  const { jobs } = (await shared.get<JobListResponse>('/v1/jobs?limit=1000')).body;
  const ids = jobs.map(({ job_id }) => job_id);
  assert.deepEqual(ids, [...ids].sort().reverse());
  const done = (await shared.get<JobListResponse>('/v1/jobs?status_filter=done&kind=index_page&limit=1000')).body.jobs;
  assert.deepEqual(
    done.map(({ job_id }) => job_id),
    jobs.filter(({ status, kind }) => status === 'done' && kind === 'index_page').map(({ job_id }) => job_id),
  );
  assert.equal((await shared.get<JobListResponse>('/v1/jobs?limit=2')).body.jobs.length, 2);
  for (const query of ['status=done&status_filter=done', 'status=finished', 'kind=dance', 'limit=0', 'limit=1001']) {
    const { status, body } = await shared.get<{ detail: { loc: string[]; msg: string; type: string }[] }>(
      `/v1/jobs?${query}`,
    );
    assert.equal(status, 422, query);
    assert.equal(body.detail[0].loc[0], 'query');
  }
  assert.deepEqual((await shared.get('/v1/jobs?kind=poll_watch&other=1')).body, { jobs: [] });
});
