import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressPolicy } from '../../src/compute/web/address-policy.ts';
import { hourMs, minuteMs } from '../../src/domain/durations.ts';
import { createWatchRequest } from '../../src/domain/watch.ts';
import { nameServerAnswers } from '../../src/providers/network.ts';
import { until } from '../process/service.ts';
import { FeedServer, rss } from './feed-server.ts';
import { WholeSystem } from './whole-system.ts';

test('a poll without a network leaves the watch with the reason, and goes on when the network is back', async (t) => {
  const web = await FeedServer.start(t);
  const world = { isUp: false, ahead: 0 };
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
        lookup: async () => {
          if (world.isUp) return [{ address: '127.0.0.1', family: 4 }];
          throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
        },
        probe: () =>
          nameServerAnswers(addressPolicy([]), async (name) => {
            if (world.isUp && name === 'a.gtld-servers.net') return ['192.5.6.30'];
            throw Object.assign(new Error('query'), { code: world.isUp ? 'ENOTFOUND' : 'ETIMEOUT' });
          }),
      },
    },
  );
  web.serve('/page', { body: '<title>Old</title><p>What an old bookmark was about, in a sentence or two.</p>' });
  web.serve('/feed', rss([{ link: '/page', title: 'An item' }]));
  const url = `http://feeds.test:${new URL(web.url).port}/feed`;
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
  world.ahead += minuteMs;
  // The scheduler looks at what is due by now.
  await system.read({ visitor: { title: 'A visit', text: 'Somebody came by and read a page.' } });
  await until(async () => (await watch()).last_status === 'ok', 'the feed is polled');
});
