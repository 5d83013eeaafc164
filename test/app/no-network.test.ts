import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressPolicy } from '../../src/compute/web/address-policy.ts';
import { hourMs, minuteMs } from '../../src/domain/durations.ts';
import { createWatchRequest } from '../../src/domain/watch.ts';
import { nameServerAnswers } from '../../src/providers/network.ts';
import { until } from '../process/service.ts';
import { FeedServer, rss } from './feed-server.ts';
import { WholeSystem } from './whole-system.ts';

/**
 * A library that is imported on a machine without a network, whose name server is silent, or lies: all names lead inside. As soon as there
 * is a network they lead to this machine, but those of `nas`, which is inside.
 */
async function setUp(t: Parameters<typeof WholeSystem.start>[0]) {
  const web = await FeedServer.start(t);
  const world = { isUp: false, lies: false, ahead: 0 };
  const system = await WholeSystem.start(
    t,
    {
      SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
      SERVICE_FETCH__PER_HOST_GAP_MS: '0',
      SERVICE_WATCH__POLL_TICK_ENABLED: 'false',
    },
    {
      now: () => Date.now() + world.ahead,
      monotonic: () => performance.now() + world.ahead,
      web: {
        lookup: async (name) => {
          if (world.lies || name.startsWith('nas')) return [{ address: '10.0.0.1', family: 4 }];
          if (world.isUp) return [{ address: '127.0.0.1', family: 4 }];
          throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
        },
        probe: () =>
          nameServerAnswers(addressPolicy([]), async (name) => {
            if (world.lies) return ['10.0.0.1'];
            if (world.isUp && name === 'a.gtld-servers.net') return ['192.5.6.30'];
            throw Object.assign(new Error('query'), { code: world.isUp ? 'ENOTFOUND' : 'ETIMEOUT' });
          }),
      },
    },
  );
  const port = new URL(web.url).port;
  const fetchJobs = async () => (await system.ask('job.list', { kind: 'fetch_and_index', limit: 1000 })).jobs;
  const atRest = () =>
    until(async () => (await fetchJobs()).every(({ status }) => status !== 'running'), 'nothing is being fetched');
  let woken = 0;
  /** Time passes, and somebody comes by: the scheduler looks at what is due by now. */
  const pass = async (ms: number) => {
    world.ahead += ms;
    await system.read({ [`visitor-${woken++}`]: { title: 'A visit', text: 'Somebody came by and read a page.' } });
    await atRest();
  };
  const urlOf = (host: string) => `http://${host}.test:${port}/page`;
  web.serve('/page', { body: '<title>Old</title><p>What an old bookmark was about, in a sentence or two.</p>' });
  return { web, world, system, pass, urlOf, fetchJobs, atRest };
}

test('an import behind a name server that answers for every name waits; a name that leads inside without that is blocked', async (t) => {
  const { world, system, pass, urlOf, fetchJobs, atRest } = await setUp(t);
  world.lies = true;
  const hosts = Array.from({ length: 32 }, (_, i) => `site-${i}`);
  await system.ask('page.ingestBatch', { pages: [...hosts, 'nas'].map((host) => ({ url: urlOf(host) })) });
  await atRest();
  for (let times = 0; times < 4; times++) await pass(6 * hourMs);
  assert.deepEqual(
    [...new Set((await fetchJobs()).map(({ status, attempts }) => `${status} ${attempts}`))],
    ['pending 0'],
  );
  world.lies = false;
  world.isUp = true;
  await pass(minuteMs);
  const statuses = async () => (await fetchJobs()).map(({ status }) => status).sort();
  await until(async () => (await statuses()).join() === `dead,${hosts.map(() => 'done').join()}`, 'one is dead');
  const [nas] = (await fetchJobs()).filter(({ status }) => status === 'dead');
  assert.deepEqual([nas.attempts, nas.last_error], [1, 'blocked address: fetch.allow_private_hosts does not list it']);
});

test('a poll without a network leaves the watch with the reason, and goes on when the network is back', async (t) => {
  const { web, world, system, pass, urlOf } = await setUp(t);
  web.serve('/feed', rss([{ link: '/page', title: 'An item' }]));
  const url = urlOf('feeds').replace('/page', '/feed');
  const { id } = await system.ask('watch.create', createWatchRequest.parse({ url }));
  const created = await system.ask('watch.run', { watch_id: id });
  const watch = () => system.ask('watch.get', { watch_id: id });
  await until(async () => (await watch()).last_status === 'error', 'the watch says that the poll failed');
  const { last_error, next_run_at, enabled } = await watch();
  assert.deepEqual([last_error, enabled], ['no network: DNS failure (ENOTFOUND)', true]);
  assert.ok(Date.parse(next_run_at) > Date.now() + 23 * hourMs);
  const { jobs } = await system.ask('job.list', { kind: 'poll_watch', limit: 10 });
  assert.deepEqual(
    jobs.map(({ job_id, status, attempts }) => [job_id, status, attempts]),
    [[created.job_id, 'pending', 0]],
  );
  world.isUp = true;
  await pass(minuteMs);
  await until(async () => (await watch()).last_status === 'ok', 'the feed is polled');
});
