/**
 * The wall clock jumps two hours ahead and back, and the process sleeps for longer than a lease, each while a page is being fetched: the
 * attempt loses its lease, the job is rescued and ends once, a watch is polled once for all the times that were missed.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import { rss } from '../../test/app/feed-server.ts';
import { metric } from '../../test/process/samples.ts';
import { RunningService, until } from '../../test/process/service.ts';
import { ShiftedClock } from '../../test/process/shifted-clock.ts';

const clock = ShiftedClock.build();
const skip = typeof clock === 'string' ? clock : false;
after(() => {
  if (typeof clock !== 'string') clock.remove();
});

const jumpS = 7_200;
const leaseS = 60;

/** The first request for a page is not answered, the next ones are. */
async function stubbornWeb() {
  const asked: string[] = [];
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const isFirst = !asked.includes(path);
    asked.push(path);
    if (path === '/feed') response.writeHead(200, rss([]).headers).end(rss([]).body);
    else if (isFirst) held.push(response);
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(`The tide table of ${path}. `.repeat(30));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, close, countOf: (path: string) => asked.filter((each) => each === path).length };
}

test('a clock that jumps and a process that sleeps lose leases and no job', { skip, timeout: 450_000 }, async (t) => {
  if (typeof clock === 'string') return;
  const web = await stubbornWeb();
  t.after(web.close);
  const service = await RunningService.start(t, {
    ...clock.env,
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_FETCH__TIMEOUT_S: '600',
    SERVICE_FETCH__PER_HOST_GAP_MS: '0',
    SERVICE_JOBS__LEASE_MINUTES: String(leaseS / 60),
    SERVICE_JOBS__HANDLER_TIMEOUT_S: '600',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.1',
  });
  const linesWith = (text: string) => service.output.split(text).length - 1;
  const done = () => metric(service, 'job_changes_total{kind="fetch_and_index",status="done"}');
  const ids: string[] = [];
  /** Have a page fetched, do this while it is, and see that it comes in all the same, by its second fetch. */
  const whileFetching = async (path: string, disturb: () => Promise<void>) => {
    const lost = linesWith('an attempt has lost its lease');
    const { body } = await service.call<{ page_id: string }>('POST', '/v1/pages', { url: `${web.url}${path}` });
    await until(() => web.countOf(path) === 1, 'it is being fetched');
    await disturb();
    assert.deepEqual(await service.settled([body.page_id], 120_000), ['indexed'], path);
    assert.equal(web.countOf(path), 2, path);
    const leaseWasLost = () => linesWith('an attempt has lost its lease') > lost;
    await until(leaseWasLost, `${path}: the first attempt finds that it has lost its lease`, 2 * leaseS * 1000);
    ids.push(body.page_id);
    await until(async () => (await done()) >= ids.length, 'the job is done');
    assert.equal(await done(), ids.length, 'each job is done once');
  };

  const watch = await service.call<{ id: string }>('POST', '/v1/watches', {
    url: `${web.url}/feed`,
    kind: 'rss',
    interval_hours: 1,
  });
  assert.ok(watch.status < 300, JSON.stringify(watch.body));
  await until(() => web.countOf('/feed') === 1, 'the feed is polled', 90_000);

  await whileFetching('/ahead', async () => clock.set(jumpS));
  await until(() => web.countOf('/feed') === 2, 'the feed is polled once for all that was missed', 90_000);
  // Back in time nothing is due, and what is done stays done.
  clock.set(0);
  await delay(65_000);
  assert.equal(web.countOf('/feed'), 2);
  assert.equal((await service.call('GET', '/readyz')).status, 200);

  await whileFetching('/asleep', async () => {
    service.signal('SIGSTOP');
    await delay((leaseS + 5) * 1000);
    service.signal('SIGCONT');
  });
  await service.stop();
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report) && report.missing === 0, JSON.stringify(report));
});
