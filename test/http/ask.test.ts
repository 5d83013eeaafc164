import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { AskResponse } from '../../src/domain/ask.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { stopListening } from '../../src/http/listen.ts';
import { type Answers, bearer, listenAnywhere, rawHead, reader, testServer, writer } from './test-server.ts';

const answer: AskResponse = {
  ...{ kind: 'none', question: 'Herons?', quotes: [], pages: [], period: null, no_results: null },
  ...{ language_model: null, sent: null, generated: null, timing_ms: {} },
};
const events = { accept: 'text/event-stream' };
const answering: Answers = {
  'search.ask': async ({ report }) => {
    report?.({ event: 'quotes', data: answer });
    report?.({ event: 'sentence', data: { text: 'Fish.\n', quotations: [] } });
    return answer;
  },
};

const asking = (answers: Answers, t: { after(run: () => unknown): void }) => {
  const { app, asked } = testServer(t as never, answers);
  const ask = (payload: object, headers: Record<string, string> = {}, token = writer) =>
    app.inject({ method: 'POST', url: '/v1/ask', payload, headers: { ...bearer(token), ...headers } });
  return { app, asked, ask };
};

test('a question is answered whole, or as events where the client takes them', async (t) => {
  const { ask } = asking(answering, t);
  const whole = await ask({ question: 'Herons?' });
  assert.deepEqual([whole.statusCode, whole.json()], [200, answer]);
  const streamed = await ask({ question: 'Herons?' }, events);
  assert.equal(streamed.headers['content-type'], 'text/event-stream', streamed.body);
  const sent = [
    `event: quotes\ndata: ${JSON.stringify(answer)}\n\n`,
    String.raw`event: sentence${'\n'}data: {"text":"Fish.\n","quotations":[]}${'\n\n'}`,
    `event: done\ndata: ${JSON.stringify(answer)}\n\n`,
  ];
  assert.equal(streamed.body, sent.join(''));
});

test('a model needs the scope to write, a preview of it does not', async (t) => {
  const { asked, ask } = asking(answering, t);
  const status = async (fields: object, token: string, headers = {}) =>
    (await ask({ question: 'Herons?', ...fields }, headers, token)).statusCode;
  assert.equal(await status({}, reader), 200);
  assert.equal(await status({ use_model: true, preview: true }, reader), 200);
  assert.equal(await status({ use_model: true }, writer), 200);
  const before = asked.length;
  for (const headers of [{}, events]) {
    const refused = await ask({ question: 'Herons?', use_model: true }, headers, reader);
    assert.deepEqual([refused.statusCode, refused.json()], [403, { detail: 'token lacks required scope: write' }]);
  }
  assert.equal(asked.length, before);
});

test('an error before the first event has its status, a later one is an event', async (t) => {
  const conflict = new DomainError('conflict', 'no language model is configured');
  const refusing = asking({ 'search.ask': () => Promise.reject(conflict) }, t);
  for (const headers of [{}, events])
    assert.equal((await refusing.ask({ question: 'Herons?' }, headers)).statusCode, 409);
  for (const [error, data] of [
    [new DomainError('shutting_down', 'the service is stopping'), { status: 503, detail: 'the service is stopping' }],
    [new Error('secret'), { status: 500, detail: 'internal error' }],
  ] as const) {
    const answers: Answers = {
      'search.ask': async ({ report }) => {
        report?.({ event: 'quotes', data: answer });
        throw error;
      },
    };
    const failing = asking(answers, t);
    const { body } = await failing.ask({ question: 'Herons?' }, events);
    assert.equal(body.split('\n\n')[1], `event: error\ndata: ${JSON.stringify(data)}`);
  }
});

test('a client that leaves, and a server that closes, end the question', async (t) => {
  const signals: (AbortSignal | undefined)[] = [];
  const { app } = asking(
    {
      'search.ask': ({ report }, signal) => {
        report?.({ event: 'quotes', data: answer });
        signals.push(signal);
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      },
    },
    t,
  );
  const port = await listenAnywhere(app);
  const open = async () => {
    const socket = connect(port, '127.0.0.1');
    const body = JSON.stringify({ question: 'Herons?' });
    const headers = ['accept: text/event-stream', 'content-type: application/json', `content-length: ${body.length}`];
    socket.write(rawHead('POST', '/v1/ask', ...headers) + body);
    await once(socket, 'data');
    return socket;
  };
  const aborted = (signal: AbortSignal | undefined) =>
    signal?.aborted === true ? Promise.resolve() : once(signal as AbortSignal, 'abort');
  const left = await open();
  left.destroy();
  await aborted(signals[0]);
  const socket = await open();
  socket.resume();
  await stopListening(app, 60_000);
  await aborted(signals[1]);
});
