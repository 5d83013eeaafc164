import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/telemetry/log.ts';

function logTo(options: { json_logs: boolean; secrets?: string[]; log_level?: string }) {
  const lines: string[] = [];
  return { lines, log: createLog({ log_level: 'info', ...options }, { write: (line) => lines.push(line) }) };
}

test('hostile text makes one line of bounded length, escaped', () => {
  for (const json_logs of [true, false]) {
    const { lines, log } = logTo({ json_logs });
    log.info({ url: `a\r\nb\u001b[31m\u0000${'x'.repeat(1 << 20)}` }, 'got\r\n%s', 'it\u001b[0m');
    log.info({ many: Array.from({ length: 5000 }, () => 'word') }, 'wide');
    assert.equal(lines.length, 2);
    for (const line of lines) {
      assert.ok(line.length < 10_000 && line.endsWith('\n'));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      assert.doesNotMatch(line.slice(0, -1), /[\u0000-\u001f]/);
    }
  }
});

test('secrets never appear, whether as fields, in messages or in errors', () => {
  const secrets = ['canary-token', 'canary "quoted"', 'canary-token-longer'];
  for (const json_logs of [true, false]) {
    const { lines, log } = logTo({ json_logs, secrets });
    log.info({ a: secrets, headers: { authorization: 'Bearer other' } }, `said ${secrets[1]}`);
    log.error(new Error(`failed with ${secrets[2]}`));
    assert.equal(lines.length, 2);
    assert.doesNotMatch(lines.join(''), /canary|other/);
    assert.match(lines[1], /failed with \[hidden\]/);
  }
});

test('lines for people have time, level, message and fields; lines below the level are not written', () => {
  const { lines, log } = logTo({ json_logs: false });
  log.debug('unheard');
  log.warn({ port: 8000 }, 'listening');
  assert.equal(lines.length, 1);
  assert.match(lines[0], /^\d\d:\d\d:\d\d\.\d{3} warn {2}listening port=8000\n$/);
});

test('JSON lines have an ISO time and the process', () => {
  const { lines, log } = logTo({ json_logs: true });
  log.info('started');
  const { level, time, pid, msg } = JSON.parse(lines[0]);
  assert.deepEqual([level, pid, msg], [30, process.pid, 'started']);
  assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});
