/** The client against servers that answer as none should. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { pair, ServiceClient } from '../../../extension/src/service/client.ts';

async function serve(t: TestContext, answer: RequestListener): Promise<{ address: string; got: IncomingMessage[] }> {
  const got: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    got.push(request);
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
}

const clientOf = (address: string) => new ServiceClient({ address, token: 'secret', name: 'test', library: null });

test('a redirect is not followed: the token goes nowhere else', async (t) => {
  const other = await serve(t, (_, response) => response.end('{"results":[]}'));
  const first = await serve(t, (_, response) =>
    response.writeHead(307, { location: `${other.address}/v1/search` }).end(),
  );
  const answer = await clientOf(first.address).search('herons', 3);
  assert.equal(answer.problem, 'unreachable');
  assert.equal(first.got[0].headers.authorization, 'Bearer secret');
  assert.equal(other.got.length, 0);
});

test('what is no answer of a service is failing, and so is one without an end', async (t) => {
  const bodies = [
    '<!doctype html><p>Sign in to the hotel network',
    '',
    '[]',
    'null',
    '{}',
    '{"results":{}}',
    '{"results":[',
    '"',
  ];
  let body = '';
  const { address } = await serve(t, (_, response) => response.end(body));
  for (body of bodies) {
    assert.equal((await clientOf(address).search('herons', 3)).problem, 'failing', body);
    assert.equal((await clientOf(address).pageOf('https://example.org/')).problem, 'failing', body);
    assert.equal((await clientOf(address).ingest([])).problem, 'failing', body);
    assert.equal((await pair(address, 'AAAA-AAAA', 'test')).problem, 'failing', body);
  }
  const endless = await serve(t, (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  assert.equal((await clientOf(endless.address).search('herons', 3)).problem, 'failing');
});

test('what a service answers is handed on', async (t) => {
  const { address } = await serve(t, (_, response) => response.end('{"results":[],"query_id":"q"}'));
  assert.deepEqual(await clientOf(address).search('herons', 3), {
    problem: null,
    body: { results: [], query_id: 'q' },
  });
});

test('faults of a request are told of by their fields', async (t) => {
  const body = { detail: [{ loc: ['body', 'pages', 0, 'title'], msg: 'Too big', type: 'too_big' }] };
  const { address } = await serve(t, (_, response) => response.writeHead(422).end(JSON.stringify(body)));
  const { problem, ...rest } = await clientOf(address).ingest([]);
  assert.deepEqual([problem, rest], ['invalid', { detail: 'body.pages.0.title: Too big' }]);
});

test('of the answers that refuse, one says that the pages are invalid', async (t) => {
  let status = 0;
  const { address } = await serve(t, (_, response) => response.writeHead(status).end('{"detail":"no"}'));
  const told: Record<string, string[]> = {};
  for (status of [400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 425, 429, 431, 500, 502, 503, 504, 507]) {
    const { problem } = await clientOf(address).ingest([]);
    told[String(problem)] = [...(told[String(problem)] ?? []), String(status)];
  }
  assert.deepEqual(told, {
    failing: ['400', '405', '408', '409', '415', '425', '431', '500', '502', '504'],
    unauthorized: ['401'],
    forbidden: ['403'],
    not_found: ['404'],
    too_large: ['413'],
    invalid: ['422'],
    rate_limited: ['429'],
    busy: ['503'],
    full: ['507'],
  });
});

test('what another connection ends is no fault of the page that was on its way', async (t) => {
  const leaving = new AbortController();
  const service = await serve(t, () => leaving.abort());
  const { address } = service;
  const client = new ServiceClient({ address, token: 'secret', name: 'test', library: null }, leaving.signal);
  assert.equal((await client.search('herons', 3)).problem, 'busy');
});
