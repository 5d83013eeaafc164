import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { IngestPageRequest } from '../../src/domain/page.ts';
import { pluck } from '../rows.ts';
import { rawHead, sendRaw, testServer, writer } from './test-server.ts';

const authorization = `Bearer ${writer}`;
const accepted = { outcome: 'accepted', page_id: 'pg_1', status: 'queued' } as const;

function ingestServer(t: TestContext) {
  const got: IngestPageRequest[] = [];
  const server = testServer(t, {
    'page.ingest': (request) => {
      got.push(request);
      return accepted;
    },
    'page.ingestBatch': () => [],
    'job.retryBatch': () => ({ requested: 0, retried: 0, results: [] }),
  });
  const post = (payload: string | Buffer | Readable, headers: Record<string, string> = {}, url = '/v1/pages') => {
    const all = { authorization, 'content-type': 'application/json', ...headers };
    return server.app.inject({ method: 'POST', url, payload, headers: all });
  };
  return { ...server, got, post };
}

test('what is not JSON in UTF-8 is 422 with a list of faults', async (t) => {
  const { got, post } = ingestServer(t);
  const fault = async (payload: string | Buffer, headers = {}) => {
    const answer = await post(payload, headers);
    return [answer.statusCode, answer.json().detail[0].type, answer.json().detail[0].loc];
  };
  assert.deepEqual(await fault('{"url":'), [422, 'json_invalid', ['body']]);
  assert.deepEqual(await fault('{"url":"http://a/"} x'), [422, 'json_invalid', ['body']]);
  assert.deepEqual(await fault(Buffer.from('{"url":"http://a/\xff"}', 'latin1')), [422, 'encoding_invalid', ['body']]);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.deepEqual(await fault('url=http://a/', form), [422, 'content_type_invalid', ['body']]);
  assert.deepEqual(await fault('{}', { 'content-type': 'nonsense' }), [422, 'content_type_invalid', ['body']]);
  for (const payload of ['null', '[]', '"text"', '1']) {
    assert.deepEqual(await fault(payload), [422, 'invalid_type', ['body']], payload);
  }
  assert.deepEqual(got, []);
});

test('a key that would change other objects is refused and named wherever it is, and pollutes nothing', async (t) => {
  const { got, post } = ingestServer(t);
  const fault = (...path: (string | number)[]) => [
    { loc: ['body', ...path], msg: 'The key "__proto__" is not allowed', type: 'key_invalid' },
  ];
  for (const member of ['"__proto__":{"polluted":1}', '"\\u005f_proto__":1', '"__\\u0070roto__":null']) {
    const cases = [
      [`{"url":"http://a/","metadata":{${member}}}`, fault('metadata', '__proto__')],
      [`{"url":"http://a/","metadata":{"x":[1,{${member}}]}}`, fault('metadata', 'x', 1, '__proto__')],
      [`{${member}}`, fault('__proto__')],
    ] as const;
    for (const [body, detail] of cases) {
      const answer = await post(body);
      assert.deepEqual([answer.statusCode, answer.json().detail], [422, detail], body);
    }
    const batch = await post(`{"pages":[{}],${member}}`, {}, '/v1/pages/batch');
    assert.deepEqual([batch.statusCode, batch.json().detail], [422, fault('__proto__')]);
    assert.equal((await post(`{"pages":{${member}}}`, {}, '/v1/pages/batch')).statusCode, 422);
  }
  const deep = `${'{"x":'.repeat(50_000)}{"__proto__":1}${'}'.repeat(50_000)}`;
  assert.equal((await post(`{"url":"http://a/","metadata":${deep}}`)).statusCode, 422);
  assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  assert.deepEqual(got, []);
});

test('a key that would change other objects leaves the other items of a batch alone', async (t) => {
  const { asked, post } = ingestServer(t);
  const body = '{"pages":[{"url":"http://a/"},{"url":"http://b/","metadata":{"__proto__":1}}]}';
  assert.equal((await post(body, {}, '/v1/pages/batch')).statusCode, 200);
  assert.equal(JSON.stringify(asked[0].request), body);
});

test('an encoded body is refused by the name of its encoding', async (t) => {
  const { got, post } = ingestServer(t);
  const body = '{"url":"http://a/"}';
  for (const [encoding, sent] of [
    ['gzip', gzipSync(body)],
    ['br', body],
    ['x'.repeat(5000), body],
  ] as const) {
    const answer = await post(sent, { 'content-encoding': encoding });
    const named = encoding.length > 100 ? `${'x'.repeat(100)}…` : encoding;
    const msg = `Content-Encoding ${named} is not supported: send the body as it is`;
    const detail = [{ loc: ['body'], msg, type: 'content_encoding_invalid' }];
    assert.deepEqual([answer.statusCode, answer.json().detail], [422, detail]);
  }
  assert.deepEqual(got, []);
  assert.equal((await post(body, { 'content-encoding': 'Identity' })).statusCode, 202);
});

