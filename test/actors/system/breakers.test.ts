import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderError } from '../../../src/providers/resilient-call.ts';
import { runBreakers } from './running-breakers.ts';

const policy = { failureThreshold: 5, cooldownMs: 30_000 };

function setup() {
  let now = 0;
  const running = runBreakers(policy, () => now);
  const fail = () => Promise.reject(new ProviderError('voyage', 'failing', 'answered 500', { status: 500 }));
  const voyage = running.breakers.of('voyage');
  const failures = async (count: number) => {
    for (let i = 0; i < count; i++) await assert.rejects(voyage.call(fail), { code: 'failing' });
  };
  return { ...running, voyage, fail, failures, turn: (ms: number) => (now += ms) };
}

test('five failures in a row open the breaker of that provider alone, and the log says so', async () => {
  const { breakers, voyage, failures, lines } = setup();
  await failures(4);
  await voyage.call(async () => 'fine');
  await failures(4);
  await breakers.of('llm').call(async () => 'fine');
  assert.deepEqual(breakers.states(), [
    { name: 'voyage', state: 'closed' },
    { name: 'llm', state: 'closed' },
  ]);
  await failures(1);
  assert.deepEqual(breakers.states(), [
    { name: 'voyage', state: 'open' },
    { name: 'llm', state: 'closed' },
  ]);
  const { provider, before, state } = JSON.parse(lines[0]);
  assert.deepEqual({ provider, before, state }, { provider: 'voyage', before: 'closed', state: 'open' });
  assert.equal(lines.length, 1);
});

test('a failed probe opens the breaker for another cooldown, a cancelled one leaves the next call to probe', async () => {
  const { breakers, voyage, failures, turn } = setup();
  await failures(5);
  turn(30_000);
  await failures(1);
  await assert.rejects(
    voyage.call(async () => 0),
    { code: 'breaker_open', retryAfterMs: 30_000 },
  );
  turn(30_000);
  await assert.rejects(
    voyage.call(() => Promise.reject(new DOMException('gone', 'AbortError'))),
    { name: 'AbortError' },
  );
  assert.deepEqual(breakers.states(), [{ name: 'voyage', state: 'open' }]);
  assert.equal(await voyage.call(async () => 'probe'), 'probe');
});

test('answers that blame the request, and errors that are not the provider’s, are no failures', async () => {
  const { breakers, voyage } = setup();
  const harmless = [
    new ProviderError('voyage', 'refused', 'answered 400', { status: 400 }),
    new ProviderError('voyage', 'unauthorized', 'answered 401', { status: 401 }),
    new ProviderError('voyage', 'bad_answer', 'unusable vectors: row 0: nan'),
    new TypeError('a bug'),
  ];
  for (const error of [...harmless, ...harmless])
    await assert.rejects(
      voyage.call(() => Promise.reject(error)),
      error,
    );
  assert.deepEqual(breakers.states(), [{ name: 'voyage', state: 'closed' }]);
});
