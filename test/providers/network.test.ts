import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressPolicy } from '../../src/compute/web/address-policy.ts';
import { FetchError } from '../../src/providers/fetch-error.ts';
import { nameServerAnswers, networkName, openNetwork } from '../../src/providers/network.ts';
import { runBreakers } from '../actors/system/running-breakers.ts';
import { pluck } from '../rows.ts';
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
  const facts = [offline.code, offline.message, offline.permanent, offline.retryAfterMs, offline.maxReachTries];
  assert.deepEqual(facts, ['offline', 'no network: no connection (ECONNREFUSED)', false, 30_000, null]);
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

test('a broken answer is one; a literal address says nothing; what a network can cause that answers for others is asked about', async () => {
  for (const [code, told, asked] of [
    ['broken_answer', 'broken_answer', 0],
    ['blocked_address', 'blocked_address', 0],
    ['unreachable', 'offline', 1],
    ['blocked_name', 'offline', 1],
    ['blocked_redirect', 'offline', 1],
    ['tls', 'offline', 1],
  ] as const) {
    const { network, world, breaker } = setUp({ threshold: 1 });
    const contact = () => failure(network.contact(async () => Promise.reject(new FetchError(code, 'told'))));
    assert.deepEqual([(await contact()).code, world.asked], [told, asked], code);
    assert.equal(breaker.state(), told === 'offline' ? 'open' : 'closed', code);
  }
});

test('where the name server does not lie, a name that leads inside does so for good, and the network is there', async () => {
  const { network, world, clock, breaker } = setUp({ threshold: 1 });
  const contact = () => failure(network.contact(async () => Promise.reject(new FetchError('blocked_name', 'told'))));
  assert.equal((await contact()).permanent, false);
  assert.equal(breaker.state(), 'open');
  world.isUp = true;
  await clock.advance(30_000);
  const error = await contact();
  assert.deepEqual([error.code, error.permanent, breaker.state()], ['blocked_name', true, 'closed']);
});

test('the name server knows the world where it knows what is there, and what is not', async () => {
  const lasting = ['192.5.6.30'];
  const failing = (code: string) => Object.assign(new Error('query'), { code });
  const cases: [what: string, lasting: string[] | Error, madeUp: string[] | Error, expected: boolean][] = [
    ['it tells the truth', lasting, failing('ENOTFOUND'), true],
    ['it tells the truth in other words', lasting, failing('ENODATA'), true],
    ['it shows advertisements for what is not there', lasting, ['203.119.1.1'], true],
    ['nobody answers', failing('ETIMEOUT'), failing('ETIMEOUT'), false],
    ['it does not know', lasting, failing('ESERVFAIL'), false],
    ['it denies everything', failing('ENOTFOUND'), failing('ENOTFOUND'), false],
    ['all names lead inside', ['10.0.0.1'], ['10.0.0.1'], false],
    ['all names lead inside, each elsewhere', ['198.18.0.5'], ['198.18.0.6'], false],
    ['all new names lead inside', lasting, ['10.0.0.1'], false],
    ['all names lead to one place outside', ['203.119.1.1'], ['203.119.1.1'], false],
  ];
  for (const [what, known, unknown, expected] of cases) {
    const asked: string[] = [];
    const answers = await nameServerAnswers(addressPolicy([]), async (name) => {
      asked.push(name);
      const answer = name === 'a.gtld-servers.net' ? known : unknown;
      if (answer instanceof Error) throw answer;
      return answer;
    });
    assert.equal(answers, expected, what);
    assert.match(asked.join(' '), /^a\.gtld-servers\.net [\da-f]{24}\.com$/);
  }
  const proxied = addressPolicy(['198.18.0.0/15']);
  const resolve = async (name: string) => [name.endsWith('.net') ? '198.18.0.5' : '198.18.0.6'];
  assert.equal(await nameServerAnswers(proxied, resolve), true, 'the operator says that the world is there');
});

test('somebody else than the host who answers with TLS of his own is a host that is away, or no network', async (t) => {
  const clock = new HandClock();
  const { network, world } = setUp({ threshold: 100 });
  const site = await Site.open(t, { '/': say('<p>Pay for the network first</p>') });
  const fetch = fetcher({ clock, network, lookup: async () => loopback });
  const get = () => failure(fetch(site.url('/', 'pub.test').replace('http:', 'https:'), { signal: never }));
  const offline = await get();
  assert.equal(offline.code, 'offline');
  assert.match(offline.message, /^no network: TLS failure/);
  world.isUp = true;
  const [first, second] = [await get(), await get()];
  assert.deepEqual([first.code, first.permanent, first.maxReachTries], ['tls', false, 32]);
  assert.deepEqual([second.code, second.retryAfterMs], ['tls', 60_000], 'it is not called for a minute');
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
    assert.deepEqual(pluck(both, 'code'), ['offline', 'offline']);
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
