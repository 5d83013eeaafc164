/**
 * Pages come, are forgotten and come again, beside 300 clients that ask for long lists and read them slowly: the data file stays within twice
 * what its contents take, nobody runs out of places for readers, and answers go on.
 */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkFolder, isClean } from '../../src/composition/check-folder.ts';
import { note } from '../../test/process/rare-states.ts';
import { round } from '../../test/process/samples.ts';
import { RunningService, token, until } from '../../test/process/service.ts';

const live = 1_500;
const rounds = 12;
const each = 150;
const slowReaders = 300;
const words = 'harbour sluice towpath barge lantern winch rope keeper bridge culvert'.split(' ');
const textOf = (no: number) =>
  Array.from({ length: 400 }, (_, i) => `${words[(no + i * (1 + (no % 7))) % words.length]}${i % 40}`).join(' ');

test('churn beside slow readers leaves the data file small', { timeout: 460_000 }, async (t) => {
  const service = await RunningService.start(t, {
    SERVICE_FORGET__COMPACT_AFTER_S: '1',
  });
  const bytes = () => statSync(join(service.dataDir, 'store', 'data.mdb')).size;
  const push = async (host: string, count: number) => {
    const ids: string[] = [];
    for (let at = 0; at < count; at += 50) {
      const pages = Array.from({ length: 50 }, (_, i) => ({
        url: `https://${host}/${at + i}`,
        body_extracted: textOf(at + i),
      }));
      const { status, body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
        pages,
      });
      assert.ok(status < 300, JSON.stringify(body));
      ids.push(...body.results.map(({ page_id }) => page_id));
    }
    assert.deepEqual(new Set(await service.settled(ids, 120_000)), new Set(['indexed']));
    return ids;
  };
  const [first] = await push('stays.example', live);

  const sockets: Socket[] = [];
  const { hostname, port } = new URL(service.url);
  const head = `host: ${hostname}\r\nauthorization: Bearer ${token}\r\n\r\n`;
  let began = 0;
  for (let at = 0; at < slowReaders; at++) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('connect', () => socket.write(`GET /v1/jobs?limit=1000 HTTP/1.1\r\n${head}`.repeat(4)));
    socket.once('readable', () => {
      began++;
      socket.read(100); // and no more
    });
  }
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  await until(() => began === slowReaders, 'every slow reader has the beginning of its answer', 60_000);

  let largest = bytes();
  for (let at = 0; at < rounds; at++) {
    const host = `goes${at}.example`;
    await push(host, each);
    const { status } = await service.call('POST', '/v1/forget', { domain: host });
    assert.equal(status, 200);
    largest = Math.max(largest, bytes());
    assert.equal((await service.call('GET', `/v1/pages/${first}`)).status, 200);
    await delay(500);
  }
  await until(
    () => service.output.lastIndexOf('all files are rewritten without forgotten data') > 0,
    'files are rewritten',
    60_000,
  );
  await delay(3_000);
  const rewritten = bytes();
  note({ counts: { largest_mb: round(largest / 2 ** 20), live_mb: round(rewritten / 2 ** 20) } });
  assert.ok(largest <= 2 * rewritten, `${largest} bytes at most, ${rewritten} when rewritten`);
  assert.ok(!service.output.includes('MDB_READERS_FULL'));
  for (const socket of sockets) socket.destroy();
  await service.stop();
  const report = await checkFolder(service.dataDir);
  assert.ok(isClean(report) && report.missing === 0, JSON.stringify(report));
});
