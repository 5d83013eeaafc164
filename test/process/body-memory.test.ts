/** What bodies without end cost the process: peak resident memory, as the kernel counts it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { RunningService, token, withoutModel } from './service.ts';

/** More than the 16 MB that a route takes, and some of what the allocator keeps, MB. */
const boundMb = 64;
const piece = Buffer.alloc(1 << 20, 'a');
const pieces = 1024;
/** What a garbage collection has left from before may be in a peak, but not in each. */
const tries = 3;

/**
 * Send a gigabyte, whatever the answer, until the connection is closed; gives the status of the answer. After the pieces that bring
 * it about it is waited for: a write that fails closes the socket with all that was not read yet. Undefined where the connection
 * was closed before that, as it is by a service that waits no longer.
 */
async function pour(
  socket: Socket,
  head: string,
  answeredAfter: number,
  frame: (bytes: Buffer) => Buffer,
): Promise<number | undefined> {
  let answer = '';
  const happens = (event: string) => once(socket, event).catch(() => {}); // it may be closed while it sends
  const answered = happens('data');
  const closed = happens('close');
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(head);
  for (let sent = 0; sent < pieces && !socket.destroyed; sent++) {
    if (sent === answeredAfter) await Promise.race([answered, closed]);
    if (!socket.write(frame(piece))) await Promise.race([happens('drain'), closed]);
  }
  socket.destroy();
  const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
  return status === undefined ? undefined : Number(status);
}

test('a gigabyte of body, announced or in chunks, is 413 and costs no more than what a route takes', {
  skip: existsSync('/proc/self/clear_refs') ? false : 'needs the peak memory that Linux tells',
}, async (t) => {
  const service = await RunningService.start(t, withoutModel);
  const { hostname, port } = new URL(service.url);
  const head = (length: string) =>
    `POST /v1/pages HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n${length}\r\n\r\n`;
  const kinds: Record<string, () => Promise<number | undefined>> = {
    announced: () =>
      pour(connect(Number(port), hostname), head(`content-length: ${pieces * piece.length}`), 0, (bytes) => bytes),
    'in chunks': () =>
      pour(connect(Number(port), hostname), head('transfer-encoding: chunked'), 20, (bytes) =>
        Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]),
      ),
  };
  const peakMb = () =>
    Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024;
  for (const send of Object.values(kinds)) await send(); // code that is compiled does not count
  for (const [kind, send] of Object.entries(kinds)) {
    let least = Number.POSITIVE_INFINITY;
    const statuses = new Set<number | undefined>();
    for (let count = 0; count < tries && (least >= boundMb || !statuses.has(413)); count++) {
      writeFileSync(`/proc/${service.pid}/clear_refs`, '5');
      const before = peakMb();
      statuses.add(await send());
      least = Math.min(least, peakMb() - before);
      t.diagnostic(`${kind}: ${least.toFixed(1)} MB at least`);
    }
    statuses.delete(undefined);
    assert.deepEqual([...statuses], [413], kind);
    assert.ok(least < boundMb, `${kind}: ${least} MB more`);
  }
  assert.equal((await service.call('GET', '/readyz')).status, 503, 'it answers as before: no model is active');
});
