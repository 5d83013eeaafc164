/** A service of few open files: connections of nobody known leave room for its own. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { openFilesVariable, RunningService } from './service.ts';

const openFiles = 200;

test('half-open connections of nobody known, more than the process may have files, hinder neither writes nor searches', async (t) => {
  const service = await RunningService.start(t, { [openFilesVariable]: String(openFiles) });
  await service.pauseVectors();
  const { hostname, port } = new URL(service.url);
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < openFiles; count++) {
      const socket = connect(Number(port), hostname).resume();
      socket.on('error', () => {});
      sockets.push(socket);
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {});
      socket.write('GET /healthz HTTP/1.1\r\nhost: local');
    }
    const page = { url: `https://files.example/${round}`, body_extracted: `The heron stands still, ${round}.` };
    await service.add(page);
    const found = await service.call<{ results: unknown[] }>('POST', '/v1/search', { query: 'heron', k: 5 });
    assert.deepEqual([found.status, found.body.results.length], [200, round + 1]);
    if (process.platform === 'linux') t.diagnostic(`${readdirSync(`/proc/${service.pid}/fd`).length} open files`);
  }
});
