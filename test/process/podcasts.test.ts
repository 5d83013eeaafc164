/** Podcasts over HTTP, in a service of its own process: refusals, and a kill in the middle. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakePrograms, fakeFfmpeg } from '../providers/fake-programs.ts';
import { Site, say } from '../providers/small-web.ts';
import { RunningService, until, withoutModel } from './service.ts';

const env = {
  ...withoutModel,
  SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
  SERVICE_JOBS__BACKOFF_BASE_S: '0.1',
};

test('a kill while a recording is transcribed leaves nothing behind, and the next process transcribes it', async (t) => {
  const programs = new FakePrograms(t);
  programs.add('ffmpeg', fakeFfmpeg(20));
  programs.add(
    'speech',
    "const { existsSync } = require('node:fs'); if (existsSync(__filename + '.go')) process.stdout.write('[00:01.000 --> 00:02.000] The heron waits.'); else { const { ppid } = process; setInterval(() => process.ppid === ppid || process.exit(), 1000); }",
  );
  const web = await Site.open(t, { '/a.mp3': say(Buffer.alloc(1_000_000, 'x'), { 'content-type': 'audio/mpeg' }) });
  const service = await RunningService.start(t, {
    ...env,
    SERVICE_PROGRAM_PATH: `${programs.path}:${process.env.PATH}`,
    SERVICE_TRANSCRIBE__COMMAND: 'speech {audio}',
  });
  const { body } = await service.call<{ page_id: string }>('POST', '/v1/pages', { url: web.url('/a.mp3') });
  await until(() => programs.notes('speech').length === 1, 'it is transcribed');
  const temporary = join(service.dataDir, 'tmp', 'recordings');
  const [left] = readdirSync(temporary);
  assert.deepEqual(readdirSync(join(temporary, left)).sort(), ['piece.wav', 'recording']);
  await service.kill('SIGKILL');
  programs.add('speech.go', '');
  await service.start();
  assert.ok(!existsSync(join(temporary, left)), 'what was left is gone');
  assert.deepEqual(await service.settled([body.page_id]), ['indexed']);
  assert.deepEqual(readdirSync(temporary), []);
});
