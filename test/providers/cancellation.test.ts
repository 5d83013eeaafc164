/** Check C32 where the providers are: a caller that leaves takes its calls with it. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { callsTo } from './calls-to.ts';
import { startFakeProvider } from './fake-provider-server.ts';

test('two hundred callers that leave end their calls, sockets and all, long before those time out', async (t) => {
  const server = await startFakeProvider(t, { dim: 16 });
  server.faultOf = (_, nth) => (nth % 2 === 0 ? { kind: 'hang' } : { kind: 'drip', everyMs: 50 });
  const calls = callsTo(server, { timeoutMs: 3_600_000, failureThreshold: 1 });
  const callers = Array.from({ length: 200 }, () => new AbortController());
  const settled = Promise.allSettled(
    callers.map(({ signal }, i) => {
      if (i % 3 === 0) return calls.embedder.embed(['text'], 'query', { signal });
      if (i % 3 === 1) return calls.reranker.rerank('query', ['text'], { signal });
      return calls.chat.complete([{ role: 'user', content: 'text' }], { signal });
    }),
  );
  await server.received(200);
  assert.equal(server.pending, 200);
  for (const caller of callers) caller.abort(new Error('gone'));
  for (const outcome of await settled) {
    assert.equal(outcome.status === 'rejected' ? outcome.reason.message : 'answered', 'gone');
  }
  await server.idle();
  await server.disconnected();
  for (const { signal } of callers) assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(calls.breaker(), 'closed', 'a caller that leaves says nothing about the provider');
});

test('a signal that serves many calls keeps nothing of those that ended', async (t) => {
  const server = await startFakeProvider(t, { dim: 16 });
  const { embedder } = callsTo(server);
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) await embedder.embed([`text ${i}`], 'query', { signal });
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