test('metadata that nests 50,000 deep is refused, at the top and inside a batch, without a 5xx', async (t) => {
  const { post } = ingestServer(t);
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  assert.equal((await post(`{"url":"http://a/","metadata":{"x":${deep}}}`)).statusCode, 422);
  assert.equal((await post(`{"url":${deep}}`)).statusCode, 422);
  assert.equal((await post(deep)).statusCode, 422);
  assert.equal((await post(`${'{"x":'.repeat(50_000)}1${'}'.repeat(50_000)}`)).statusCode, 422);
});

test('lone surrogates in stored text are refused and named; of duplicate keys the last counts', async (t) => {
  const { got, post } = ingestServer(t);
  const lone = await post('{"url":"http://a/","title":"cut \\ud83d","metadata":{"k":"\\udc00"}}');
  assert.equal(lone.statusCode, 422);
  const places = lone.json().detail.map(({ loc }: { loc: string[] }) => loc.join('.'));
  assert.deepEqual(places, ['body.title', 'body.metadata']);
  assert.equal((await post('{"url":"http://a/","url":"http://b/"}')).statusCode, 202);
  assert.deepEqual(got, [{ url: 'http://b/' }]);
});

test('metadata with a number that would be stored as null is refused; the largest and the smallest are kept', async (t) => {
  const { got, post } = ingestServer(t);
  for (const metadata of ['{"n":1e999}', '{"n":-1e999}', '{"a":[{"n":1e309}]}']) {
    const refused = await post(`{"url":"http://a/","metadata":${metadata}}`);
    const [{ loc }, ...others] = refused.json().detail;
    assert.deepEqual([refused.statusCode, loc, others], [422, ['body', 'metadata'], []]);
  }
  assert.equal((await post('{"url":"http://a/","metadata":{"n":[1.7e308,5e-324]}}')).statusCode, 202);
  assert.deepEqual(got, [{ url: 'http://a/', metadata: { n: [1.7e308, 5e-324] } }]);
});

test('an empty body stands for an empty object, with or without a content type', async (t) => {
  const { app, asked } = ingestServer(t);
  const url = '/v1/jobs/retry';
  for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
    const answer = await app.inject({ method: 'POST', url, headers: { authorization, ...headers }, payload: '' });
    assert.equal(answer.statusCode, 200);
  }
  assert.deepEqual(pluck(asked, 'request'), Array(3).fill({ status: 'dead', limit: 100 }));
});

test('valid data arrives exactly as it was sent', async (t) => {
  const { got, post } = ingestServer(t);
  const text = fc.string({ unit: 'binary', maxLength: 50 }).filter((each) => each !== '__proto__');
  /** Whole numbers that JSON rounds are refused. */
  const isKept = (number: string) => /[.e]/.test(number) || Number.isSafeInteger(Number(number));
  const value = fc
    .jsonValue({ maxDepth: 3 })
    .filter((each) => !/__proto__|\\ud/.test(JSON.stringify(each)))
    .filter((each) => (JSON.stringify(each).match(/-?\d[\d.e+-]*/g) ?? []).every(isKept));
  const someMetadata = fc.dictionary(fc.string({ maxLength: 8 }), value, { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(text, someMetadata, async (title, metadata) => {
      const sent = JSON.stringify({ url: 'http://a/', title, metadata });
      fc.pre(!/__proto__|\\ud/.test(sent));
      const answer = await post(sent);
      assert.equal(answer.statusCode, 202, answer.body);
      assert.equal(JSON.stringify(got.pop()), sent);
    }),
    { numRuns: 200 },
  );
});

test('too large a body is 413 at once where it says so, else when the limit is passed; the batch takes 64 MB', async (t) => {
  const { app } = ingestServer(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const json = 'content-type: application/json';
  const declared = await sendRaw(app, rawHead('POST', '/v1/pages', json, `content-length: ${1 << 30}`));
  const tooLarge = { detail: 'the body is larger than 16777216 bytes' };
  assert.deepEqual([declared.status, JSON.parse(declared.body)], [413, tooLarge]);
  const megabyte = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1 << 20, 32), Buffer.from('\r\n')]);
  const chunked = rawHead('POST', '/v1/pages', json, 'transfer-encoding: chunked');
  const endless = await sendRaw(app, chunked, ...Array.from({ length: 40 }, () => megabyte));
  assert.equal(endless.status, 413);
  const batch = `{"pages":[{"url":"http://a/","body_extracted":"${'x'.repeat(20 << 20)}"}]}`;
  const head = rawHead('POST', '/v1/pages/batch', json, `content-length: ${batch.length}`);
  assert.equal((await sendRaw(app, head, batch)).status, 200);
  const huge = await sendRaw(app, rawHead('POST', '/v1/pages/batch', json, `content-length: ${(64 << 20) + 1}`));
  assert.equal(huge.status, 413);
});

