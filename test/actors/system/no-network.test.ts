import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createJob } from '../../../src/commands/move-job.ts';
import { heldByNetwork } from '../../../src/composition/job-limits.ts';
import { minuteMs } from '../../../src/domain/durations.ts';
import { FetchError } from '../../../src/providers/fetch-error.ts';
import { networkName, openNetwork } from '../../../src/providers/network.ts';
import { Workshop } from '../workshop.ts';
import { runBreakers } from './running-breakers.ts';

const halfMinute = 30_000;
const noConnection = new FetchError('unreachable', 'no connection (ECONNREFUSED)');
const hours = (count: number) => count * 60 * minuteMs;

/** A scheduler whose fetch jobs go through a network that is up or not; every host is down, or answers. */
async function setUp(t: TestContext) {
  const workshop = await Workshop.open();
  t.after(() => workshop[Symbol.asyncDispose]());
  const monotonic = () => workshop.clock.now();
  const { breakers } = runBreakers({ failureThreshold: 5, cooldownMs: halfMinute }, monotonic);
  const breaker = breakers.of(networkName);
  const world = { isUp: false, hostFault: null as FetchError | null, tried: [] as number[] };
  const network = openNetwork({ breaker, probe: async () => world.isUp, clock: { monotonic } });
  workshop.held = () => heldByNetwork(breaker);
  workshop.start({}, { fetch: 3 });
  /** Let every attempt that is under way come to its end. */
  const answer = async () => {
    for (;;) {
      await workshop.settle();
      const works = workshop.works.splice(0);
      if (works.length === 0) return;
      for (const { job, done, fail } of works) {
        const contact = network.contact(async () => {
          world.tried.push(job.no);
          if (!world.isUp) throw noConnection;
          if (world.hostFault !== null) throw world.hostFault;
        });
        await contact.then(() => done(), fail);
      }
    }
  };
  const pass = async (ms: number, step = halfMinute) => {
    for (let left = ms; left > 0; left -= step) {
      await workshop.pass(Math.min(step, left), step);
      await answer();
    }
  };
  const add = async (count: number) => {
    const jobs = await workshop.commit((transaction) =>
      Array.from({ length: count }, () =>
        createJob(transaction, { kind: 'fetch_and_index', page_no: null, max_attempts: 5, at: workshop.now }),
      ),
    );
    await answer();
    return jobs.map(({ no }) => no);
  };
  return { workshop, world, breaker, add, pass, answer };
}

test('without a network pages wait uncounted, one is tried each half minute, and all go on in order within a minute', async (t) => {
  const { workshop, world, breaker, add, pass } = await setUp(t);
  const outage = 20 * minuteMs;
  const numbers = await add(40);
  await pass(outage);
  const rows = () => numbers.map((no) => workshop.job(no));
  assert.equal(breaker.state(), 'open');
  assert.ok(rows().every(({ status, attempts, unreached }) => status === 'pending' && attempts === 0 && !unreached));
  assert.equal(workshop.job(numbers[0]).last_error, 'no network: no connection (ECONNREFUSED)');
  const probes = outage / halfMinute;
  assert.ok(world.tried.length <= probes + 5, `${world.tried.length} tries`);
  assert.ok(world.tried.length >= probes / 2, `${world.tried.length} tries`);

  const waiting = rows().sort((a, b) => a.run_at - b.run_at || a.no - b.no);
  world.isUp = true;
  world.tried = [];
  await pass(minuteMs);
  assert.ok(rows().every(({ status, last_error }) => status === 'done' && last_error === null));
  assert.deepEqual(
    world.tried,
    waiting.map(({ no }) => no),
    'each once, those that have waited longest first',
  );
});

test('a machine that wakes up after days goes on, whatever it slept through', async (t) => {
  const { workshop, world, add, pass } = await setUp(t);
  const numbers = await add(20);
  // Only the wall clock knows how long that was.
  workshop.clockSetBy += hours(24 * 9);
  await pass(2 * minuteMs);
  assert.ok(numbers.every((no) => workshop.job(no).status === 'pending' && workshop.job(no).attempts === 0));
  world.isUp = true;
  await pass(minuteMs);
  assert.ok(numbers.every((no) => workshop.job(no).status === 'done'));
});

test('one page that waits for the network alone goes on within a minute, too, and is not given up', async (t) => {
  const { workshop, world, add, pass } = await setUp(t);
  const [no] = await add(1);
  await pass(hours(1), minuteMs);
  assert.deepEqual([workshop.job(no).status, workshop.job(no).attempts], ['pending', 0]);
  world.isUp = true;
  await pass(minuteMs);
  assert.equal(workshop.job(no).status, 'done');
});

for (const [what, fault] of [
  ['a host that is down', noConnection],
  ['a host whose certificate is wrong', new FetchError('tls', 'TLS failure (CERT_HAS_EXPIRED)')],
  ['a redirect inside', new FetchError('blocked_redirect', 'blocked address')],
] as const) {
  test(`${what} is tried for days, more and more seldom, and then the page is dead and says why`, async (t) => {
    const { workshop, world, breaker, add, pass } = await setUp(t);
    world.isUp = true;
    world.hostFault = fault;
    const [no] = await add(1);
    const outcome = () => [workshop.job(no).status, workshop.job(no).attempts, workshop.job(no).last_error];
    assert.deepEqual(outcome(), ['failed', 0, fault.message]);
    await pass(hours(48), hours(1));
    assert.equal(workshop.job(no).status, 'failed');
    assert.equal(breaker.state(), 'closed');
    await pass(hours(24 * 6), hours(1));
    assert.deepEqual(outcome(), ['dead', 0, fault.message]);
    assert.equal(world.tried.length, 32);
  });
}
