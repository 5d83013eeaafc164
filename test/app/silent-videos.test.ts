/** Videos without captions, whose sound is loaded and transcribed, through the whole system. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { waveFile } from '../../src/providers/decode-audio.ts';
import { until } from '../process/service.ts';
import { FakePrograms } from '../providers/fake-programs.ts';
import { noYtDlp, VideoSystem, webVtt } from './video-system.ts';

/** Two seconds of silence: real sound, whether or not ffmpeg is there to decode it. */
const silence = waveFile(new Uint8Array(64_000));
const sound = silence.toString('base64');
const heard =
  "process.stdout.write('[00:00.500 --> 00:01.000] The mill was built of fir. [00:01.000 --> 00:02.000] It stood.')";
const said = 'The mill was built of fir. [00:01.000 --> 00:02.000] It stood.';

async function start(t: TestContext, isReal: boolean, speech = heard, env: NodeJS.ProcessEnv = {}) {
  const programs = new FakePrograms(t);
  const command = programs.add('speech', speech);
  const videos = await VideoSystem.start(t, isReal, {
    SERVICE_TRANSCRIBE__COMMAND: `${command} {audio}`,
    SERVICE_FETCH__AUDIO_MAX_BYTES: '200000',
    ...env,
  });
  /** What is left in the folders of temporary files. */
  const left = () =>
    ['recordings', 'yt-dlp'].flatMap((name) => {
      const folder = join(videos.system.dataDir, 'tmp', name);
      return existsSync(folder) ? readdirSync(folder) : [];
    });
  return { videos, programs, left };
}

test('a video without captions that are wanted is transcribed', async (t) => {
  const { videos, programs, left } = await start(t, false, heard, {
    SERVICE_FETCH__VIDEO_ALLOW_AUTO_CAPTIONS: 'false',
  });
  const { web, system } = videos;

  await t.test('its text is what was heard, with chapters and what the site tells', async () => {
    videos.say('/talk', {
      title: 'Mills',
      uploader: 'The river school',
      language: 'en',
      chapters: [{ start_time: 0, title: 'Wood' }],
      automatic_captions: { en: [{ ext: 'vtt', url: `${web.url}/en.vtt` }] },
      sound,
    });
    const { page, status, page_id } = await videos.read(`${web.url}/talk`);
    assert.deepEqual([status.status, status.last_error], ['indexed', null]);
    assert.deepEqual([page.title, page.body_text], ['Mills', said]);
    assert.deepEqual(page.metadata, { author: 'The river school', lang: 'en', transcript: 'local' });
    const chunks = await system.chunks(page_id);
    assert.deepEqual([chunks[0].section_title, chunks[0].section_start_s], ['Wood', 0.5]);
    const { results } = await system.search('mill of fir');
    assert.deepEqual(
      results.map((each) => each.page_id),
      [page_id],
    );
    assert.deepEqual(left(), []);
  });

  await t.test('one with captions is not, and one that is new is left time to get some', async () => {
    const before = programs.notes('speech').length;
    web.serve('/en.vtt', { body: webVtt(['One line.'], 20) });
    videos.say('/captioned', { subtitles: { en: [{ ext: 'vtt', url: `${web.url}/en.vtt` }] }, sound });
    assert.equal((await videos.read(`${web.url}/captioned`)).page.metadata?.captions, 'manual');
    videos.say('/new', { extractor_key: 'X', timestamp: Date.now() / 1000, sound });
    const { status } = await videos.read(`${web.url}/new`);
    assert.deepEqual([status.status, status.last_error], ['failed', 'the video has no captions']);
    assert.equal(programs.notes('speech').length, before);
  });

  await t.test('one whose sound cannot be had says why, and nothing is left', async () => {
    videos.say('/dumb', { title: 'No sound' });
    const { status } = await videos.read(`${web.url}/dumb`);
    assert.deepEqual([status.status, status.last_error], ['dead', 'the video has no sound that can be loaded']);
    assert.deepEqual(left(), []);
  });

  await t.test('nothing is loaded for one that is blacklisted where the site has it', async () => {
    const before = programs.notes('speech').length;
    await system.ask('page.forget', { domain: 'forgotten.example' });
    videos.say('/moved', { webpage_url: 'http://forgotten.example/1', sound });
    const { status } = await videos.read(`${web.url}/moved`);
    assert.deepEqual([status.status, status.last_error], ['dead', 'redirected to a blacklisted page']);
    assert.equal(programs.notes('speech').length, before);
  });
});

test('a video that is forgotten while its sound is loaded ends at once, with its files', async (t) => {
  const { videos, left } = await start(t, false, heard, { SERVICE_JOBS__MAX_ATTEMPTS: '1' });
  const url = `${videos.web.url}/endless`;
  videos.say('/endless', { title: 'Endless', sound: 'never' });
  await videos.system.ask('page.ingest', { url });
  await until(() => left().length === 2, 'it is loaded');
  await videos.system.ask('page.forget', { url });
  await until(() => left().length === 0, 'the files are gone');
  // The next one is let in; it is new, but there is no other attempt that captions could be waited for.
  videos.say('/next', { extractor_key: 'X', timestamp: Date.now() / 1000, sound });
  const { page } = await videos.read(`${videos.web.url}/next`);
  assert.equal(page.body_text, said);
});

test('the real yt-dlp loads a sound through the proxy, within its bounds', { skip: noYtDlp }, async (t) => {
  const { videos, programs, left } = await start(t, true);
  const { web } = videos;
  const html = (src: string) => ({
    headers: { 'content-type': 'text/html' },
    body: `<title>How mills turn</title><video controls><source src="${src}" type="video/mp4"></video>`,
  });
  const media = (body: Uint8Array) => ({ headers: { 'content-type': 'video/mp4' }, body });
  web.serve('/talk', html('/talk.mp4'));
  web.serve('/talk.mp4', media(silence));
  const { page, status } = await videos.read(`${web.url}/talk`);
  assert.deepEqual([status.last_error, page.title, page.body_text], [null, 'How mills turn', said]);
  web.serve('/large', html('/large.mp4'));
  web.serve('/large.mp4', media(new Uint8Array(300_000)));
  const large = await videos.read(`${web.url}/large`);
  assert.deepEqual([large.status.status, large.status.last_error], ['dead', 'larger than 200000 bytes']);
  assert.equal(programs.notes('speech').length, 1);
  assert.deepEqual(left(), []);
});