test('routes that only read take 1 MB, which is refused before it is read and while it is, and holds the longest batch of queries', async (t) => {
  const { app, asked } = testServer(t, { 'search.batch': () => ({ results: [] }) });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const json = 'content-type: application/json';
  const tooLarge = { detail: 'the body is larger than 1048576 bytes' };
  const piece = Buffer.concat([Buffer.from('80000\r\n'), Buffer.alloc(1 << 19, 32), Buffer.from('\r\n')]);
  for (const name of ['search', 'search/batch', 'compare', 'pages/status/batch', 'admin/eval/score']) {
    const path = `/v1/${name}`;
    const declared = await sendRaw(app, rawHead('POST', path, json, `content-length: ${(1 << 20) + 1}`));
    assert.deepEqual([declared.status, JSON.parse(declared.body)], [413, tooLarge], path);
    const endless = await sendRaw(app, rawHead('POST', path, json, 'transfer-encoding: chunked'), piece, piece, piece);
    assert.equal(endless.status, 413, path);
  }
  for (const character of ['a', '鷺', '\\u9dfa', '\\ud83e\\udd8e']) {
    const length = JSON.parse(`"${character}"`).length;
    const queries = Array.from({ length: 20 }, () => `"${character.repeat(4000 / length)}"`);
    const body = Buffer.from(`{"queries":[${queries}]}`);
    const head = rawHead('POST', '/v1/search/batch', json, `content-length: ${body.length}`);
    assert.equal((await sendRaw(app, head, body)).status, 200, character);
  }
  assert.equal(asked.length, 4);
});

test('a body of more values than one for 128 bytes of its limit is 413; one of as many is read', async (t) => {
  const { got, post } = ingestServer(t);
  const page = (inner: string) => `{"url":"http://a/","metadata":{"x":${inner}}}`;
  const around = 3; // url, metadata and x
  const most = 2 ** 17;
  const list = (count: number, element: string) => `[${Array.from({ length: count }, () => element).join()}]`;
  for (const body of [
    page(list(most - around + 1, '1')),
    page(list(most / 2, '[0]')),
    page(`{${Array.from({ length: most }, (_, at) => `"k${at}":0`).join()}}`),
    list(most + 1, '{}'),
  ]) {
    const refused = await post(body);
    const tooMany = { detail: 'the body contains more than 131072 values' };
    assert.deepEqual([refused.statusCode, refused.json()], [413, tooMany], body.slice(0, 50));
  }
  assert.deepEqual(got, []);
  const read = await post(page(list(most - around, '1')));
  assert.deepEqual([read.statusCode, read.json().detail[0].msg], [422, 'must not contain more than 4000 values']);
  const batch = (inner: string) => post(`{"pages":[${page(inner)}]}`, {}, '/v1/pages/batch');
  assert.equal((await batch(list(most * 3, '1'))).statusCode, 200);
  assert.deepEqual((await batch(list(most * 4, '1'))).json(), { detail: 'the body contains more than 524288 values' });
});

test('headers over 16 KB are 431 and what is not HTTP is 400, in the shape of other errors', async (t) => {
  const { app } = ingestServer(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const large = await sendRaw(app, rawHead('GET', '/healthz', `x-large: ${'x'.repeat(20_000)}`));
  assert.deepEqual([large.status, JSON.parse(large.body)], [431, { detail: 'the headers are larger than 16 KB' }]);
  const noise = await sendRaw(app, 'hello\r\n\r\n');
  assert.deepEqual([noise.status, JSON.parse(noise.body)], [400, { detail: 'not a valid HTTP request' }]);
});

test('a body that is cut anywhere, within a character too, arrives as it was sent; half a character at its end is refused', async (t) => {
  const { got, post } = ingestServer(t);
  const sent = Buffer.from(JSON.stringify({ url: 'http://a/', title: 'é猫😀 ×€' }));
  for (let size = 1; size < sent.length; size++) {
    const pieces = Array.from({ length: Math.ceil(sent.length / size) }, (_, no) =>
      sent.subarray(no * size, (no + 1) * size),
    );
    assert.equal((await post(Readable.from(pieces))).statusCode, 202, `pieces of ${size}`);
    assert.equal(JSON.stringify(got.pop()), sent.toString('utf8'));
  }
  for (const half of [[0xc3], [0xe7, 0x8c], [0xf0, 0x9f, 0x98]]) {
    const answer = await post(Readable.from([sent, Buffer.from(half)]));
    assert.deepEqual([answer.statusCode, answer.json().detail[0].type], [422, 'encoding_invalid']);
  }
});
