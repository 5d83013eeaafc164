/** Contract section: Events. The stream of job changes: its opening, its events, its comments, its limit. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import type { JobListResponse, JobResponse } from '../../src/domain/job.ts';
import { EventStream } from './event-stream.ts';
import { until, withEntities } from './service.ts';
import { readToken, sharedService } from './shared-service.ts';

const maxSubscribers = 3;
const shared = sharedService({
  ...withEntities,
  SERVICE_EVENTS__MAX_SUBSCRIBERS: String(maxSubscribers),
  SERVICE_EVENTS__HEARTBEAT_S: '0.2',
  SERVICE_JOBS__MAX_ATTEMPTS: '2',
  SERVICE_JOBS__BACKOFF_BASE_S: '0.05',
  SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
});
const open: EventStream[] = [];
afterEach(async () => {
  for (const stream of open.splice(0)) stream.close();
  if (!shared.isRunning) return;
  await until(async () => /^event_subscribers 0$/m.test(await shared.found('/metrics')), 'all have left');
});

async function subscribe(token = readToken): Promise<EventStream> {
  const stream = await EventStream.open(shared.service.url, token);
  open.push(stream);
  return stream;
}

type Change = JobResponse & { page_id?: string };

/** Post a page and read its jobs' changes until one is as wanted. */
async function changesOf(page: object, last: (change: Change) => boolean): Promise<Change[]> {
  const stream = await subscribe();
  await stream.next();
  const { body } = await shared.post<{ page_id: string }>('/v1/pages', page);
  const own = (changes: readonly { data: unknown }[]) =>
    changes.map(({ data }) => data as Change).filter(({ page_id }) => page_id === body.page_id);
  return own(await stream.until((events) => own(events).some(last)));
}

test('it is an event stream for every valid token, one that may only read among them', async () => {
  const { headers } = await subscribe();
  assert.match(headers.get('content-type') ?? '', /^text\/event-stream/);
});

test('it opens with a snapshot in the shape of the job list, of the current jobs', async () => {
  await shared.add([{ url: 'https://events.example/1', body_extracted: 'A page before the stream.' }]);
  await until(async () => {
    const { jobs } = await shared.found<JobListResponse>('/v1/jobs');
    return jobs.length >= 2 && jobs.every(({ status }) => status === 'done');
  }, 'all jobs are done');
  const stream = await subscribe();
  assert.deepEqual(await stream.next(), { name: 'snapshot', data: await shared.found('/v1/jobs') });
});

test('each change of a job is one event of the name job: pending, running, done', async () => {
  const page = { url: 'https://events.example/2', body_extracted: 'A page of the stream.' };
  const changes = await changesOf(page, ({ kind, status }) => kind === 'extract_entities' && status === 'done');
  const of = (wanted: string) => changes.filter(({ kind }) => kind === wanted).map(({ status }) => status);
  assert.deepEqual(of('index_page'), ['pending', 'running', 'done']);
  // A job that another has served, as the encoder's that saw the names, does not run.
  assert.deepEqual(
    of('extract_entities').filter((status) => status !== 'running'),
    ['pending', 'done'],
  );
});

test('an event has the fields of a job and the page that it works on', async () => {
  const page = { url: 'https://events.example/3', body_extracted: 'Another page.' };
  const [change] = await changesOf(page, ({ status }) => status === 'done');
  const { created_at, updated_at, job_id, page_id, ...rest } = change;
  assert.match(job_id, /^jb_/);
  assert.match(page_id ?? '', /^pg_/);
  assert.ok(Date.parse(created_at) <= Date.parse(updated_at), 'dated');
  assert.deepEqual(rest, { kind: 'index_page', status: 'pending', attempts: 0, max_attempts: 2, last_error: null });
});

test('attempts that fail are told as failed, and the last one as dead', async (t) => {
  // What another attempt might find otherwise.
  const broken = createServer((_request, response) => response.writeHead(500).end()).listen(0, '127.0.0.1');
  t.after(() => broken.close());
  await once(broken, 'listening');
  const { port } = broken.address() as AddressInfo;
  const changes = await changesOf({ url: `http://127.0.0.1:${port}/` }, ({ status }) => status === 'dead');
  assert.deepEqual(
    changes.map(({ status, attempts }) => [status, attempts]),
    [
      ['pending', 0],
      ['running', 1],
      ['failed', 1],
      ['pending', 1],
      ['running', 2],
      ['dead', 2],
    ],
  );
  assert.ok((changes.at(-1)?.last_error ?? '').length > 0, 'the reason is told');
});

test('a retry of a dead job is told as pending', async () => {
  const stream = await subscribe();
  await stream.next();
  const [job] = (await shared.found<JobListResponse>('/v1/jobs?status=dead')).jobs;
  await shared.post(`/v1/jobs/${job.job_id}/retry`);
  // Jobs of the tests before may still be told of.
  const isOwn = ({ data }: { data: unknown }) => (data as Change).job_id === job.job_id;
  const [event] = (await stream.until((events) => events.some(isOwn))).filter(isOwn);
  const { job_id, status, attempts } = event.data as Change;
  assert.deepEqual([event.name, job_id, status, attempts], ['job', job.job_id, 'pending', 0]);
});

test('comments keep a silent stream alive', async () => {
  const stream = await subscribe();
  await stream.next();
  let event = await stream.next();
  while (event?.name === 'job') event = await stream.next();
  assert.deepEqual(event, { name: ':', data: null });
});

test('beyond events.max_subscribers it is 503, and there is room again when one has left', async () => {
  for (let no = 0; no < maxSubscribers; no++) await subscribe();
  const { status, body, headers } = await shared.call<{ detail: string }>('GET', '/v1/events');
  assert.deepEqual([status, Object.keys(body), typeof body.detail], [503, ['detail'], 'string']);
  assert.ok(Number(headers.get('retry-after')) > 0, 'when to come again');
  open.shift()?.close();
  await until(async () => {
    const response = await fetch(`${shared.service.url}/v1/events`, {
      headers: { authorization: `Bearer ${readToken}` },
    });
    await response.body?.cancel();
    return response.status === 200;
  }, 'there is room again');
});

test('a stop ends the streams in order', async () => {
  const stream = await subscribe();
  await stream.next();
  const stopping = shared.service.stop();
  while ((await stream.next()) !== null);
  await stopping;
});
