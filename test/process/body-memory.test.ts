/** What bodies without end cost the process: peak resident memory, as the kernel counts it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { RunningService, token } from './service.ts';

/** More than the 16 MB that a route takes, and some of what the allocator keeps, MB. */
const boundMb = 64;
const piece = Buffer.alloc(1 << 20, 'a');
const pieces = 1024;

/** Send a gigabyte, whatever the answer, until the connection is closed; gives the status of the answer. */
async function pour(socket: Socket, head: string, frame: (bytes: Buffer) => Buffer): Promise<number> {
  let answer = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text;
  });
  socket.on('error', () => {}); // it is closed while it sends
  await once(socket, 'connect');
  socket.write(head);
  for (let sent = 0; sent < pieces && !socket.destroyed; sent++) {
    if (!socket.write(frame(piece))) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
  }
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
}

test('a gigabyte of body, announced or in chunks, is 413 and costs no more than what a route takes', {
  skip: existsSync('/proc/self/clear_refs') ? false : 'needs the peak memory that Linux tells',
}, async (t) => {
  const service = await RunningService.start(t, { SERVICE_EMBEDDER__PROVIDER: 'none' });
  const { hostname, port } = new URL(service.url);
  const head = (length: string) =>
    `POST /v1/pages HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n${length}\r\n\r\n`;
  const kinds: Record<string, () => Promise<number>> = {
    announced: () =>
      pour(connect(Number(port), hostname), head(`content-length: ${pieces * piece.length}`), (bytes) => bytes),
    'in chunks': () =>
      pour(connect(Number(port), hostname), head('transfer-encoding: chunked'), (bytes) =>
        Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]),
      ),
  };
  const peakMb = () =>
    Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024;
  for (const send of Object.values(kinds)) await send(); // code that is compiled does not count
  for (const [kind, send] of Object.entries(kinds)) {
    writeFileSync(`/proc/${service.pid}/clear_refs`, '5');
    const before = peakMb();
    assert.equal(await send(), 413, kind);
    const grown = peakMb() - before;
    t.diagnostic(`${kind}: ${grown.toFixed(1)} MB`);
    assert.ok(grown < boundMb, `${kind}: ${grown} MB more`);
  }
  assert.equal((await service.call('GET', '/readyz')).status, 503, 'it answers as before: no model is active');
});
