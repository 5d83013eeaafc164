/** 10,000 connections that send nothing or half a request, and some that send a byte a second: health is answered, and all are cut. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { note } from '../../test/process/rare-states.ts';
import { percentile, round, sampleProcess, watchHealth } from '../../test/process/samples.ts';
import { RunningService, until } from '../../test/process/service.ts';

const halfOpen = 10_000;
const slow = 200;
/** Connections are opened in groups, so that the queue of those that the kernel has accepted does not overflow. */
const groupSize = 200;
const boundMs = 100;
const boundMb = 150;
/** The longest that a whole request may take to arrive, and a look at it. */
const cutWithinMs = 90_000;

test('half-open and slow connections cost little and are cut', { timeout: 240_000 }, async (t) => {
  const service = await RunningService.start(t);
  const { hostname, port } = new URL(service.url);
  await delay(1000);
  const before = sampleProcess(service);
  const idle = watchHealth(service);
  await delay(3000);
  const idleP95 = percentile(await idle(), 0.95);

  const sockets = new Set<Socket>();
  const timers: NodeJS.Timeout[] = [];
  let opened = 0;
  const open = (beginning: string, slowly?: string) => {
    const socket = connect(Number(port), hostname);
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.once('connect', () => {
      opened++;
      socket.write(beginning);
      if (slowly !== undefined) timers.push(setInterval(() => socket.write(slowly), 1000));
    });
    socket.resume();
  };
  t.after(() => {
    for (const timer of timers) clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  });
  const health = watchHealth(service);
  const head =
    'POST /v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{';
  for (let at = 0; at < slow; at++) open('GET /healthz HTTP/1.1\r\nx', 'y');
  for (let at = 0; at < slow; at++) open(head, ' ');
  for (let at = 0; at < halfOpen; at += groupSize) {
    for (let i = 0; i < groupSize; i++) open(at % (2 * groupSize) === 0 ? '' : 'GET /healthz HTTP/1.1\r\nhost: local');
    await delay(20);
  }
  await until(() => opened === halfOpen + 2 * slow, 'all are connected');
  const during = sampleProcess(service);
  await until(() => sockets.size === 0, 'all are cut', cutWithinMs);
  const p95 = percentile(await health(), 0.95);
  const grown = during.residentMb - before.residentMb;
  note({
    counts: {
      connections: opened,
      healthz_p95_ms: round(p95),
      idle_healthz_p95_ms: round(idleP95),
      resident_mb_more: round(grown),
    },
  });
  assert.ok(p95 < boundMs + 3 * idleP95, `health took ${p95} ms, ${idleP95} ms before`);
  assert.ok(grown < boundMb, `${grown} MB more`);
  assert.equal((await service.call('GET', '/readyz')).status, 200);
});
