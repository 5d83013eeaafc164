/** Check C29 where the providers are: every fault of a provider, met by each of the three kinds of call, becomes one typed error. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '../../src/providers/clock.ts';
import type { ProviderFault } from '../../src/providers/resilient-call.ts';
import { type Calls, callsTo } from './calls-to.ts';
import { type Fault, startFakeProvider } from './fake-provider-server.ts';
import { HandClock } from './hand-clock.ts';

const attempts = 2;

interface Expected {
  code: ProviderFault;
  /** Calls that the provider got: 2 where another try makes sense. */
  calls: 1 | 2;
  /** What the breaker says afterwards. */
  breaker: 'closed' | 'open';
  status?: number;
  retryAfterMs?: number;
}

/** The breaker's threshold is 2, so that it is open exactly after two failures. */
const matrix: [string, Fault, Expected][] = [
  ['400', { kind: 'status', status: 400 }, { code: 'refused', calls: 1, breaker: 'closed', status: 400 }],
  ['401', { kind: 'status', status: 401 }, { code: 'unauthorized', calls: 1, breaker: 'closed', status: 401 }],
  [
    '429 with a short Retry-After',
    { kind: 'status', status: 429, headers: { 'retry-after': '0.02' } },
    { code: 'busy', calls: 2, breaker: 'open', status: 429, retryAfterMs: 20 },
  ],
  [
    '429 with a long Retry-After',
    { kind: 'status', status: 429, headers: { 'retry-after': '120' } },
    { code: 'busy', calls: 1, breaker: 'closed', status: 429, retryAfterMs: 120_000 },
  ],
  ['500', { kind: 'status', status: 500 }, { code: 'failing', calls: 2, breaker: 'open', status: 500 }],
  ['424', { kind: 'status', status: 424 }, { code: 'failing', calls: 2, breaker: 'open', status: 424 }],
  ['a hang', { kind: 'hang' }, { code: 'timeout', calls: 2, breaker: 'open' }],
  ['a reset in mid body', { kind: 'reset' }, { code: 'unreachable', calls: 2, breaker: 'open' }],
  ['one byte at a time', { kind: 'drip', everyMs: 20 }, { code: 'timeout', calls: 2, breaker: 'open' }],
  ['HTML with status 200', { kind: 'html' }, { code: 'not_json', calls: 2, breaker: 'open' }],
  ['broken JSON', { kind: 'badJson' }, { code: 'not_json', calls: 2, breaker: 'open' }],
  ['a body of 100 MB', { kind: 'huge', bytes: 100_000_000 }, { code: 'too_large', calls: 1, breaker: 'closed' }],
  ['a gzip bomb', { kind: 'gzipBomb', bytes: 64_000_000 }, { code: 'not_json', calls: 2, breaker: 'open' }],
  [
    'a redirect',
    { kind: 'status', status: 307, headers: { location: '/v1/elsewhere' } },
    { code: 'redirected', calls: 1, breaker: 'closed', status: 307 },
  ],
];

const kinds: Record<string, (calls: Calls) => Promise<unknown>> = {
  embed: ({ embedder }) => embedder.embed(['a secret text', 'another'], 'document'),
  rerank: ({ reranker }) => reranker.rerank('a secret query', ['a secret text', 'another']),
  chat: ({ chat }) => chat.complete([{ role: 'user', content: 'a secret text' }]),
};

const server = await startFakeProvider({ after }, { dim: 16, apiKey: 'sk-secret' });

for (const [name, fault, expected] of matrix) {
  for (const [kind, call] of Object.entries(kinds)) {
    test(`${name}, met by ${kind}, is ${expected.code} after ${expected.calls} calls`, async () => {
      const clock = expected.code === 'timeout' ? new HandClock() : systemClock;
      const timeoutMs = clock instanceof HandClock ? 5000 : 3_600_000;
      const calls = callsTo(server, { clock, timeoutMs, attempts, failureThreshold: 2, apiKey: 'sk-secret' });
      const earlier = server.calls.length;
      server.faultOf = () => fault;
      const rejected = assert.rejects(call(calls), (error: Error & Record<string, unknown>) => {
        const { code, status, retryAfterMs } = error;
        assert.deepEqual(
          { name: error.name, code, status, retryAfterMs },
          { name: 'ProviderError', code: expected.code, status: expected.status, retryAfterMs: expected.retryAfterMs },
        );
        assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)} ${error.cause}`, /secret|log in/);
        return true;
      });
      for (let nth = 1; clock instanceof HandClock && nth <= attempts; nth++) {
        await server.received(earlier + nth);
        await clock.advance(5010); // the time of a try, and the pause after it
      }
      await rejected;
      assert.equal(server.calls.length - earlier, expected.calls);
      assert.equal(calls.breaker(), expected.breaker);
      await server.idle();
      assert.equal(server.pending, 0, 'no call goes on behind its error');

      server.faultOf = () => undefined;
      if (expected.breaker === 'closed') await call(calls);
    });
  }
}

test('a provider that is not there is unreachable, and the error says why', async () => {
  const gone = await startFakeProvider(null, { dim: 16 });
  await gone.close();
  await assert.rejects(callsTo(gone).embedder.embed(['text'], 'query'), {
    code: 'unreachable',
    message: 'provider openai: cannot be reached (ECONNREFUSED)',
  });
});

test('a kept connection that the provider closes in the meantime is no failure', async () => {
  const { embedder, breaker } = callsTo(server, { apiKey: 'sk-secret', failureThreshold: 1 });
  const earlier = server.calls.length;
  server.faultOf = (_, nth) => (nth === earlier + 2 ? { kind: 'hangUp' } : undefined);
  await embedder.embed(['first'], 'query');
  await embedder.embed(['second'], 'query');
  assert.equal(server.calls.length, earlier + 3, 'the second went out again on a new connection');

  server.faultOf = () => ({ kind: 'hangUp' });
  await assert.rejects(embedder.embed(['third'], 'query'), { code: 'unreachable', message: /ECONNRESET/ });
  assert.equal(server.calls.length, earlier + 5, 'a new connection that breaks is a failure');
  assert.equal(breaker(), 'open');
});

test('an answer without end is cut off at its bound and the connection ends', async () => {
  server.faultOf = () => ({ kind: 'huge', bytes: 10_000_000_000 });
  const { embedder } = callsTo(server, { apiKey: 'sk-secret' });
  await assert.rejects(embedder.embed(['text'], 'query'), {
    code: 'too_large',
    message: `provider openai: the answer is larger than ${64 * 1024 + 16 * 32} bytes`,
  });
  await server.idle();
});
