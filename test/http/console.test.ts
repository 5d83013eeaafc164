/** The console's files: public, within their folder, with headers that bind what a page may do. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../scope.ts';
import { sendRaw, testServer } from './test-server.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

async function consoleServer(t: TestContext) {
  const home = temporaryFolder(t);
  const consoleDir = join(home, 'console');
  mkdirSync(join(consoleDir, 'assets', 'inner'), { recursive: true });
  writeFileSync(join(home, 'secret.txt'), 'secret');
  const files = {
    'index.html': '<!doctype html><title>The console</title>',
    'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'icon-192.png': 'png',
    'manifest.webmanifest': '{}',
    'service-worker.js': 'const version = 1;',
    'assets/app-1a2b3c.js': 'export const one = 1;',
    'assets/app-1a2b3c.css': 'body { margin: 0 }',
    'assets/inner/font.woff2': 'font',
    'assets/.hidden': 'hidden',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(consoleDir, name), content);
  const { app, lines } = testServer(null, {}, { consoleDir });
  t.after(() => assert.doesNotMatch(lines.join('\n'), /"level":[4-6]0/, 'nothing is warned of'));
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, consoleDir, home };
}

test('page, icon and assets are served without a token, with their types and a strict policy', async (t) => {
  const { app } = await consoleServer(t);
  for (const [url, type, caching] of [
    ['/', 'text/html; charset=utf-8', 'no-cache'],
    ['/?q=heron', 'text/html; charset=utf-8', 'no-cache'],
    ['/favicon.svg', 'image/svg+xml', 'no-cache'],
    ['/icon-192.png', 'image/png', 'no-cache'],
    ['/manifest.webmanifest', 'application/manifest+json', 'no-cache'],
    ['/service-worker.js', 'application/javascript; charset=utf-8', 'no-cache'],
    ['/assets/app-1a2b3c.js', 'application/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/assets/app-1a2b3c.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/assets/inner/font.woff2', 'font/woff2', 'public, max-age=31536000, immutable'],
  ]) {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers, body } = await app.inject({ method, url });
      const sent = [statusCode, headers['content-type'], headers['cache-control'], body === ''];
      assert.deepEqual(sent, [200, type, caching, method === 'HEAD'], url);
      assert.equal(headers['content-security-policy'], policy);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
  }
  assert.equal((await app.inject({ method: 'POST', url: '/' })).statusCode, 401);
});

test('a browser that has the page is told that it has', async (t) => {
  const { app } = await consoleServer(t);
  const { headers } = await app.inject('/');
  const again = await app.inject({ url: '/', headers: { 'if-none-match': String(headers.etag) } });
  assert.deepEqual([again.statusCode, again.body, again.headers['cache-control']], [304, '', 'no-cache']);
});

test('nothing outside the folder, no folder and no hidden file is served', async (t) => {
  const { app, consoleDir, home } = await consoleServer(t);
  symlinkSync(join(home, 'secret.txt'), join(consoleDir, 'secret-link.txt'));
  const paths = [
    '/assets/ /assets/inner /assets/inner/ /assets/nothing.js /assets/.hidden /assets/../index.html',
    '/assets/../../secret.txt /assets/..%2f..%2fsecret.txt /assets/%2e%2e/%2e%2e/secret.txt',
    '/assets/..%5c..%5csecret.txt /assets//../..//secret.txt /assets/%00 /assets/%zz',
    '/assets/app-1a2b3c.js%00.html /index.html /secret-link.txt //secret.txt',
  ].flatMap((line) => line.split(' '));
  for (const path of paths) {
    const { status, body } = await sendRaw(app, `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    assert.ok([401, 404].includes(status), `${path}: ${status}`);
    assert.equal(typeof JSON.parse(body).detail, 'string', path);
  }
});

test('before the console is built the page says how to build it, and afterwards it is there', async (t) => {
  const consoleDir = join(temporaryFolder(t), 'console');
  const { app } = testServer(t, {}, { consoleDir });
  const { statusCode, headers, body } = await app.inject('/');
  assert.deepEqual([statusCode, headers['content-type']], [503, 'text/html; charset=utf-8']);
  assert.match(body, /npm run build/);
  assert.equal(headers['content-security-policy'], policy);
  assert.equal((await app.inject('/assets/app.js')).statusCode, 404);
  mkdirSync(consoleDir);
  writeFileSync(join(consoleDir, 'index.html'), 'built');
  assert.equal((await app.inject('/')).body, 'built');
});
