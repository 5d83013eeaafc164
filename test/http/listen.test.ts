import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListenError, listen } from '../../src/http/listen.ts';
import { testServer } from './test-server.ts';

test('port 0 takes a free port, and a second server on it gets one clear line', async (t) => {
  const first = testServer().app;
  const second = testServer().app;
  t.after(() => Promise.all([first.close(), second.close()]));
  const { port, address } = await listen(first, { host: '127.0.0.1', port: 0 });
  assert.equal(address, '127.0.0.1');
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
  await assert.rejects(listen(second, { host: '127.0.0.1', port }), (error) => {
    assert.ok(error instanceof ListenError);
    assert.equal(
      error.message,
      `cannot listen on 127.0.0.1 port ${port}: the port is in use: stop the program that has it, or set SERVICE_BIND_PORT`,
    );
    return true;
  });
});
