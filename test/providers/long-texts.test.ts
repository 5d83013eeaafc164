/** Texts near and over what a model reads, at servers that refuse long ones and at servers that do not. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { callsTo, dim } from './calls-to.ts';
import { startFakeProvider } from './fake-provider-server.ts';

const server = await startFakeProvider({ after }, { dim });

const maxInputTokens = 512;
/** As long as English words are on average: five bytes each with their space. */
const english = (words: number) => Array.from({ length: words }, (_, i) => `w${String(i).padStart(3, '0')}`).join(' ');
const inputsFrom = (earlier: number) => server.calls.slice(earlier).map(({ body }) => body.input as string[]);

/** A server that counts a token for so many bytes and refuses what has too many. */
const refuseAbove = (bytesPerToken: number) => {
  server.faultOf = ({ body }) =>
    (body.input as string[]).some((text) => Buffer.byteLength(text) / bytesPerToken > maxInputTokens)
      ? { kind: 'status', status: 400 }
      : undefined;
};

test('a chunk that the model can read is sent whole, in one request', async () => {
  refuseAbove(5);
  const earlier = server.calls.length;
  const chunk = english(448);
  await callsTo(server, { maxInputTokens }).embedder.embed([chunk, 'short'], 'document');
  assert.deepEqual(inputsFrom(earlier), [[chunk, 'short']]);
});

test('where the server refuses a text, it is cut no further than it has to be, and its neighbours stay whole', async () => {
  const chunk = english(600);
  for (const [bytesPerToken, requests] of [
    [4, 2],
    [3, 3],
    [2, 4],
  ] as const) {
    refuseAbove(bytesPerToken);
    const earlier = server.calls.length;
    await callsTo(server, { maxInputTokens }).embedder.embed([chunk, 'short'], 'document');
    const inputs = inputsFrom(earlier);
    assert.equal(inputs.length, requests);
    assert.deepEqual(inputs[0], [chunk, 'short']);
    assert.deepEqual(inputs.at(-1), [chunk.slice(0, bytesPerToken * maxInputTokens), 'short']);
  }
});

test('a refusal that is not about length is told at once, and one that no cut helps against in the end', async () => {
  server.faultOf = () => ({ kind: 'status', status: 400 });
  const { embedder, breaker } = callsTo(server, { maxInputTokens });
  const earlier = server.calls.length;
  await assert.rejects(embedder.embed(['short'], 'document'), { code: 'refused' });
  assert.equal(server.calls.length, earlier + 1);
  await assert.rejects(embedder.embed([english(600)], 'document'), { code: 'refused' });
  assert.equal(server.calls.length, earlier + 5);
  assert.equal(breaker(), 'closed');
});

test('what no tokenizer would take is not even sent, and other faults are not answered by cutting', async () => {
  server.faultOf = () => undefined;
  const { embedder } = callsTo(server, { maxInputTokens });
  const earlier = server.calls.length;
  await embedder.embed(['x'.repeat(100_000)], 'query');
  assert.deepEqual(inputsFrom(earlier), [['x'.repeat(8 * maxInputTokens)]]);
  server.faultOf = () => ({ kind: 'status', status: 503 });
  await assert.rejects(embedder.embed([english(600)], 'document'), { code: 'failing' });
  assert.equal(server.calls.length, earlier + 2);
});

test('Voyage and Cohere cut long texts themselves', async () => {
  server.faultOf = () => undefined;
  for (const [provider, path] of [
    ['voyage', '/v1'],
    ['cohere', '/v2'],
  ] as const) {
    const text = 'x'.repeat(10_000);
    await callsTo(server, { provider, path, maxInputTokens }).embedder.embed([text], 'document');
    const { body } = server.calls[server.calls.length - 1];
    assert.deepEqual(body.input ?? body.texts, [text]);
  }
});
