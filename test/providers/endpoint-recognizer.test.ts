/** The transcription endpoint: what it is sent, what is made of its answers, and every way in which it may fail. */
import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Clock, systemClock } from '../../src/providers/clock.ts';
import { resilientCall } from '../../src/providers/resilient-call.ts';
import { endpointRecognizer } from '../../src/providers/transcription.ts';
import { until } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
import { HandClock } from './hand-clock.ts';
import { type Page, Site } from './small-web.ts';

interface Received {
  authorization: string | undefined;
  fields: Record<string, string>;
  file: string;
}

/** Of each call, by the clock. */
const timeoutMs = 60_000;

/** An endpoint that answers each call by the next of `answers`, the last one for ever; what it was sent. */
async function endpoint(t: TestContext, answers: ((received: Received) => Page)[], clock: Clock = systemClock) {
  const received: Received[] = [];
  const site = await Site.open(t, {
    '/v1/audio/transcriptions': (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { fields, file } = formParts(Buffer.concat(chunks), request.headers['content-type'] ?? '');
        received.push({ authorization: request.headers.authorization, fields, file });
        const answer = answers[Math.min(received.length, answers.length) - 1];
        answer(received[received.length - 1])(request, response);
      });
    },
  });
  const recognizer = endpointRecognizer({
    endpoint: {
      provider: 'transcribe',
      baseUrl: site.url('/v1'),
      credentials: { api_key: 'key', userinfo: null, query: null },
    },
    model: 'whisper-1',
    call: resilientCall({
      provider: 'transcribe',
      breaker: { call: (run) => run() },
      retry: { attempts: 3, baseDelayMs: 1, maxDelayMs: 2 },
      timeoutMs,
      clock,
      random: () => 0.5,
    }),
    wall: Date.now,
  });
  const dir = temporaryFolder(t);
  const path = join(dir, 'piece.wav');
  writeFileSync(path, 'RIFF\r\n--sound');
  return { received, recognizer, path, dir, sound: { path, dir, lengthS: 12 } };
}

function formParts(body: Buffer, contentType: string) {
  const boundary = /boundary=(\S+)/.exec(contentType)?.[1] ?? assert.fail(contentType);
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  const read = parts.map((part) => {
    const [head, ...rest] = part.replace(/^\r\n/, '').split('\r\n\r\n');
    return { name: /name="(\w+)"/.exec(head)?.[1] ?? '', value: rest.join('\r\n\r\n').replace(/\r\n$/, '') };
  });
  const fields = Object.fromEntries(read.map(({ name, value }) => [name, value]));
  const { file = '', ...rest } = fields;
  return { fields: rest, file };
}

const json =
  (body: unknown, status = 200): (() => Page) =>
  () =>
  (_request, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  };
const { signal } = new AbortController();

test('a file, a model and a key are sent; segments come back as cues', async (t) => {
  const answer = { task: 'transcribe', text: 'all', segments: [{ start: 0.5, end: 2, text: ' Set at dusk.' }] };
  const { recognizer, received, sound } = await endpoint(t, [json(answer)]);
  assert.deepEqual(await recognizer.recognize(sound, signal), [
    { startS: 0.5, endS: 2, speaker: null, text: 'Set at dusk.' },
  ]);
  assert.deepEqual(received, [
    {
      authorization: 'Bearer key',
      fields: { model: 'whisper-1', response_format: 'verbose_json' },
      file: 'RIFF\r\n--sound',
    },
  ]);
});

test('a model without segments is asked for plain text, and from then on at once', async (t) => {
  const { recognizer, received, sound } = await endpoint(t, [
    ({ fields }) => (fields.response_format === 'json' ? json({ text: 'Set at dusk.' }) : json({ error: {} }, 400))(),
  ]);
  const whole = [{ startS: 0, endS: 12, speaker: null, text: 'Set at dusk.' }];
  assert.deepEqual(await recognizer.recognize(sound, signal), whole);
  assert.deepEqual(await recognizer.recognize(sound, signal), whole);
  const formats = received.map(({ fields }) => fields.response_format);
  assert.deepEqual(formats, ['verbose_json', 'json', 'json']);
});

test('silence is no fault', async (t) => {
  const { recognizer, sound } = await endpoint(t, [json({ text: '', segments: [] })]);
  assert.deepEqual(await recognizer.recognize(sound, signal), []);
});

const faults: [name: string, answer: () => Page, code: string, calls: number, permanent: boolean][] = [
  ['401', json({ error: 'secret' }, 401), 'unauthorized', 1, true],
  ['429', json({ error: 'secret' }, 429), 'busy', 3, false],
  ['500', json({ error: 'secret' }, 500), 'failing', 3, false],
  ['400', json({ error: 'secret' }, 400), 'refused', 2, true],
  ['bad JSON', json('{"text": "secret'), 'not_json', 3, false],
  ['another answer', json({ secret: 1 }), 'bad_answer', 1, false],
  ['no answer', () => () => {}, 'timeout', 3, false],
];

for (const [name, answer, code, calls, permanent] of faults) {
  test(`an endpoint that answers with ${name}`, async (t) => {
    const clock = code === 'timeout' ? new HandClock() : systemClock;
    const { recognizer, received, sound } = await endpoint(t, [answer], clock);
    const failed = assert.rejects(
      recognizer.recognize(sound, signal),
      (error: Error & { code: string; permanent: boolean }) => {
        assert.deepEqual([error.code, error.permanent], [code, permanent]);
        assert.ok(!error.message.includes('secret'));
        return true;
      },
    );
    for (let call = 1; clock instanceof HandClock && call <= calls; call++) {
      await until(() => received.length === call, 'it was called');
      await clock.advance(timeoutMs + 2); // and the pause after it
    }
    await failed;
    assert.equal(received.length, calls);
  });
}

test('a failure that passes is not noticed', async (t) => {
  const { recognizer, sound } = await endpoint(t, [json({}, 500), json({}, 429), json({ text: 'Here.' })]);
  assert.equal((await recognizer.recognize(sound, signal))[0].text, 'Here.');
});

test('what is too large to be sent is not sent', async (t) => {
  const { recognizer, received, sound, path } = await endpoint(t, [json({ text: '' })]);
  truncateSync(path, 25_000_001);
  await assert.rejects(recognizer.recognize({ ...sound, lengthS: null }, signal), {
    code: 'too_large',
    permanent: true,
  });
  assert.equal(received.length, 0);
});
