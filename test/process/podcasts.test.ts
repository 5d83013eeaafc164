/** Podcasts over HTTP, in a service of its own process: refusals, a kill in the middle, and real speech that a real program understands. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Capabilities } from '../../src/domain/capabilities.ts';
import type { PageChunksResponse, PageResponse } from '../../src/domain/page.ts';
import type { SearchResponse } from '../../src/domain/search.ts';
import type { WatchResponse } from '../../src/domain/watch.ts';
import { FakePrograms, fakeFfmpeg } from '../providers/fake-programs.ts';
import { missingSpeechPrograms, speak, wordErrorRate } from '../providers/real-speech.ts';
import { Site, say } from '../providers/small-web.ts';
import { temporaryFolder } from '../scope.ts';
import { RunningService, until } from './service.ts';

const env = { SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]', SERVICE_JOBS__BACKOFF_BASE_S: '0.1' };
const podcast = (audio: string) =>
  say(
    `<rss version="2.0"><channel><title>River talk</title><item><title>One</title><enclosure url="${audio}" type="audio/mpeg"/></item></channel></rss>`,
    { 'content-type': 'application/rss+xml' },
  );

test('a podcast is refused where nothing can transcribe it, and what was found is shown', async (t) => {
  const service = await RunningService.start(t, { ...env, SERVICE_PROGRAM_PATH: '/nowhere' });
  const watch = await service.call<{ detail: { msg: string }[] }>('POST', '/v1/watches', {
    url: 'http://podcast.test/feed',
    kind: 'podcast',
  });
  assert.equal(watch.status, 422);
  assert.match(
    watch.body.detail[0]?.msg ?? '',
    /^podcasts cannot be watched: nothing is there to transcribe with: set transcribe\.command/,
  );
  const { body } = await service.call<{ settings: { capabilities: Capabilities } }>('GET', '/v1/admin/config');
  assert.deepEqual(body.settings.capabilities.transcription, {
    kind: null,
    detail:
      'nothing is there to transcribe with: set transcribe.command or transcribe.base_url, or install pocketsphinx and ffmpeg',
    ffmpeg: false,
  });
});

test('a kill while a recording is transcribed leaves nothing behind, and the next process transcribes it', async (t) => {
  const programs = new FakePrograms(t);
  programs.add('ffmpeg', fakeFfmpeg(20));
  programs.add(
    'speech',
    "const { existsSync } = require('node:fs'); if (existsSync(__filename + '.go')) process.stdout.write('[00:01.000 --> 00:02.000] The heron waits.'); else setInterval(() => {}, 1000)",
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

test('real speech is found by a word of it', { skip: missingSpeechPrograms() }, async (t) => {
  const said =
    'The people of the city have a problem with water. The government says that the money for the new system will come this year.';
  const dir = temporaryFolder(t);
  const recording = readFileSync(speak(said, dir));
  const web = await Site.open(t, {
    '/feed': podcast('/one.mp3'),
    '/one.mp3': say(recording, { 'content-type': 'audio/mpeg' }),
  });
  const service = await RunningService.start(t, env);
  const { status, body: watch } = await service.call<WatchResponse>('POST', '/v1/watches', {
    url: web.url('/feed'),
    kind: 'podcast',
  });
  assert.equal(status, 201);
  const find = async () =>
    (await service.call<SearchResponse>('POST', '/v1/search', { query: 'government water' })).body.results;
  await until(async () => (await find()).length > 0, 'the episode is found');
  const [{ page_id, title }] = await find();
  assert.equal(title, 'One');
  const { body: page } = await service.call<PageResponse>('GET', `/v1/pages/${page_id}`);
  assert.deepEqual(
    [page.canonical_url, page.status, page.metadata?.watch_id, page.metadata?.transcript],
    [web.url('/one.mp3'), 'indexed', watch.id, 'local'],
  );
  const { body } = await service.call<PageChunksResponse>('GET', `/v1/pages/${page_id}/chunks`);
  const [{ section_start_s }] = body.chunks;
  assert.ok(section_start_s !== null && section_start_s >= 0 && section_start_s < 1, `${section_start_s}`);
  const heard = page.body_text ?? '';
  t.diagnostic(`said:  ${said}`);
  t.diagnostic(`heard: ${heard}`);
  t.diagnostic(`word error rate ${(100 * wordErrorRate(said, heard)).toFixed(0)} %, ${recording.length} bytes of MP3`);
});
