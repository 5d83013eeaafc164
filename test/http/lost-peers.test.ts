/** Peers that vanish: the table of Linux, and a real connection that is cut in a network of its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { keyOf, lostIn } from '../../src/http/client-sockets.ts';

const head =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                     ';
const row = (ends: string, queues: string, retries: string, probes = 0) =>
  `   1: ${ends} 01 ${queues} 01:00000151 ${retries}     0        ${probes} 257162 1 00000000cf306c75 100 0 0 10 0`;

test('a peer is lost when what it was sent was sent again and again without an answer', () => {
  const table = [
    head,
    row('0100007F:1F40 00000000:0000', '00000000:00000000', '00000000'),
    row('01004D0A:4970 02004D0A:B6A5', '0000002D:00000000', '00000005'),
    row('01004D0A:4970 02004D0A:B6A6', '0000002D:00000000', '00000006'),
    row('01004D0A:4970 02004D0A:B6A7', '00000000:00000010', '00000009'),
    row('01004D0A:4970 02004D0A:B6A8', '0000002D:00000000', '00000000', 5),
    row('01004D0A:4970 02004D0A:B6A9', '0000002D:00000000', '00000000', 10),
    '',
  ].join('\n');
  assert.deepEqual(lostIn(table), ['01004D0A:4970 02004D0A:B6A6', '01004D0A:4970 02004D0A:B6A9']);
  assert.deepEqual(lostIn(''), []);
});

test("a connection's ends are written as the table writes them", () => {
  const key = (localAddress: string, remoteAddress: string) =>
    keyOf({ localAddress, localPort: 18800, remoteAddress, remotePort: 46758 });
  assert.equal(key('10.77.0.1', '10.77.0.2'), '01004D0A:4970 02004D0A:B6A6');
  const mapped = '0000000000000000FFFF000001004D0A:4970 00000000000000000000000001000000:B6A6';
  assert.equal(key('::ffff:10.77.0.1', '::1'), mapped);
  assert.equal(key('fe80::1%eth0', 'fe80::1').slice(0, 32), '000080FE000000000000000001000000');
  assert.equal(keyOf({}), '');
});

const separate = (...command: string[]) => spawnSync('unshare', ['--user', '--map-root-user', '--net', ...command]);
const canSeparate = separate('ip', 'link', 'set', 'lo', 'up').status === 0;

test('a subscriber of the event stream that vanishes without a word is cut off, and one that listens is not', {
  skip: !canSeparate && 'this user may not make a network of its own',
}, () => {
  const script = join(import.meta.dirname, 'vanishing-subscriber.ts');
  const { stdout, stderr } = separate(process.execPath, '--import', './scripts/tsx-in-threads.mjs', script);
  assert.equal(String(stdout), 'cut off: 10.77.0.2', String(stderr));
});
