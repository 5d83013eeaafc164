import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FetchError } from '../../src/providers/fetch-error.ts';
import { networkName, openNetwork } from '../../src/providers/network.ts';
import { runBreakers } from '../actors/system/running-breakers.ts';
import { HandClock } from './hand-clock.ts';
import { Site, say } from './small-web.ts';
import { failure, fetcher, loopback, never } from './test-fetch.ts';

/** A network that is up or not, and how often that was asked. */
function setUp({ threshold = 3 } = {}) {
  const clock = new HandClock();
  const { breakers } = runBreakers({ failureThreshold: threshold, cooldownMs: 30_000 }, () => clock.monotonic());
  const world = { isUp: false, asked: 0 };
  const network = openNetwork({
    breaker: breakers.of(networkName),
    probe: async () => {
      world.asked++;
      return world.isUp;
    },
    clock,
  });
  return { clock, world, network, breaker: breakers.of(networkName) };
}

const refuse = async () => Promise.reject(new FetchError('unreachable', 'no connection (ECONNREFUSED)'));

test('a host that is not reached is at fault where the network answers, else the network is', async () => {
  const { network, world } = setUp();
  const offline = await failure(network.contact(refuse));
  assert.deepEqual(
    [offline.code, offline.message, offline.permanent, offline.retryAfterMs, offline.maxReachTries],
    ['offline', 'no network: no connection (ECONNREFUSED)', false, 30_000, null],
  );
  world.isUp = true;
  assert.equal((await failure(network.contact(refuse))).code, 'unreachable');
  assert.equal(world.asked, 2);
});

test('what answered since a contact began proves the network, too, and nobody is asked', async () => {
  const { network, world, clock } = setUp();
  const begun = failure(
    network.contact(async () => {
      await clock.sleep(2000);
      return refuse();
    }),
  );
  await clock.advance(1000);
  await network.contact(async () => 'an answer');
  await clock.advance(1000);
  assert.equal((await begun).code, 'unreachable');
  assert.equal(world.asked, 0);
  await clock.advance(1000);
  assert.equal((await failure(network.contact(refuse))).code, 'offline', 'what answered before says nothing of now');
});

test('a broken answer is one; what never came to a host says nothing', async () => {
  const { network, world, breaker } = setUp({ threshold: 1 });
  for (const [code, state] of [
    ['blocked_address', 'closed'],
    ['unreachable', 'open'],
  ] as const) {
    await failure(network.contact(async () => Promise.reject(new FetchError(code, 'told'))));
    assert.equal(breaker.state(), state, code);
  }
  assert.equal(world.asked, 1);
});

test('without a network nothing is tried but one contact after each cooldown, and one that succeeds opens the way', async () => {
  const { network, world, clock, breaker } = setUp();
  let made = 0;
  const run = async () => {
    made++;
    return refuse();
  };
  for (let i = 0; i < 3; i++) await failure(network.contact(run));
  assert.deepEqual([breaker.state(), made], ['open', 3]);
  for (let hour = 0; hour < 72 * 120; hour++) {
    await clock.advance(30_000);
    const both = await Promise.all([failure(network.contact(run)), failure(network.contact(run))]);
    assert.deepEqual(
      both.map(({ code }) => code),
      ['offline', 'offline'],
    );
  }
  assert.equal(made, 3 + 72 * 120, 'three days, one each 30 s');
  world.isUp = true;
  await clock.advance(30_000);
  assert.equal((await failure(network.contact(run))).code, 'unreachable');
  assert.equal(breaker.state(), 'closed', 'the host is down, the network is there');
});

test('a host that was not reached is not called for a minute, whoever asks; one behind a network that is away is', async (t) => {
  const clock = new HandClock();
  const { network, world } = setUp({ threshold: 100 });
  const site = await Site.open(t, { '/': say('<p>here</p>') });
  const looked: string[] = [];
  let isThere = false;
  const fetch = fetcher({
    clock,
    network,
    lookup: async (name) => {
      looked.push(name);
      if (isThere) return loopback;
      throw Object.assign(new Error('getaddrinfo'), { code: 'EAI_AGAIN' });
    },
  });
  const get = () => failure(fetch(site.url('/', 'pub.test'), { signal: never }));
  assert.equal((await get()).message, 'no network: DNS failure (EAI_AGAIN)');
  assert.equal((await get()).code, 'offline');
  assert.equal(looked.length, 2);
  world.isUp = true;
  const faults = [await get(), await get()];
  assert.deepEqual(
    faults.map(({ code, message, retryAfterMs }) => [code, message, retryAfterMs]),
    [
      ['dns', 'DNS failure (EAI_AGAIN)', undefined],
      ['dns', 'DNS failure (EAI_AGAIN)', 60_000],
    ],
  );
  assert.equal(looked.length, 3);
  isThere = true;
  await clock.advance(60_000);
  assert.equal((await fetch(site.url('/', 'pub.test'), { signal: never })).status, 200);
});
