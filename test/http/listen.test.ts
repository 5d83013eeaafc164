import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { addressOf } from '../../src/cli/context.ts';
import { listen } from '../../src/http/listen.ts';
import { until } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
import { testServer, writer } from './test-server.ts';

test('port 0 takes a free port, and a second server on it gets one clear line', async (t) => {
  const { app: first } = testServer(t);
  const { app: second } = testServer(t);
  const { port, address } = await listen(first, { host: '127.0.0.1', port: 0 });
  assert.equal(address, '127.0.0.1');
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
  const advice = 'the port is in use: stop the program that has it, or set SERVICE_BIND_PORT';
  const message = `cannot listen on 127.0.0.1 port ${port}: ${advice}`;
  await assert.rejects(listen(second, { host: '127.0.0.1', port }), { code: 'listen', message });
});

test('a name that cannot be looked up, as without a network, is one clear line, too', async (t) => {
  const { app } = testServer(t);
  const unavailable = Object.assign(new Error('getaddrinfo EAI_AGAIN nas.local'), { code: 'EAI_AGAIN' });
  t.mock.method(app, 'listen', () => Promise.reject(unavailable));
  const advice = 'this name cannot be looked up now: try again later, or set SERVICE_BIND_HOST to an address';
  const message = `cannot listen on nas.local port 80: ${advice}`;
  await assert.rejects(listen(app, { host: 'nas.local', port: 80 }), { code: 'listen', message, cause: unavailable });
});

const pem = (name: string) => join(import.meta.dirname, '../fixtures/tls', `${name}.pem`);
const ca = ['one', 'two'].map((name) => readFileSync(pem(name)));

test('with a certificate the service speaks HTTPS, and takes a new one for new connections', async (t) => {
  const file = join(temporaryFolder(t), 'both.pem');
  copyFileSync(pem('one'), file);
  const tls = { cert_file: file, key_file: file };
  const { app, lines } = testServer(t, {}, { tls, bounds: { certificateLooks: 5 } });
  const { port } = await listen(app, { host: '127.0.0.1', port: 0 });
  const body = JSON.stringify({ token: writer });
  const asked = request({ host: '127.0.0.1', port, path: '/v1/sessions', method: 'POST', ca, agent: false });
  asked.setHeader('content-type', 'application/json').end(body);
  const [{ statusCode, headers }] = await once(asked, 'response');
  assert.equal(statusCode, 201);
  assert.match(String(headers['set-cookie']), /; Secure/, 'without an Origin, too');

  const nameOf = async () => {
    const socket = connect({ host: '127.0.0.1', port, ca });
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  assert.equal(await nameOf(), 'one.example');
  writeFileSync(file, 'not a certificate');
  await until(() => lines.some((line) => line.includes('is not used')), 'the fault is logged');
  assert.equal(await nameOf(), 'one.example');
  copyFileSync(pem('two'), file);
  await until(async () => (await nameOf()) === 'two.example', 'the new certificate is in use');
});

test('files that cannot be a certificate are one clear line', () => {
  for (const [cert_file, key_file] of [
    ['/nowhere/cert.pem', pem('one')],
    [pem('one'), pem('two')],
  ])
    assert.throws(() => testServer(null, {}, { tls: { cert_file, key_file } }), {
      code: 'listen',
      message: /SERVICE_TLS__CERT_FILE/,
    });
});

test('commands address the service by a name of its certificate', () => {
  const none = { cert_file: null, key_file: null };
  const one = { cert_file: pem('one'), key_file: pem('one') };
  for (const [bind_host, tls, address] of [
    ['127.0.0.1', none, 'http://127.0.0.1:8000'],
    ['::', none, 'http://[::1]:8000'],
    ['0.0.0.0', one, 'https://127.0.0.1:8000'],
    ['192.168.1.2', one, 'https://localhost:8000'],
  ] as const)
    assert.equal(addressOf({ bind_host, bind_port: 8000, tls }), address);
});
